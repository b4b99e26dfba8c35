"""Drives an MCP server with the Python SDK of 2025 and prints what it saw as one JSON object, as mcp_session.py does.

usage: mcp_session_old.py TOOL ARGUMENTS_JSON http URL [TOKEN]
       mcp_session_old.py TOOL ARGUMENTS_JSON stdio SERVER_COMMAND...
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def talk(streams, tool, arguments):
    async with ClientSession(streams[0], streams[1]) as session:
        hello = await session.initialize()
        listed = await session.list_tools()
        called = await session.call_tool(tool, arguments)
        refused = await session.call_tool(tool, {**arguments, "no_such_argument": 1})
        try:
            await session.call_tool("no_such_tool", {})
            unknown = None
        except McpError as error:
            unknown = error.error.code
        return {
            "protocol": hello.protocolVersion,
            "tools": [tool.name for tool in listed.tools],
            "is_error": bool(called.isError),
            "kinds": [part.type for part in called.content],
            "text": "".join(part.text for part in called.content if part.type == "text"),
            "bad_argument_is_error": bool(refused.isError),
            "unknown_tool_code": unknown,
        }


async def main():
    tool, arguments, way, place, *rest = sys.argv[1:]
    if way == "http":
        headers = {"Authorization": f"Bearer {rest[0]}"} if rest else None
        way = streamablehttp_client(place, headers=headers)
    else:
        way = stdio_client(StdioServerParameters(command=place, args=rest, env=dict(os.environ)))
    async with way as streams:
        print(json.dumps(await talk(streams, tool, json.loads(arguments))))


asyncio.run(main())
