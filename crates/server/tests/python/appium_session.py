"""Drives a phone through Appium over WebDriver's HTTP.

usage: appium_session.py NODE APPIUM PORT SYSTEM_PORT SERIAL FOLDER
"""

import base64
import os
import subprocess
import sys
import time
from xml.etree import ElementTree

import requests

from clients import Operations, check

APP = "com.workbench"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
node, appium, port, system_port, serial, folder = sys.argv[1:]
base = f"http://127.0.0.1:{port}"
operation = Operations()
session = None


def ask(method, path, body=None):
    answer = requests.request(method, base + path, json=body, timeout=120).json()["value"]
    if isinstance(answer, dict) and "error" in answer:
        raise AssertionError(f"{path}: {answer['error']}: {answer.get('message')}")
    return answer


def on(method, path, body=None):
    return ask(method, f"/session/{session}{path}", {} if body is None and method == "POST" else body)


def find(using, value):
    return on("POST", "/element", {"using": using, "value": value})[ELEMENT]


def by_text(text):
    return find("-android uiautomator", f'new UiSelector().text("{text}")')


def click(element):
    on("POST", f"/element/{element}/click")


def wait(using, value):
    end = time.time() + 20
    while True:
        try:
            return find(using, value)
        except AssertionError:
            if time.time() > end:
                raise


def finger(*steps):
    pointer = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": list(steps)}
    on("POST", "/actions", {"actions": [pointer]})


def move(x, y, ms=0):
    return {"type": "pointerMove", "duration": ms, "x": x, "y": y, "origin": "viewport"}


DOWN, UP = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}


def middle(element):
    rect = on("GET", f"/element/{element}/rect")
    return rect["x"] + rect["width"] // 2, rect["y"] + rect["height"] // 2


