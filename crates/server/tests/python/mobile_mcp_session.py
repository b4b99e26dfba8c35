"""Drives a phone with mobile-mcp, as an agent would. usage: mobile_mcp_session.py NODE SERVER SERIAL FOLDER"""

import asyncio
import os
import re
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from clients import Operations, check

APP = "com.workbench"
node, server, serial, folder = sys.argv[1:]
operation = Operations()


async def story(session):
    async def call(tool, **arguments):
        answer = await session.call_tool(f"mobile_{tool}", arguments)
        text = "".join(part.text for part in answer.content if part.type == "text")
        check(not answer.is_error, tool, text)
        return text if all(part.type == "text" for part in answer.content) else answer

    async def on(tool, **arguments):
        return await call(tool, device=serial, **arguments)

    async def elements():
        return await on("list_elements_on_screen")

    async def tap(label):
        seen = await elements()
        line = next((line for line in seen.splitlines() if label in line), None)
        check(line is not None, "no", label, "in", seen)
        ref = re.search(r"@e\d+", line)
        check(ref is not None, line)
        await on("click_on_screen_at_coordinates", ref=ref.group())

    async def until(words):
        for _ in range(40):
            if words in (seen := await elements()):
                return seen
        check(False, "no", words, "in", seen)

    with operation("list devices"):
        check(serial in await call("list_available_devices"))
    with operation("list apps"):
        check(APP in await on("list_apps"))
    with operation("launch"):
        await on("launch_app", packageName=APP)
    with operation("foreground app"):
        check(APP in await on("get_foreground_app"))
    with operation("elements"):
        check("Log in" in await elements())
    with operation("screen size"):
        check("1080x2400" in await on("get_screen_size"))
    with operation("tap and type"):
        await tap("Email")
        await on("type_keys", text="ada@example.org", submit=False)
        check("ada@example.org" in await elements())
    with operation("press a button"):
        await on("press_button", button="BACK")
    with operation("login that fails"):
        await tap("Password")
        await on("type_keys", text="wrong", submit=False)
        await on("press_button", button="BACK")
        await tap("Log in")
        await until("Could not sign in")
    with operation("switch a setting"):
        await tap("Settings")
        await tap("Use staging server")
        await on("press_button", button="BACK")
    with operation("login that works"):
        await on("terminate_app", packageName=APP)
        await on("launch_app", packageName=APP)
        await tap("Email")
        await on("type_keys", text="ada@example.org", submit=False)
        await on("press_button", button="BACK")
        await tap("Password")
        await on("type_keys", text="correct horse", submit=False)
        await on("press_button", button="BACK")
        await tap("Log in")
        await until("Welcome, Ada")
    with operation("swipe"):
        before = await elements()
        await on("swipe_on_screen", direction="up")
        check(await elements() != before)
    with operation("long press and double tap"):
        await on("long_press_on_screen_at_coordinates", x=400, y=1200)
        await on("double_tap_on_screen", x=400, y=1200)
    with operation("screenshot"):
        answer = await on("take_screenshot")
        check(any(part.type == "image" for part in answer.content), "no image")
    with operation("save a screenshot"):
        path = os.path.join(folder, "shot.png")
        await on("save_screenshot", saveTo=path)
        check(os.path.getsize(path) > 1000)
    with operation("clipboard"):
        await on("clipboard", text="copied")
        check("copied" in await on("clipboard"))
    with operation("orientation"):
        check("portrait" in await on("get_orientation"))
    with operation("crashes"):
        await on("list_crashes")
    with operation("logs"):
        await on("get_device_logs", limit=1)
    with operation("terminate"):
        await on("terminate_app", packageName=APP)
        check(APP not in await on("get_foreground_app"))


async def main():
    environment = dict(os.environ)
    parameters = StdioServerParameters(command=node, args=[server], env=environment, cwd=folder)
    async with stdio_client(parameters) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            await story(session)
    operation.finish()


asyncio.run(main())
