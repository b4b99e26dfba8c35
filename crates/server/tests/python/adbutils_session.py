"""Drives a phone with adbutils. usage: adbutils_session.py SERIAL FOLDER"""

import io
import os
import sys
import time

import adbutils

from clients import Operations, centre, check

APP = "com.workbench"
serial, folder = sys.argv[1:]
operation = Operations()
adb = adbutils.AdbClient(host="127.0.0.1", port=int(os.environ["ANDROID_ADB_SERVER_PORT"]))
phone = adb.device(serial)

with operation("list devices"):
    check([one.serial for one in adb.device_list()] == [serial], adb.device_list())
with operation("properties and features"):
    check(phone.prop.model == "Virtual Phone", phone.prop.model)
    check("shell_v2" in phone.get_features())
with operation("shell"):
    check(phone.shell("echo one two") == "one two")
with operation("shell with an exit code"):
    done = phone.shell2("false")
    check(done.returncode == 1, done)
with operation("shell v2 keeps stderr apart"):
    done = phone.shell2("echo out; echo err >&2; exit 3", v2=True)
    check((done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n"), done)
with operation("window size and rotation"):
    check(tuple(phone.window_size()) == (1080, 2400), phone.window_size())
    check(phone.rotation() == 0)
with operation("push and pull"):
    data = os.urandom(300_000)
    phone.sync.push(io.BytesIO(data), "/data/local/tmp/data.bin")
    check(phone.sync.stat("/data/local/tmp/data.bin").size == len(data))
    check(phone.sync.read_bytes("/data/local/tmp/data.bin") == data)
    phone.sync.pull("/data/local/tmp/data.bin", os.path.join(folder, "data.bin"))
    with open(os.path.join(folder, "data.bin"), "rb") as file:
        check(file.read() == data)
with operation("list a folder"):
    names = [one.path for one in phone.sync.list("/data/local/tmp")]
    check("data.bin" in names, names)
with operation("app start and current app"):
    phone.app_start(APP)
    check(phone.app_current().package == APP, phone.app_current())
with operation("app info"):
    check(phone.app_info(APP).version_name == "1.0", phone.app_info(APP))
    check(APP in phone.list_packages())
with operation("dump"):
    check("Sign in to Workbench" in phone.dump_hierarchy())
with operation("click and type"):
    phone.click(*centre(phone.dump_hierarchy(), resource_id=f"{APP}:id/email"))
    phone.send_keys("ada@example.org")
    phone.keyevent("BACK")
    check('text="ada@example.org"' in phone.dump_hierarchy())
with operation("login that fails"):
    phone.click(*centre(phone.dump_hierarchy(), resource_id=f"{APP}:id/password"))
    phone.send_keys("wrong")
    phone.keyevent("BACK")
    phone.click(*centre(phone.dump_hierarchy(), text="Log in"))
    end = time.time() + 20
    while "Could not sign in" not in (seen := phone.dump_hierarchy()):
        check(time.time() < end, seen)
with operation("swipe"):
    phone.click(*centre(phone.dump_hierarchy(), text="Settings"))
    x, y = centre(phone.dump_hierarchy(), resource_id=f"{APP}:id/volume")
    before = phone.dump_hierarchy()
    phone.swipe(x, y, x + 200, y, 0.3)
    check(phone.dump_hierarchy() != before)
with operation("switch a setting"):
    before = phone.dump_hierarchy().count('checked="true"')
    phone.click(*centre(phone.dump_hierarchy(), text="Use staging server"))
    check(abs(phone.dump_hierarchy().count('checked="true"') - before) == 1)
with operation("screenshot"):
    check(phone.screenshot().size == (1080, 2400))
with operation("framebuffer"):
    check(phone.framebuffer().size == (1080, 2400))
with operation("logcat"):
    check("Settings" in phone.shell("logcat -d"))
with operation("forward and connect"):
    port = phone.forward_port(7)
    check(any(one.remote == "tcp:7" for one in phone.forward_list()))
    with phone.create_connection(adbutils.Network.TCP, 7) as socket:
        socket.sendall(b"there and back")
        check(socket.recv(14) == b"there and back")
with operation("reverse"):
    phone.reverse("tcp:8081", "tcp:9091")
    check(any(one.remote == "tcp:8081" for one in phone.reverse_list()), phone.reverse_list())
    phone.reverse_remove_all()
with operation("install and uninstall"):
    apk = os.path.join(folder, "app.apk")
    with open(apk, "wb") as file:
        file.write(b"PK\x03\x04package=com.example.added\n")
    phone.install(apk, silent=True)
    check("com.example.added" in phone.list_packages())
    phone.uninstall("com.example.added")
    check("com.example.added" not in phone.list_packages())
with operation("app stop and clear"):
    phone.app_stop(APP)
    check(phone.app_current().package != APP)
    phone.app_clear(APP)
    phone.app_start(APP)
    check('text="ada@example.org"' not in phone.dump_hierarchy())
operation.finish()
