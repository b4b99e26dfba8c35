"""Drives an iPhone with fb-idb's command line. usage: idb_session.py COMPANION (HOST:PORT)"""

import io
import json
import os
import plistlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

from clients import Operations, check

APP = "com.workbench"
IDB = os.path.join(os.path.dirname(sys.executable), "idb")
COMMAND_SECONDS = 60
operation = Operations()


def command(*words):
    return [IDB, "--companion", sys.argv[1], *words]


def run(*words, given=None):
    """Returns what a command printed; it must have succeeded."""
    done = subprocess.run(command(*words), input=given, capture_output=True, timeout=COMMAND_SECONDS)
    text = done.stdout.decode()
    check(done.returncode == 0, words, text, done.stderr.decode()[-1000:])
    return text


def fails(*words):
    done = subprocess.run(command(*words), capture_output=True, timeout=COMMAND_SECONDS)
    check(done.returncode != 0, words, "did not fail")
    return done.stderr.decode() + done.stdout.decode()


def elements():
    return json.loads(run("ui", "describe-all", "--json"))


def find(key, value):
    seen = elements()
    for element in seen:
        if element.get(key) == value:
            return element
    raise AssertionError(f"no element with {key}={value!r} in {json.dumps(seen)[:2000]}")


def shows(key, value):
    return any(element.get(key) == value for element in elements())


def centre(element):
    frame = element["frame"]
    return [str(round(frame["x"] + frame["width"] / 2)), str(round(frame["y"] + frame["height"] / 2))]


def apps():
    lines = run("list-apps", "--json").splitlines()
    return {app["bundle_id"]: app for app in map(json.loads, lines)}


def make_app(folder, bundle_id):
    """A folder with the one file that an installer must read."""
    bundle = os.path.join(folder, "New.app")
    os.mkdir(bundle)
    info = {"CFBundleIdentifier": bundle_id, "CFBundleExecutable": "New", "CFBundleName": "New"}
    with open(os.path.join(bundle, "Info.plist"), "wb") as file:
        plistlib.dump(info, file, fmt=plistlib.FMT_BINARY)
    return bundle


def settle():
    """Waits until the screen has come to rest: a touch on a list that glides only stops it."""
    run("ui", "quiet", "--bundle-id", APP, "5")


def tap(key, value):
    settle()
    run("ui", "tap", *centre(find(key, value)))


def noted():
    """Whether idb remembers this companion in the file that all sessions of this machine share."""
    with open("/tmp/idb/state", encoding="utf-8") as file:
        return any(one.get("udid") == udid for one in json.load(file))


with operation("connect"):
    companion = json.loads(run("connect", *sys.argv[1].split(":"), "--json"))
    udid = companion["udid"]
    check(companion["is_local"] and noted(), companion)
with operation("disconnect"):
    run("disconnect", *sys.argv[1].split(":"))
    check(not noted())
with operation("describe"):
    target = json.loads(run("describe", "--json"))
    check(target["target_type"] == "simulator" and target["state"] == "Booted", target)
    check(target["screen_dimensions"]["width_points"] == 393, target)
with operation("list-apps"):
    check(apps()[APP]["process_state"] != "Running", apps()[APP])
with operation("launch"):
    pid = json.loads(run("launch", APP))["pid"]
    check(apps()[APP]["pid"] == str(pid), apps()[APP])
with operation("describe-all"):
    seen = elements()
    check(all("children" not in element for element in seen) and seen[0]["type"] == "Application", seen[0])
    check(find("AXUniqueId", "log_in")["role"] == "AXButton")
with operation("describe-all, nested"):
    (root,) = json.loads(run("ui", "describe-all", "--json", "--nested"))
    check(root["type"] == "Application" and len(root["children"]) > 3, root)
with operation("describe-all, complete"):
    document = json.loads(run("ui", "describe-all", "--json", "--format", "complete"))
    check(document["backend"] == "ax" and document["screen"]["width"] == 393, document)
with operation("describe-point"):
    element = json.loads(run("ui", "describe-point", "--json", *centre(find("AXUniqueId", "log_in"))))
    check(element["AXLabel"] == "Log in", element)
with operation("describe a marker"):
    check("Log in" in run("ui", "describe", "Log", "--json"))
with operation("tap"):
    check(find("AXUniqueId", "remember_me")["AXValue"] == "0")
    run("ui", "tap", *centre(find("AXUniqueId", "remember_me")))
    check(find("AXUniqueId", "remember_me")["AXValue"] == "1")
with operation("tap through accessibility"):
    run("ui", "tap", "Remember", "--api", "ax")
    check(find("AXUniqueId", "remember_me")["AXValue"] == "0")
with operation("text"):
    run("ui", "tap", *centre(find("AXUniqueId", "email")))
    run("ui", "text", "Ada.L+1@example.org")
    check(find("AXUniqueId", "email")["AXValue"] == "Ada.L+1@example.org")
with operation("key"):
    run("ui", "key", "42")
    check(find("AXUniqueId", "email")["AXValue"] == "Ada.L+1@example.or")
with operation("set-value"):
    x, y = centre(find("AXUniqueId", "email"))
    run("ui", "set-value", x, y, "--value", "grün 漢字")
    check(find("AXUniqueId", "email")["AXValue"] == "grün 漢字")
with operation("wait and quiet"):
    run("ui", "wait", "Log in", "--timeout", "5")
    run("ui", "quiet", "--bundle-id", APP, "5")
