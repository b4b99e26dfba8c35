"""Drives an iPhone with facebook-wda over WebDriverAgent. usage: facebook_wda_session.py URL"""

import sys
import time
from xml.etree import ElementTree

import wda

from clients import Operations, check

APP = "com.workbench"
operation = Operations()
client = wda.Client(sys.argv[1])
phone = None


def named(name):
    return phone(name=name)


def wait(what, seconds=10):
    """Waits until something holds."""
    end = time.time() + seconds
    while not what():
        if time.time() > end:
            return False
        time.sleep(0.1)
    return True


with operation("status"):
    status = client.status()
    check(status["ready"] and status["os"]["name"] == "iOS", status)
with operation("launch in a session"):
    phone = client.session(APP)
    check(client.app_current()["bundleId"] == APP, client.app_current())
if phone is None:
    operation.finish()
    sys.exit(0)
with operation("window size and scale"):
    check(tuple(phone.window_size()) == (393, 852), phone.window_size())
    check(phone.scale == 3, phone.scale)
with operation("source as XML"):
    root = ElementTree.fromstring(client.source())
    check(root.tag == "XCUIElementTypeApplication" and root.get("bundleId") == APP, root.attrib)
    check(any(e.get("label") == "Sign in to Workbench" for e in root.iter()))
with operation("source as JSON"):
    tree = client.source(format="json")
    check(tree["type"] == "Application" and tree["label"] == "Workbench" and tree["children"], tree.keys())
with operation("accessible source"):
    check("Log in" in str(client.source(accessible=True)))
with operation("find by id"):
    check(phone(id="log_in").exists and not phone(id="no such id").exists)
with operation("find by label and type"):
    check(phone(className="Button", label="Log in").exists)
    check(phone(className="XCUIElementTypeSwitch").get(timeout=5).value == "0")
with operation("find by part of a label"):
    check(phone(labelContains="Sign in to").get(timeout=5).className == "XCUIElementTypeStaticText")
with operation("find by predicate"):
    check(phone(predicate='type == "XCUIElementTypeTextField" AND visible == 1').get(timeout=5).name is not None)
with operation("find by class chain"):
    check(phone(classChain="**/XCUIElementTypeButton[`label == 'Log in'`]").exists)
with operation("find by xpath"):
    check(phone(xpath="//XCUIElementTypeButton[@label='Log in']").get(timeout=5).enabled)
with operation("facts of an element"):
    field = named("email").get(timeout=5)
    check(field.bounds.width > 300 and field.displayed and field.accessible, field.bounds)
    check(field.value == "Email", "an empty field shows its placeholder")
with operation("set_text and clear_text"):
    named("email").get(timeout=5).set_text("ada@example.org")
    check(named("email").get(timeout=5).value == "ada@example.org")
    named("email").get(timeout=5).clear_text()
    check(named("email").get(timeout=5).value == "Email")
with operation("the keyboard is shown, and its keys type"):
    named("email").get(timeout=5).click()
    phone(className="Key", label="q").click(timeout=5)
    check(named("email").get(timeout=5).value == "q", named("email").get(timeout=5).value)
with operation("send_keys"):
    phone.send_keys("ueen@example.org")
    check(named("email").get(timeout=5).value == "queen@example.org")
with operation("a password is not told"):
    named("password").get(timeout=5).set_text("héllo 😀")
    check(named("password").get(timeout=5).value == "•" * 7, named("password").get(timeout=5).value)
with operation("tap an element"):
    named("remember_me").get(timeout=5).tap()
    check(named("remember_me").get(timeout=5).value == "1")
