"""Drives an iPhone of iOS 27 with pymobiledevice3 over usbmuxd and its tunnel. usage: pymobiledevice3_session.py UDID

USBMUXD_SOCKET_ADDRESS says where usbmuxd is. Nothing needs the rights of an administrator.
"""

import asyncio
import io
import sys
from contextlib import AsyncExitStack

from PIL import Image, ImageChops
from pymobiledevice3.lockdown import create_using_usbmux
from pymobiledevice3.remote.core_device.app_service import AppServiceService
from pymobiledevice3.remote.core_device.hid_service import (
    KEY_H,
    TOUCHSCREEN_STATE_CONTACT,
    TOUCHSCREEN_STATE_RELEASE,
    UniversalHIDServiceService,
    touch_session,
)
from pymobiledevice3.remote.core_device.screen_capture_service import ScreenCaptureService
from pymobiledevice3.remote.userspace_tunnel import UserspaceRsdTunnel
from pymobiledevice3.services.accessibilityaudit import AccessibilityAudit

from clients import Operations, check

APP = "com.workbench"
# Parts of the upright screen, of 65536: on the field of the app's first screen that takes the email address.
EMAIL = (32768, 14692)
# The clock is above this row.
BAR_PX = 200
operation = Operations()


async def tap(hid, x, y):
    await hid.send_touchscreen(TOUCHSCREEN_STATE_CONTACT, x, y)
    await asyncio.sleep(0.06)
    await hid.send_touchscreen(TOUCHSCREEN_STATE_RELEASE, x, y)


async def picture(rsd):
    async with ScreenCaptureService(rsd) as screen:
        png = (await screen.capture_screenshot())["image"]
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image.crop((0, BAR_PX, *image.size))


async def differs(rsd, before, seconds=5):
    """True once the screen looks otherwise than before."""
    for _ in range(seconds * 10):
        if ImageChops.difference(before, await picture(rsd)).getbbox():
            return True
        await asyncio.sleep(0.1)
    return False


async def main():
    async with AsyncExitStack() as stack:
        rsd = None
        with operation("open the tunnel without an administrator"):
            tunnel = await stack.enter_async_context(UserspaceRsdTunnel(sys.argv[1]))
            rsd = getattr(tunnel, "rsd", tunnel)
            check(rsd.product_version.startswith("27"), rsd.product_version)
        if rsd is None:
            return
        with operation("list services"):
            check("com.apple.coredevice.appservice" in rsd.peer_info["Services"], rsd.peer_info["Services"])
        await apps(rsd)
        with operation("hear what the screen speaks, in the tunnel"):
            await hear(rsd)
        with operation("hear what the screen speaks, over lockdownd"):
            lockdown = await create_using_usbmux(serial=sys.argv[1])
            await hear(lockdown)
        await screen(rsd)


async def hear(provider):
    """Goes through the elements of the app in front until the focus comes to where it began."""
    async with AccessibilityAudit(provider) as audit:
        check("deviceApiVersion" in await audit.capabilities(), "no capabilities")
        spoken = [element.caption async for element in audit.iter_elements()]
    check("Log in, Button" in spoken, spoken)
    check(len(spoken) == len(set(spoken)), spoken)


async def apps(rsd):
    async with AppServiceService(rsd) as service:
        with operation("list apps"):
            found = [app["bundleIdentifier"] for app in await service.list_apps()]
            check(APP in found, found)
        pid = None
        with operation("launch an app"):
            pid = (await service.launch_application(APP))["processToken"]["processIdentifier"]
            check(pid > 0, pid)
        with operation("list processes"):
            running = await service.list_processes()
            check(pid in [one["processIdentifier"] for one in running], running)


async def screen(rsd):
    with operation("take a picture"):
        image = await picture(rsd)
        check(image.size == (1179, 2556 - BAR_PX), image.size)
    with operation("list surfaces"):
        async with UniversalHIDServiceService(rsd) as hid:
            services = (await hid.list_connected_services())["connectedServices"]
            check(services[0]["_ServiceID"], services)
    with operation("a touch without a stream does nothing"):
        before = await picture(rsd)
        async with UniversalHIDServiceService(rsd) as hid:
            await tap(hid, *EMAIL)
        check(not await differs(rsd, before, 1), "the screen changed")
    async with touch_session(rsd) as hid:
        with operation("tap"):
            before = await picture(rsd)
            await tap(hid, *EMAIL)
            check(await differs(rsd, before), "the screen did not change")
        with operation("type"):
            before = await picture(rsd)
            keyboard = await hid.create_keyboard_service()
            await hid.send_keyboard(keyboard, [KEY_H])
            await hid.send_keyboard(keyboard, [])
            check(await differs(rsd, before), "the screen did not change")


asyncio.run(main())
operation.finish()