def story():
    global session
    with operation("session"):
        always = {
            "platformName": "Android",
            "appium:automationName": "UiAutomator2",
            "appium:udid": serial,
            "appium:appPackage": APP,
            "appium:appActivity": ".LoginActivity",
            "appium:noReset": True,
            "appium:adbPort": int(os.environ["ANDROID_ADB_SERVER_PORT"]),
            "appium:systemPort": int(system_port),
        }
        session = ask("POST", "/session", {"capabilities": {"alwaysMatch": always}})["sessionId"]
    if session is None:
        return
    with operation("source"):
        root = ElementTree.fromstring(on("GET", "/source"))
        check(any(one.get("text") == "Sign in to Workbench" for one in root.iter()))
    with operation("find by id"):
        check(on("GET", f"/element/{find('id', 'log_in')}/text") == "Log in")
    with operation("find by xpath"):
        check(find("xpath", "//android.widget.Button[@text='Log in']"))
        check(len(on("POST", "/elements", {"using": "xpath", "value": "//android.widget.EditText"})) == 2)
    with operation("find by class name"):
        found = on("POST", "/elements", {"using": "class name", "value": "android.widget.EditText"})
        check(len(found) == 2, found)
    with operation("an element that is not there"):
        answer = requests.post(f"{base}/session/{session}/element", json={"using": "id", "value": "nothing"}, timeout=60)
        check(answer.json()["value"]["error"] == "no such element", answer.text)
    with operation("type and clear"):
        email = find("id", "email")
        on("POST", f"/element/{email}/value", {"text": "ada@example.org"})
        check(on("GET", f"/element/{email}/text") == "ada@example.org")
        on("POST", f"/element/{email}/clear")
        check(on("GET", f"/element/{email}/text") == "Email")
        on("POST", f"/element/{email}/value", {"text": "ada@example.org"})
    with operation("login that fails"):
        on("POST", f"/element/{find('id', 'password')}/value", {"text": "wrong"})
        click(by_text("Log in"))
        wait("id", "error")
    with operation("attributes and rect"):
        switch = find("id", "remember_me")
        check(on("GET", f"/element/{switch}/attribute/checked") == "false")
        click(switch)
        check(on("GET", f"/element/{switch}/attribute/checked") == "true")
        check(on("GET", f"/element/{switch}/rect")["width"] > 0)
    with operation("tap by actions"):
        finger(move(*middle(by_text("Settings"))), DOWN, {"type": "pause", "duration": 50}, UP)
        wait("-android uiautomator", 'new UiSelector().text("Use staging server")')
    with operation("switch a setting"):
        row = 'new UiSelector().resourceId("com.workbench:id/row_staging")'
        inner = row + '.childSelector(new UiSelector().className("android.widget.Switch"))'
        before = on("GET", f"/element/{find('-android uiautomator', inner)}/attribute/checked")
        click(find("-android uiautomator", row))
        check(on("GET", f"/element/{find('-android uiautomator', inner)}/attribute/checked") != before)
    with operation("drag by actions"):
        bar = find("accessibility id", "Volume")
        x, y = middle(bar)
        before = on("GET", f"/element/{bar}/text")
        finger(move(x, y), DOWN, move(x + 300, y, 200), UP)
        check(on("GET", f"/element/{bar}/text") != before, before)
    with operation("back"):
        on("POST", "/back")
        wait("id", "log_in")
    with operation("long press by actions"):
        switch = find("id", "remember_me")
        before = on("GET", f"/element/{switch}/attribute/checked")
        finger(move(*middle(switch)), DOWN, {"type": "pause", "duration": 800}, UP)
        check(on("GET", f"/element/{switch}/attribute/checked") == before, "a long press is no tap")
    with operation("login that works"):
        password = find("id", "password")
        on("POST", f"/element/{password}/clear")
        on("POST", f"/element/{password}/value", {"text": "correct horse"})
        click(by_text("Log in"))
        wait("id", "welcome")
    with operation("swipe by actions"):
        before = on("GET", "/source")
        finger(move(540, 1800), DOWN, move(540, 900, 300), UP)
        check(on("GET", "/source") != before)
    with operation("scroll into view"):
        scrollable = "new UiScrollable(new UiSelector().scrollable(true))"
        find("-android uiautomator", scrollable + '.scrollIntoView(new UiSelector().text("Honey"))')
        check(by_text("Honey"))
    with operation("gesture extensions"):
        arguments = {"elementId": find("id", "list"), "direction": "up", "percent": 1.0}
        for _ in range(10):
            if not on("POST", "/execute/sync", {"script": "mobile: scrollGesture", "args": [arguments]}):
                break
        check(by_text("Milk"))
    with operation("screenshot"):
        check(base64.b64decode(on("GET", "/screenshot")).startswith(b"\x89PNG"))
    with operation("window rect and orientation"):
        rect = on("GET", "/window/rect")
        check((rect["width"], rect["height"]) == (1080, 2400), rect)
        check(on("GET", "/orientation") == "PORTRAIT")
    with operation("change the orientation"):
        on("POST", "/orientation", {"orientation": "LANDSCAPE"})
        check(on("GET", "/orientation") == "LANDSCAPE")
        rect = on("GET", "/window/rect")
        check((rect["width"], rect["height"]) == (2400, 1080), rect)
        on("POST", "/orientation", {"orientation": "PORTRAIT"})
        check(on("GET", "/orientation") == "PORTRAIT")
    with operation("displayed"):
        check(on("GET", f"/element/{by_text('Milk')}/displayed") is True)
        check(on("GET", f"/element/{by_text('Milk')}/attribute/displayed") == "true")
    with operation("toast"):
        on("POST", "/execute/sync", {"script": "mobile: startActivity", "args": [{"intent": f"{APP}/.DialogsActivity"}]})
        wait("-android uiautomator", 'new UiSelector().text("Save")')
        none = on("POST", "/elements", {"using": "xpath", "value": "//android.widget.Toast"})
        check(none == [], "a toast before there is one")
        click(by_text("Save"))
        toast = wait("xpath", "//android.widget.Toast")
        check(on("GET", f"/element/{toast}/text") == "Draft saved")
        check(wait("xpath", "//*[@text='Draft saved']"))
    with operation("two fingers"):
        pointers = [
            {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"}, "actions": [move(540, y), DOWN, move(540, end, 200), UP]}
            for name, y, end in (("one", 1000, 600), ("two", 1400, 1800))
        ]
        on("POST", "/actions", {"actions": pointers})
    with operation("logs"):
        check(len(on("POST", "/se/log", {"type": "logcat"})) > 0)
    with operation("current app"):
        check(on("POST", "/execute/sync", {"script": "mobile: getCurrentPackage", "args": []}) == APP)
    with operation("end of session"):
        ask("DELETE", f"/session/{session}")


log = open(os.path.join(folder, "appium.log"), "w+")
arguments = [node, appium, "server", "--address", "127.0.0.1", "--port", port, "--log-no-colors"]
server = subprocess.Popen(arguments, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
try:
    end = time.time() + 90
    while True:
        try:
            ask("GET", "/status")
            break
        except requests.RequestException:
            if server.poll() is not None or time.time() > end:
                raise
            time.sleep(0.2)
    story()
finally:
    server.terminate()
    server.wait(20)
    if any(one["failure"] for one in operation.tried) or not operation.tried:
        log.seek(0)
        print(log.read()[-6000:], file=sys.stderr)
operation.finish()
