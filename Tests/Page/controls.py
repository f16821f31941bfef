"""The controls, as a person uses them."""

from __future__ import annotations

from typing import Any

from air import LAMP, opened
from instance import Instance

METER: dict[str, Any] = {
    "mynah": 1,
    "name": "Meter",
    "advertising": {"serviceUUIDs": ["glucose"]},
    "services": [
        {
            "uuid": "glucose",
            "characteristics": [{"uuid": "glucose-feature", "properties": ["read"], "value": {"hex": "00 00"}}],
        }
    ],
}

BEACON: dict[str, Any] = {"mynah": 1, "name": "Beacon", "advertising": {"connectable": False, "scannable": False}}


def a_refused_command_is_not_kept(page: Any) -> None:
    browser, instance, client = opened(page, LAMP)
    try:
        box = browser.named("FFE3: value in hexadecimal")
        box.clear()
        box.send_keys("0G\n")
        browser.until("the refusal is shown", lambda: "must be hexadecimal" in browser.text("#trouble"))
        assert "ctl set" not in browser.text("#done") and not browser.one("#copy-all").is_enabled()
        box.clear()
        box.send_keys("0A\n")
        browser.until("the value is set", lambda: client.device("Lamp").get("FFE3") == b"\x0a")
        browser.until("it is kept", lambda: browser.text("#done").endswith(" 0A"))
        assert browser.text("#done-count") == "Commands: 1"
    finally:
        instance.stop()


def a_check_box_is_clicked_by_its_name(page: Any) -> None:
    browser, instance, client = opened(page, METER)
    try:
        box = browser.named("Glucose Feature: timeFault")
        assert not box.is_selected()
        box.find_element("xpath", "../span").click()
        browser.until("the value is set", lambda: client.device("Meter").get("glucose-feature") != b"\0\0")
        assert box.is_selected()
    finally:
        instance.stop()


def events_are_in_words(page: Any) -> None:
    browser, instance, _ = opened(page, BEACON)
    try:
        text = browser.until("the event is shown", lambda: "advertising.started" in browser.text("#events")
                             and browser.text("#events"))  # fmt: skip
        assert "not connectable · not scannable" in text, text
        for word in ("on true", "omitted none", "connectable false", "scanResponse "):
            assert word not in text, text
    finally:
        instance.stop()


def a_page_without_devices_has_a_wide_timeline(page: Any) -> None:
    browser = page.browser
    instance = Instance(page.instance.program, page.instance.directory)
    try:
        browser.open(instance.address + "/")
        browser.until("the event is counted", lambda: browser.text("#timeline-count") == "1 event")
        browser.one("#nothing")
        box = browser.run("const {width, top} = document.getElementById('timeline').getBoundingClientRect(); return [width, top]")
        assert box[0] > 1300 and box[1] < 200, box
    finally:
        instance.stop()


TESTS = [
    a_refused_command_is_not_kept,
    a_check_box_is_clicked_by_its_name,
    events_are_in_words,
    a_page_without_devices_has_a_wide_timeline,
]
