"""Drives a phone with uiautomator2. usage: uiautomator2_session.py SERIAL"""

import sys
import time
from xml.etree import ElementTree

import uiautomator2

from clients import Operations, check

APP = "com.workbench"
operation = Operations()
phone = None

with operation("connect"):
    phone = uiautomator2.connect(sys.argv[1])
    phone.settings["wait_timeout"] = 10.0
if phone is None:
    operation.finish()
    sys.exit(0)


def by_id(name):
    return phone(resourceId=f"{APP}:id/{name}")


with operation("device info"):
    check(phone.info["displayWidth"] == 1080 and phone.info["sdkInt"] > 0, phone.info)
    check(phone.window_size() == (1080, 2400))
with operation("app start"):
    phone.app_start(APP, wait=True)
    check(phone.app_current()["package"] == APP)
with operation("dump"):
    root = ElementTree.fromstring(phone.dump_hierarchy())
    check(any(node.get("text") == "Sign in to Workbench" for node in root.iter("node")))
with operation("find, count and info"):
    check(phone(text="Log in").exists and not phone(text="No such text").exists)
    check(phone(className="android.widget.EditText").count == 2)
    info = by_id("log_in").info
    check(info["text"] == "Log in" and info["clickable"], info)
with operation("set_text and get_text"):
    by_id("email").set_text("ada@example.org")
    check(by_id("email").get_text() == "ada@example.org")
with operation("clear_text"):
    by_id("email").clear_text()
    check(by_id("email").get_text() == "Email")
with operation("send_keys by clipboard"):
    by_id("email").click()
    phone.send_keys("ada@example.org")
    check(by_id("email").get_text() == "ada@example.org")
with operation("send_keys by the installed keyboard"):
    phone.set_input_ime()
    check(phone.current_ime() == "com.github.uiautomator/.AdbKeyboard")
    by_id("password").click()
    phone.send_keys("пароль 😀")
    check(by_id("password").get_text() == "•" * 8, by_id("password").get_text())
with operation("press a key"):
    by_id("email").click()
    phone.press("delete")
    check(by_id("email").get_text() == "ada@example.or")
    phone.press("back")
with operation("click and wait"):
    phone(text="Log in").click()
    check(by_id("error").wait(timeout=10), "no message after a failed login")
    check(by_id("progress").wait_gone(timeout=10))
with operation("long_click"):
    by_id("remember_me").long_click()
    check(not by_id("remember_me").info["checked"], "a long press is no tap")
    by_id("remember_me").click()
    check(by_id("remember_me").info["checked"])
with operation("child and sibling"):
    phone(text="Settings").click()
    row = by_id("row_staging")
    check(row.child(className="android.widget.Switch").info["className"] == "android.widget.Switch")
    check(phone(text="Dark mode").sibling(className="android.widget.Switch").exists)
with operation("switch a setting"):
    switch = by_id("row_staging").child(className="android.widget.Switch")
    before = switch.info["checked"]
    by_id("row_staging").click()
    check(switch.info["checked"] != before)
    if not before:
        by_id("row_staging").click()
    check(not switch.info["checked"], "the login below needs the real server")
