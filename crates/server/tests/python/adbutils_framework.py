"""Drives the framework phone with adbutils. usage: adbutils_framework.py SERIAL FOLDER"""

import io
import os
import sys
import time

import adbutils

from clients import Operations, centre, check

APP = "org.mdm.widgets"
serial, folder = sys.argv[1:]
operation = Operations()
adb = adbutils.AdbClient(host="127.0.0.1", port=int(os.environ["ANDROID_ADB_SERVER_PORT"]))
phone = adb.device(serial)


def page(name, text):
    """Opens a page of the app and waits until it shows."""
    phone.shell(f"am start -n {APP}/.{name}Activity")
    end = time.time() + 20
    while f'text="{text}"' not in (seen := phone.dump_hierarchy()):
        check(time.time() < end, seen)
    return seen


with operation("list devices"):
    check([one.serial for one in adb.device_list()] == [serial], adb.device_list())
with operation("properties and features"):
    check(phone.prop.get("ro.build.version.sdk") == "35", phone.prop.get("ro.build.version.sdk"))
    check("shell_v2" in phone.get_features())
with operation("shell with an exit code"):
    done = phone.shell2("echo out; echo err >&2; exit 3", v2=True)
    check((done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n"), done)
with operation("window size and rotation"):
    check(tuple(phone.window_size()) == (1080, 2400), phone.window_size())
    check(phone.rotation() == 0)
with operation("push and pull"):
    data = os.urandom(300_000)
    phone.sync.push(io.BytesIO(data), "/data/local/tmp/data.bin")
    check(phone.sync.read_bytes("/data/local/tmp/data.bin") == data)
with operation("app start and current app"):
    phone.app_start(APP)
    check(phone.app_current().package == APP, phone.app_current())
with operation("app list and info"):
    check(APP in phone.list_packages(), phone.list_packages())
    check(phone.app_info(APP) is not None)
with operation("dump"):
    check('text="Toggle"' in phone.dump_hierarchy())
with operation("click a row"):
    phone.click(*centre(phone.dump_hierarchy(), text="Toggle"))
    time.sleep(1)
    check('text="Box on"' in phone.dump_hierarchy())
    check(phone.app_current().activity.endswith("ToggleActivity"), phone.app_current())
with operation("click and type"):
    seen = page("Text", "Ada")
    phone.click(*centre(seen, resource_id=f"{APP}:id/empty"))
    phone.send_keys("hello world")
    phone.keyevent("BACK")
    check(phone.dump_hierarchy().count('text="hello world"') == 2, "the field and its echo")
with operation("switch a setting"):
    seen = page("Toggle", "Box on")
    before = seen.count('checked="true"')
    phone.click(*centre(seen, text="Switch off"))
    check(phone.dump_hierarchy().count('checked="true"') == before + 1)
with operation("swipe"):
    x, y = centre(page("Range", "Volume"), resource_id=f"{APP}:id/seek")
    phone.swipe(100, y, x, y, 0.5)
    check('text="volume ' in phone.dump_hierarchy())
with operation("drag"):
    seen = phone.dump_hierarchy()
    x, y = centre(seen, resource_id=f"{APP}:id/seek")
    phone.drag(x, y, x + 300, y, 0.5)
    check(phone.dump_hierarchy() != seen)
with operation("screenshot"):
    picture = phone.screenshot()
    check(picture.size == (1080, 2400) and len(picture.convert("RGB").getcolors(1 << 24)) > 8, picture)
with operation("framebuffer"):
    check(phone.framebuffer().size == (1080, 2400))
with operation("logcat"):
    check("RangeActivity" in phone.shell("logcat -d"))
with operation("forward and reverse"):
    phone.forward("tcp:0", "tcp:7")
    with phone.create_connection(adbutils.Network.TCP, 7) as socket:
        socket.sendall(b"there and back")
        check(socket.recv(14) == b"there and back")
    phone.reverse("tcp:8081", "tcp:9091")
    check(any(one.remote == "tcp:8081" for one in phone.reverse_list()), phone.reverse_list())
with operation("rotation"):
    phone.shell("settings put system user_rotation 1")
    end = time.time() + 10
    while phone.rotation() != 1:
        check(time.time() < end, phone.rotation())
    check("[0,0][2400,1080]" in phone.dump_hierarchy())
    phone.shell("settings put system user_rotation 0")
with operation("app stop"):
    phone.app_stop(APP)
    check(phone.app_current().package != APP)
operation.finish()
