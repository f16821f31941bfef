"""The page's view of advertising sets, and of the limits that a phone notices."""

from __future__ import annotations

from typing import Any

from browser import Browser
from instance import Instance
from mynah import Client

TRACKER: dict[str, Any] = {
    "mynah": 1,
    "name": "Tracker",
    "variables": {"count": 1},
    "advertising": [
        {"name": "main", "serviceUUIDs": ["battery"], "scanResponse": {"txPower": "4 dBm"}},
        {
            "name": "beacon", "localName": "", "connectable": False, "scannable": False,
            "interval": {"min": "500 ms", "max": "600 ms"}, "address": "random",
            "manufacturerData": {
                "0xFFFF": {"layout": [{"number": "uint8"}], "fields": {"number": {"from": "count"}}},
            },
        },
        {
            "name": "long", "connectable": False, "extended": {"data": "2M", "primary": "1M"},
            "flags": ["limited", "noBREDR"],
        },
    ],
    "services": [
        {"uuid": "battery", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}
    ],
}  # fmt: skip

LAMP: dict[str, Any] = {
    "mynah": 1,
    "name": "Lamp",
    "centrals": 1,
    "mtu": 185,
    "security": {"keySize": 7},
    "advertising": {"localName": "Lamp", "interval": "20 ms"},
    "services": [
        {
            "uuid": "FFE0",
            "characteristics": [
                {"uuid": "FFE1", "properties": ["notify"], "subscription": "none", "value": {"hex": "01"}},
                {"uuid": "FFE2", "properties": ["notify"], "subscription": "always", "value": {"hex": "02"}},
                {"uuid": "FFE3", "properties": ["read", "notify"], "pieces": "mtu", "value": {"hex": "03"}},
            ],
        }
    ],
}


def opened(page: Any, profile: dict[str, Any]) -> tuple[Browser, Instance, Client]:
    instance = Instance(page.instance.program, page.instance.directory)
    client = Client(instance.address)
    client.add(profile)
    browser: Browser = page.browser
    browser.open(instance.address + "/")
    browser.until("the page is connected", lambda: browser.text("#link") == "Live")
    browser.until("the device is there", lambda: browser.all("#air .set"))
    return browser, instance, client


def sets(browser: Browser) -> dict[str, dict[str, Any]]:
    """Each set of the panel, by its name: its note, chips, data, words, and the bytes that are marked."""
    found: list[dict[str, Any]] = browser.run(
        """
        const texts = (element, selector) => [...element.querySelectorAll(selector)]
          .filter((item) => item.checkVisibility()).map((item) => item.textContent.trim());
        return [...document.querySelectorAll('#air .set')].map((set) => ({
          name: texts(set, '.line .grow')[0], on: set.querySelector('.switch').ariaChecked, address: texts(set, '.count')[0],
          chips: texts(set, '.chip'), packets: texts(set, 'h3'), bytes: texts(set, '.ad'), words: texts(set, 'dd'),
          marked: texts(set, 'u')}));
        """
    )
    return {item["name"]: item for item in found}


def all_sets_are_shown_and_switched(page: Any) -> None:
    browser, instance, client = opened(page, TRACKER)
    try:
        browser.until("three sets are there", lambda: list(sets(browser)) == ["main", "beacon", "long"])
        main, beacon, long = sets(browser).values()
        assert main["chips"] == ["every 100 ms", "connectable", "scannable"], main
        assert [title.split(" data")[0].split("response")[0].strip() for title in main["packets"]] == [
            "Advertising", "Scan"], main  # fmt: skip
        assert "4 dBm" in main["words"] and "Battery" in main["words"], main
        assert beacon["chips"] == ["every 500 to 600 ms", "not connectable", "not scannable"], beacon
        assert beacon["address"] != main["address"], beacon
        assert "05 FF FF FF 01" not in beacon["bytes"] and "04 FF FF FF 01" in beacon["bytes"], beacon
        assert long["chips"] == [
            "every 100 ms", "not connectable", "not scannable", "extended", "primary LE 1M", "data LE 2M"
        ], long  # fmt: skip
        assert any("limited" in words for words in long["words"]), long
        # A value that changes is shown as it does, and its byte is marked.
        client.device("Tracker").set_variable("count", 2)
        browser.until("the value is shown", lambda: "04 FF FF FF 02" in sets(browser)["beacon"]["bytes"])
        assert sets(browser)["beacon"]["marked"] == ["02"], sets(browser)
        # A set that is switched off stays, in its place, and can be switched on.
        for name in ("main", "beacon"):
            browser.named(f"Advertising set {name}").click()
            browser.until(f"{name} is off", lambda: sets(browser)[name]["on"] == "false")  # noqa: B023
            assert not sets(browser)[name]["bytes"]
            assert list(sets(browser)) == ["main", "beacon", "long"], sets(browser)
            line = browser.until("it is noted", lambda: name in browser.text("#done") and browser.text("#done"))  # noqa: B023
            assert f"--set {name} --no-on" in line, line
        browser.run("location.reload()")
        browser.until("all are there", lambda: sorted(sets(browser)) == ["beacon", "long", "main"])
        browser.named("Advertising set main").click()
        browser.until("it is on", lambda: sets(browser)["main"]["on"] == "true")
        instance.shell(f"mynah ctl advertise --set long --no-on --control {instance.address} Tracker")
        browser.until("a change by another client is shown", lambda: sets(browser)["long"]["on"] == "false")
        browser.resize(390, 1600)
        assert browser.run("return document.documentElement.scrollWidth - innerWidth") <= 0
        browser.picture(page.pictures / "sets.png")
    finally:
        browser.resize(1440, 900)
        instance.stop()


def a_set_alone_has_no_switch_of_its_own(page: Any) -> None:
    browser, instance, _ = opened(page, LAMP)
    try:
        assert not browser.run("return document.querySelector('#air .set .switch').checkVisibility()")
        browser.named("Advertising").click()
        browser.until("it is off the air", lambda: "Off the air" in browser.text("#air") and not browser.all("#air .ad"))
        browser.named("Advertising").click()
        browser.until("it is on the air", lambda: browser.all("#air .ad"))
    finally:
        instance.stop()


def the_limits_say_what_a_phone_notices(page: Any) -> None:
    browser, instance, _ = opened(page, LAMP)
    try:
        browser.until("the count is shown", lambda: browser.text("#centrals-aside") == "0 of 1 connected")
        text = browser.text("section:has(> #centrals)")
        for words in ("Takes 1 central", "ATT_MTU of at most 185", "at most 7 octets"):
            assert words in text, text
        text = browser.text("#attributes")
        for words in ("There is no 2902", "one that has not written 2902", "sent in pieces"):
            assert words in text, text
        phone = instance.phone("Lamp", "wait 10 min")
        browser.until("it is connected", lambda: browser.text("#centrals-aside") == "1 of 1 connected")
        browser.until("it says so", lambda: "Off the air while it is connected" in browser.text("#air"))
        phone.terminate()
        browser.until("it is on the air again", lambda: "Off the air" not in browser.text("#air"))
    finally:
        instance.stop()


TESTS = [all_sets_are_shown_and_switched, a_set_alone_has_no_switch_of_its_own, the_limits_say_what_a_phone_notices]
