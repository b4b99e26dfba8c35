"""Drives a phone with agent-device's command line. usage: agent_device_session.py NODE PROGRAM ADB SERIAL FOLDER"""

import json
import os
import signal
import subprocess
import sys

from clients import Operations, check

APP = "com.workbench"
LOOKS_MAX = 10
FIRST_ROW = "Milk"
LAST_ROW = "Candles"
node, program, adb, serial, folder = sys.argv[1:]
operation = Operations()


def run(words):
    command = [node, program, *words, "--platform", "android", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=90)
    try:
        return json.loads(done.stdout), done
    except ValueError:
        return {}, done


def agent(*words):
    """What a command says; its failure is one of the operation."""
    answer, done = run(words)
    check(answer.get("success") is True, words, done.stdout[-600:], done.stderr[-600:])
    return answer["data"]


def shell(script):
    done = subprocess.run([adb, "-s", serial, "shell", script], capture_output=True, text=True, timeout=60)
    return done.stdout


def field(name):
    return f'id="{APP}:id/{name}"'


def nodes():
    return agent("snapshot")["nodes"]


def labels():
    return [node.get("label") or node.get("value") or "" for node in nodes()]


def text(name):
    return agent("get", "text", field(name))["text"]


def log_in(password):
    agent("fill", field("email"), "ada@example.org")
    agent("fill", field("password"), password)
    agent("keyboard", "dismiss")
    agent("press", 'label="Log in"')


def story():
    with operation("devices"):
        check(serial in [device["id"] for device in agent("devices")["devices"]])
    with operation("open"):
        agent("open", APP)
        check(APP in json.dumps(agent("appstate")))
    with operation("snapshot"):
        seen = labels()
        check("Log in" in seen and "Email" in seen, seen)
    with operation("fill"):
        agent("fill", field("email"), "ada & co")
        check(text("email") == "ada & co", text("email"))
    with operation("type"):
        agent("type", " more")
        check(text("email") == "ada & co more", text("email"))
    with operation("fill again"):
        agent("fill", field("email"), "grace")
        check(text("email") == "grace", text("email"))
    with operation("keyboard"):
        check("q" in labels(), "no keys on the screen")
        agent("keyboard", "dismiss")
        check("q" not in labels(), "keys are still on the screen")
    with operation("press"):
        agent("press", 'label="Settings"')
        agent("wait", 'label="Use staging server"', "5000")
        agent("press", 'label="Use staging server"')
    with operation("back"):
        agent("back")
        check("Log in" in labels())
    with operation("wait for a text"):
        log_in("wrong")
        agent("wait", "text", "Could not sign in", "10000")
    with operation("wait for a selector"):
        log_in("correct horse")
        agent("wait", field("welcome"), "10000")
        check(text("welcome") == "Welcome, Ada", text("welcome"))
    with operation("scroll"):
        before = labels()
        agent("scroll", "down")
        after = labels()
        check(before != after and "Welcome, Ada" in after, before, after)
    with operation("scroll back"):
        agent("scroll", "up")
        # A stroke of a busy client need not go as far back as the one before went; the next but one operation goes to the top.
        check(any(FIRST_ROW in labels() for _ in range(LOOKS_MAX)) and labels() != after, labels())
    with operation("scroll until"):
        agent("scroll", "down", "--until", f'label="{LAST_ROW}"')
        check(LAST_ROW in labels(), labels())
    with operation("scroll to the top"):
        agent("scroll", "top")
        check(labels() == before, labels())
    with operation("swipe"):
        agent("swipe", "540", "1800", "540", "900")
        check(labels() != before)
        agent("scroll", "top")
    with operation("press a ref, answer a dialog"):
        row = before[before.index("Delete") - 1]
        agent("press", ref("Delete"))
        check("This cannot be undone." in labels(), labels())
        agent("alert", "accept")
        check(row not in labels(), row, labels())
    with operation("wait for an absence"):
        agent("wait", "absent", f'label="{row}"', "5000")
    with operation("long press"):
        shell(f"am start -n {APP}/.GesturesActivity")
        agent("wait", field("hold"), "5000")
        agent("longpress", field("hold"))
        check(text("long_presses") == "long_presses: 1", text("long_presses"))
    with operation("drag"):
        agent("gesture", "drag", 'label="Green"', field("basket_text"), "800", "400", "100")
        check("Green" in text("basket_text"), text("basket_text"))
    with operation("pinch"):
        agent("gesture", "pinch", "2", "540", "1200")
    with operation("clipboard"):
        # Android's own clipboard takes no commands of the shell. agent-device knows no other way, and does not see it.
        run(("clipboard", "write", "copied words"))
        check("copied words" not in json.dumps(run(("clipboard", "read"))[0]))
    with operation("orientation"):
        agent("orientation", "landscape-left")
        width = shell("wm size; dumpsys display | grep -m1 mCurrentOrientation")
        check("mCurrentOrientation=1" in width, width)
        agent("orientation", "portrait")
    with operation("screenshot"):
        path = os.path.join(folder, "agent.png")
        agent("screenshot", path)
        with open(path, "rb") as file:
            check(file.read(8) == b"\x89PNG\r\n\x1a\n")
    with operation("home"):
        agent("home")
        check(APP not in json.dumps(agent("appstate")))
    with operation("close"):
        agent("open", APP)
        check(shell(f"pidof {APP}").strip() != "")
        agent("close", APP)
        check(shell(f"pidof {APP}").strip() == "", "the app still runs")
        said = shell("uiautomator dump /sdcard/after.xml")
        check("dumped to" in said, "the helper holds the screen:", said)


def ref(label):
    found = next((node for node in nodes() if node.get("label") == label), None)
    check(found is not None, "no", label)
    return "@" + found["ref"].removeprefix("@")


def end_daemon():
    """It was started by the first command and would wait for more."""
    try:
        with open(os.path.join(folder, ".agent-device", "daemon.json")) as file:
            os.kill(json.load(file)["pid"], signal.SIGTERM)
    except (OSError, ValueError, KeyError):
        pass


try:
    story()
finally:
    end_daemon()
operation.finish()