with operation("tap a point"):
    bounds = named("remember_me").get(timeout=5).bounds
    phone.tap(bounds.x + bounds.width // 2, bounds.y + bounds.height // 2)
    check(named("remember_me").get(timeout=5).value == "0")
with operation("wait for an element"):
    named("log_in").get(timeout=5).click()
    check(named("error").wait(timeout=10), "no message after a failed login")
with operation("settings"):
    check(phone.appium_settings()["snapshotMaxDepth"] == 50)
    check(phone.appium_settings({"snapshotMaxDepth": 40})["snapshotMaxDepth"] == 40)
    phone.appium_settings({"snapshotMaxDepth": 50})
with operation("a slider is set"):
    if not named("open_settings").get(timeout=5).visible:
        phone(className="Button", name="Return").click(timeout=5)
    named("open_settings").get(timeout=5).click()
    slider = phone(className="Slider").get(timeout=5)
    slider.set_text("0.75")
    check(phone(className="Slider").get(timeout=5).value in ("74%", "75%", "76%"), phone(className="Slider").get().value)
with operation("back by the navigation bar"):
    phone(xpath="//XCUIElementTypeNavigationBar/XCUIElementTypeButton").get(timeout=5).click()
    check(named("log_in").wait(timeout=5))
with operation("back by a swipe from the edge"):
    named("open_settings").get(timeout=5).click()
    check(phone(className="Slider").wait(timeout=5))
    phone.swipe(2, 400, 350, 400, 0)
    check(named("log_in").wait(timeout=5))
with operation("touch and hold"):
    bounds = named("remember_me").get(timeout=5).bounds
    phone.tap_hold(bounds.x + 5, bounds.y + 5, 1.0)
    check(named("remember_me").get(timeout=5).value == "0", "a long press is no tap")
with operation("home, and the icon"):
    client.home()
    check(client.app_current()["bundleId"] == "com.apple.springboard", client.app_current())
    check(phone.app_state(APP).value == 3, phone.app_state(APP))
    home = client.session()
    home(className="Icon", name="Settings").get(timeout=5).click()
    check(wait(lambda: client.app_current()["bundleId"] == "com.apple.Preferences"), client.app_current())
    phone = home
with operation("swipe a list"):
    before = client.source()
    phone.swipe_up()
    check(client.app_current()["bundleId"] == "com.apple.Preferences")
    check(wait(lambda: client.source() != before), "nothing moved")
with operation("app state, terminate, launch"):
    phone.app_launch(APP)
    check(phone.app_state(APP).value == 4)
    check(phone.app_terminate(APP).value is True)
    check(phone.app_state(APP).value == 1)
    phone.app_launch(APP)
    check(client.app_current()["bundleId"] == APP)
with operation("screenshot"):
    picture = client.screenshot()
    check(picture.size == (1179, 2556), picture.size)
with operation("log in"):
    named("open_settings").get(timeout=5).click()
    named("row_staging").get(timeout=5).click()
    phone(xpath="//XCUIElementTypeNavigationBar/XCUIElementTypeButton").get(timeout=5).click()
    named("email").get(timeout=5).set_text("ada@example.org")
    named("password").get(timeout=5).set_text("correct horse\n")
    named("log_in").get(timeout=5).click()
    check(named("welcome").wait(timeout=10), "not logged in")
with operation("scroll in a list"):
    table = phone(className="Table").get(timeout=5)
    first = phone(className="Cell").get(timeout=5).bounds.y
    table.scroll("down", 0.5)
    check(wait(lambda: phone(className="Cell").get(timeout=5).bounds.y != first))
with operation("alert of the app"):
    table = phone(className="Table").get(timeout=5)
    table.scroll("up", 1.0)
    phone(className="Button", label="Delete").get(timeout=5).click()
    check(phone.alert.exists and phone.alert.buttons() == ["Cancel", "Delete"], phone.alert.buttons())
    check("cannot be undone" in phone.alert.text, phone.alert.text)
    phone.alert.dismiss()
    check(wait(lambda: not phone.alert.exists))
with operation("alert answered by its name"):
    phone(className="Button", label="Delete").get(timeout=5).click()
    phone.alert.click("Delete")
    check(wait(lambda: not phone.alert.exists))
with operation("alert of the system"):
    named("open_gallery").get(timeout=5).click()
    row = phone(className="Cell", labelContains="Dialogs").get(timeout=5)
    row.click()
    named("ask_camera").get(timeout=5).click()
    check(wait(lambda: phone.alert.exists), "no alert")
    check("Camera" in phone.alert.text, phone.alert.text)
    phone.alert.accept()
    check(wait(lambda: not phone.alert.exists))
with operation("orientation"):
    check(phone.orientation == "PORTRAIT", phone.orientation)
    phone.orientation = "LANDSCAPE"
    check(tuple(phone._unsafe_window_size()) == (852, 393), phone._unsafe_window_size())
    phone.orientation = "PORTRAIT"
with operation("lock and unlock"):
    client.lock()
    check(client.locked())
    client.unlock()
    check(not client.locked())
with operation("stale element"):
    gone = phone(className="Button").get(timeout=5)
    client.home()
    try:
        gone.click()
        check(False, "the element is gone")
    except wda.WDAError as error:
        check("not present" in str(error), error)
with operation("close the session"):
    phone.close()
operation.finish()
