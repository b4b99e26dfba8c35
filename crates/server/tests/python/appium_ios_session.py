"""Drives an iPhone through Appium and its XCUITest driver, which attaches to a WebDriverAgent that runs already.

usage: appium_ios_session.py NODE APPIUM PORT WDA_URL UDID FOLDER
"""

import base64
import subprocess
import sys
import time
from xml.etree import ElementTree

import requests

from clients import Operations, check

APP = "com.workbench"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
node, appium, port, wda, udid, folder = sys.argv[1:]
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


def script(command, **arguments):
    return on("POST", "/execute/sync", {"script": f"mobile: {command}", "args": [arguments]})


def find(using, value):
    return on("POST", "/element", {"using": using, "value": value})[ELEMENT]


def named(name):
    return find("accessibility id", name)


def click(element):
    on("POST", f"/element/{element}/click")


def value(name):
    return on("GET", f"/element/{named(name)}/attribute/value")


def wait(using, wanted):
    end = time.time() + 20
    while True:
        try:
            return find(using, wanted)
        except AssertionError:
            if time.time() > end:
                raise
            time.sleep(0.1)


def finger(*steps, name="one"):
    return {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"}, "actions": list(steps)}


def move(x, y, ms=0):
    return {"type": "pointerMove", "duration": ms, "x": x, "y": y, "origin": "viewport"}


DOWN, UP = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}


def story():
    global session
    with operation("session"):
        always = {
            "platformName": "iOS",
            "appium:automationName": "XCUITest",
            "appium:udid": udid,
            "appium:platformVersion": "18.5",
            "appium:webDriverAgentUrl": wda,
            "appium:newCommandTimeout": 300,
        }
        session = ask("POST", "/session", {"capabilities": {"alwaysMatch": always}})["sessionId"]
    if session is None:
        return
    with operation("an icon of the home screen"):
        click(find("-ios class chain", "**/XCUIElementTypeIcon[`label == 'Workbench'`]"))
        wait("accessibility id", "log_in")
        check(script("activeAppInfo")["bundleId"] == APP, script("activeAppInfo"))
    with operation("source"):
        root = ElementTree.fromstring(on("GET", "/source"))
        check(any(one.get("label") == "Sign in to Workbench" for one in root.iter()))
    with operation("source as JSON"):
        check("Sign in to Workbench" in str(script("source", format="json")))
    with operation("find by predicate, class chain, class name and xpath"):
        button = named("log_in")
        check(find("-ios predicate string", 'label == "Log in" AND type == "XCUIElementTypeButton"') == button)
        check(find("-ios class chain", "**/XCUIElementTypeButton[`label == 'Log in'`]") == button)
        check(find("class name", "XCUIElementTypeButton") == button)
        check(find("xpath", "//XCUIElementTypeButton[@label='Log in']") == button)
    with operation("an element that is not there"):
        body = {"using": "accessibility id", "value": "nothing"}
        answer = requests.post(f"{base}/session/{session}/element", json=body, timeout=60)
        check(answer.json()["value"]["error"] == "no such element", answer.text)
    with operation("type and clear"):
        email = named("email")
        on("POST", f"/element/{email}/value", {"text": "ada@example.org"})
        check(value("email") == "ada@example.org", value("email"))
        on("POST", f"/element/{email}/clear")
        check(value("email") == "Email", value("email"))
    with operation("keyboard shown"):
        check(on("GET", "/appium/device/is_keyboard_shown") is True)
    with operation("attributes and rect"):
        switch = named("remember_me")
        check(on("GET", f"/element/{switch}/attribute/value") == "0")
        click(switch)
        check(on("GET", f"/element/{switch}/attribute/value") == "1")
        check(on("GET", f"/element/{switch}/rect")["width"] == 345)
        check(on("GET", f"/element/{switch}/enabled") is True and on("GET", f"/element/{switch}/displayed") is True)
    with operation("mobile: tap"):
        rect = on("GET", f"/element/{named('remember_me')}/rect")
        script("tap", x=rect["x"] + 20, y=rect["y"] + 20)
        check(value("remember_me") == "0")
    with operation("tap by actions"):
        rect = on("GET", f"/element/{named('remember_me')}/rect")
        tap = finger(move(rect["x"] + 20, rect["y"] + 20), DOWN, {"type": "pause", "duration": 50}, UP)
        on("POST", "/actions", {"actions": [tap]})
        check(value("remember_me") == "1")
    with operation("hide the keyboard by a key"):
        # Return leads to the next field; on the last one it closes the keyboard.
        click(named("password"))
        on("POST", "/appium/device/hide_keyboard", {"keyName": "Return"})
        check(on("GET", "/appium/device/is_keyboard_shown") is False)
    with operation("a slider"):
        click(named("open_settings"))
        slider = wait("class name", "XCUIElementTypeSlider")
        on("POST", f"/element/{slider}/value", {"text": "0.25"})
        check(on("GET", f"/element/{slider}/attribute/value") in ("24%", "25%", "26%"))
    with operation("back"):
        on("POST", "/back")
        wait("accessibility id", "log_in")
    with operation("mobile: dragFromToForDuration from the edge"):
        click(named("open_settings"))
        wait("class name", "XCUIElementTypeSlider")
        script("dragFromToForDuration", fromX=2, fromY=400, toX=350, toY=400, duration=0.5)
        wait("accessibility id", "log_in")
    with operation("settings"):
        on("POST", "/appium/settings", {"settings": {"snapshotMaxDepth": 45}})
        check(on("GET", "/appium/settings")["snapshotMaxDepth"] == 45)
    with operation("screenshot and window"):
        check(base64.b64decode(on("GET", "/screenshot"))[:4] == b"\x89PNG")
        size = on("GET", "/window/rect")
        check((size["width"], size["height"]) == (393, 852), size)
    with operation("mobile: swipe"):
        click(named("open_settings"))
        wait("class name", "XCUIElementTypeSlider")
        script("swipe", direction="up")
        on("POST", "/back")
    with operation("app state, and no alert"):
        check(script("queryAppState", bundleId=APP) == 4)
        answer = requests.get(f"{base}/session/{session}/alert/text", timeout=60).json()["value"]
        check(answer["error"] == "no such alert", answer)
    with operation("app to the back and to the front"):
        script("pressButton", name="home")
        check(script("queryAppState", bundleId=APP) == 3)
        script("activateApp", bundleId=APP)
        check(script("queryAppState", bundleId=APP) == 4)
    with operation("orientation"):
        check(on("GET", "/orientation") == "PORTRAIT")
    with operation("end of the session"):
        ask("DELETE", f"/session/{session}")


log = open(f"{folder}/appium.log", "w", encoding="utf-8")
words = [node, appium, "server", "--port", port, "--address", "127.0.0.1", "--log-no-colors"]
server = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
try:
    end = time.time() + 90
    while True:
        try:
            if requests.get(base + "/status", timeout=5).ok:
                break
        except requests.RequestException:
            pass
        if time.time() > end or server.poll() is not None:
            raise SystemExit("Appium did not start")
        time.sleep(0.3)
    story()
finally:
    server.terminate()
    server.wait(20)
operation.finish()