with operation("swipe"):
    run("ui", "button", "HOME")
    run("launch", "com.apple.Preferences")
    before = [element["frame"]["y"] for element in elements()]
    run("ui", "swipe", "200", "600", "200", "300", "--duration", "0.4")
    check([element["frame"]["y"] for element in elements()] != before, "nothing moved")
with operation("button"):
    run("ui", "button", "HOME")
    check(shows("AXLabel", "Workbench") and shows("AXLabel", "Shop"), "no icons")
with operation("rotate"):
    run("ui", "rotate", "LANDSCAPE_LEFT")
    check(elements()[0]["frame"]["width"] == 852)
    run("ui", "rotate", "PORTRAIT")
with operation("screenshot"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "screen.png")
        run("screenshot", path)
        with open(path, "rb") as file:
            check(file.read(24)[12:] == b"IHDR" + (1179).to_bytes(4, "big") + (2556).to_bytes(4, "big"))
with operation("terminate"):
    run("terminate", APP)
    check(apps()[APP]["process_state"] != "Running", apps()[APP])
    fails("terminate", APP)
with operation("launch of what is not there"):
    check("installed" in fails("launch", "org.example.nobody"))
with operation("install and uninstall an .app"):
    with tempfile.TemporaryDirectory() as folder:
        run("install", make_app(folder, "org.example.new"))
    check("org.example.new" in apps())
    run("uninstall", "org.example.new")
    check("org.example.new" not in apps())
with operation("install an .app that is streamed"):
    with tempfile.TemporaryDirectory() as folder:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(make_app(folder, "org.example.streamed"), arcname="New.app")
        run("install", "-", given=packed.getvalue())
    check("org.example.streamed" in apps())
with operation("install an .ipa"):
    packed = io.BytesIO()
    info = {"CFBundleIdentifier": "org.example.packed", "CFBundleExecutable": "Packed"}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Payload/Packed.app/Packed", os.urandom(5_000_000))
        archive.writestr("Payload/Packed.app/Info.plist", plistlib.dumps(info))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "Packed.ipa")
        with open(path, "wb") as file:
            file.write(packed.getvalue())
        run("install", path)
    check("org.example.packed" in apps())
with operation("install an .ipa that is streamed"):
    run("uninstall", "org.example.packed")
    run("install", "-", given=packed.getvalue())
    check("org.example.packed" in apps())
with operation("log"):
    log = subprocess.Popen(command("log", "--", "--style", "compact"), stdout=subprocess.PIPE)
    ended = threading.Timer(COMMAND_SECONDS, log.kill)
    ended.start()
    check(log.stdout.readline().startswith(b"Timestamp"))
    run("launch", APP)
    run("ui", "tap", *centre(find("AXUniqueId", "log_in")))
    line = log.stdout.readline().decode()
    while line and "Workbench[" not in line:
        line = log.stdout.readline().decode()
    ended.cancel()
    log.terminate()
    log.wait()
    check("Workbench[" in line, line)
with operation("drag, and a crash"):
    check(run("crash", "list").strip() == "", "a crash that never was")
    run("terminate", APP)
    run("launch", APP)
    tap("AXUniqueId", "open_settings")
    staging = find("AXUniqueId", "row_staging")["frame"]
    run("ui", "tap", str(round(staging["x"] + staging["width"] - 40)), str(round(staging["y"] + 32)))
    volume = find("AXUniqueId", "volume")["frame"]
    y = str(round(volume["y"] + volume["height"] / 2))
    at = [str(round(volume["x"] + volume["width"] * share)) for share in (0.38, 0.8)]
    run("ui", "swipe", at[0], y, at[1], y, "--duration", "0.5")
    check(70 < int(find("AXUniqueId", "volume")["AXValue"].rstrip("%")) < 90)
    tap("AXLabel", "Back")
    tap("AXUniqueId", "email")
    run("ui", "text", "ada@example.org")
    tap("AXUniqueId", "password")
    run("ui", "text", "correct horse")
    run("ui", "tap", "Log in", "--api", "ax")
    run("ui", "wait", "Gallery", "--timeout", "10")
    settle()
    run("ui", "tap", "Gallery", "--api", "ax")
    for _ in range(5):
        settle()
        if any((element["AXLabel"] or "").startswith("Trouble") for element in elements()):
            break
        run("ui", "swipe", "200", "700", "200", "200", "--duration", "0.3")
    run("ui", "tap", "Trouble", "--api", "ax")
    run("ui", "wait", "Crash", "--timeout", "10")
    tap("AXLabel", "Crash")
    check(apps()[APP]["process_state"] != "Running", apps()[APP])
with operation("crash list, show and delete"):
    crash = json.loads(run("crash", "list", "--json").splitlines()[0])
    check(crash["process_name"] == "Workbench", crash)
    head, body = run("crash", "show", crash["name"]).split("\n", 1)
    check(json.loads(head)["bundleID"] == APP and json.loads(body)["exception"]["type"] == "EXC_CRASH", head)
    run("crash", "delete", crash["name"])
    check(run("crash", "list").strip() == "", "it was deleted")
with operation("open, approve, set-location, focus"):
    run("open", "https://example.org/a?b=c")
    run("approve", APP, "camera", "photos")
    run("set-location", "47.5", "--", "-8.25")
    run("focus")
with operation("file ls of crashes"):
    run("file", "ls", "--crashes", ".")

operation.finish()