with operation("drag_to"):
    left, top, right, bottom = by_id("volume").bounds()
    before = by_id("volume").get_text()
    by_id("volume").drag_to(right - 100, (top + bottom) // 2, duration=0.2)
    check(by_id("volume").get_text() != before, before)
with operation("touch down, move and up"):
    before = by_id("volume").get_text()
    middle = (top + bottom) // 2
    phone.touch.down(right - 100, middle).move(left + 200, middle).up(left + 200, middle)
    check(by_id("volume").get_text() != before, before)
with operation("xpath"):
    check(phone.xpath("//android.widget.TextView[@text='Dark mode']").exists)
    phone.xpath("Dark mode").click()
    check(phone(text="Dark mode").sibling(className="android.widget.Switch").info["checked"])
    phone.press("back")
with operation("watcher"):
    by_id("email").set_text("ada@example.org")
    by_id("password").set_text("correct horse")
    phone.watcher("sign in").when("Log in").click()
    check(phone.watcher.run(), "the watcher saw nothing")
    check(by_id("welcome").wait(timeout=10), "no home screen after login")
    phone.watcher.remove()
with operation("swipe"):
    before = phone.dump_hierarchy()
    phone.swipe(540, 1800, 540, 900, steps=40)
    check(phone.dump_hierarchy() != before)
with operation("swipe_ext"):
    before = phone.dump_hierarchy()
    phone.swipe_ext("down")
    check(phone.dump_hierarchy() != before)
with operation("scroll to"):
    last = by_id("list")
    check(last.scroll.to(text="Honey"), "not found by scrolling")
    check(phone(text="Honey").exists)
with operation("scroll and fling to both ends"):
    first = phone(resourceId=f"{APP}:id/name")[0].get_text()
    by_id("list").fling.toBeginning()
    check(phone(text="Milk").exists, "not at the beginning")
    by_id("list").scroll.toEnd()
    check(not phone(text="Milk").exists, "still at the beginning")
with operation("dialog"):
    by_id("list").scroll.toBeginning()
    phone(text="Delete")[0].click()
    check(phone(text="Delete Milk?").wait(timeout=5))
    phone(resourceId="android:id/button1").click()
    check(phone(text="Milk").wait_gone(timeout=5))
with operation("child_by_text"):
    row = by_id("list").child_by_text("Honey", allow_scroll_search=True, className="android.view.ViewGroup")
    check(row.exists and row.info["className"] == "android.view.ViewGroup", row.info)
    check(row.bounds()[1] <= phone(text="Honey").bounds()[1] < row.bounds()[3], "not the row of that text")
    third = by_id("list").child_by_instance(2, className="android.view.ViewGroup")
    check(third.info == by_id("list").child(className="android.view.ViewGroup", instance=2).info)
with operation("open_notification"):
    phone.open_notification()
    check(phone(packageName="com.android.systemui").wait(timeout=5), "no shade")
    phone.press("back")
    check(by_id("list").wait(timeout=5), "the shade is still open")
with operation("open_quick_settings"):
    phone.open_quick_settings()
    check(phone(packageName="com.android.systemui").wait(timeout=5), "no shade")
    phone.press("back")
with operation("toast"):
    phone.toast.show("hello", 1)
    check(phone.toast.get_message(5) == "hello")
with operation("toast of an app"):
    phone.toast.reset()
    check(phone.last_toast is None, phone.last_toast)
    phone.shell(f"am start -n {APP}/.DialogsActivity")
    phone(text="Save").click()
    check(phone.toast.get_message(5) == "Draft saved")
with operation("pinch"):
    phone(scrollable=True).pinch_out()
with operation("screenshot"):
    check(phone.screenshot().size == (1080, 2400))
with operation("clipboard"):
    phone.set_clipboard("copied")
    check(phone.clipboard == "copied")
with operation("home and app list"):
    phone.press("home")
    check(phone.app_current()["package"] != APP)
    check(APP in phone.app_list_running())
with operation("orientation"):
    phone.app_start(APP, wait=True)
    phone.set_orientation("left")
    end = time.time() + 5
    while phone.orientation != "left":
        check(time.time() < end, phone.orientation)
    check(phone.window_size() == (2400, 1080), phone.window_size())
    phone.set_orientation("natural")
    check(phone.orientation == "natural" and phone.window_size() == (1080, 2400), phone.orientation)
with operation("app stop"):
    phone.app_stop(APP)
    check(APP not in phone.app_list_running())
with operation("stop and start the server"):
    phone.stop_uiautomator()
    xml = phone.shell("uiautomator dump /dev/tty").output
    check("<hierarchy" in xml, xml)
    phone.start_uiautomator()
    check("UiAutomationService" in phone.shell("uiautomator dump /dev/tty").output)
operation.finish()
