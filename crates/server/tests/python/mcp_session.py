"""Drives an MCP server with the official Python SDK and prints what it saw as one JSON object.

usage: mcp_session.py legacy|modern TOOL ARGUMENTS_JSON SERVER_COMMAND...|URL
"""

import asyncio
import json
import os
import sys

from mcp import Client, ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def talk(session, tool, arguments):
    listed = await session.list_tools()
    called = await session.call_tool(tool, arguments)
    refused = await session.call_tool(tool, {**arguments, "no_such_argument": 1})
    try:
        await session.call_tool("no_such_tool", {})
        unknown = None
    except MCPError as error:
        unknown = error.code
    return {
        "protocol": session.protocol_version,
        "tools": [tool.name for tool in listed.tools],
        "is_error": bool(called.is_error),
        "kinds": [part.type for part in called.content],
        "text": "".join(part.text for part in called.content if part.type == "text"),
        "bad_argument_is_error": bool(refused.is_error),
        "unknown_tool_code": unknown,
    }


async def main():
    era, tool, arguments, *command = sys.argv[1:]
    if command[0].startswith("http"):
        transport = streamable_http_client(command[0])
    else:
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        transport = stdio_client(parameters)
    if era == "modern":
        async with Client(transport) as client:
            seen = await talk(client, tool, json.loads(arguments))
    else:
        async with transport as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                seen = await talk(session, tool, json.loads(arguments))
    print(json.dumps(seen))


asyncio.run(main())
