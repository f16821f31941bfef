"""Devices, their values and their links, controlled over the API and seen by an app of another device."""

from __future__ import annotations

import subprocess
import threading

import pytest

from mynah import Client, Problem, VerifyFailed, WaitFailed
from profiles import app

#: An app that reads and subscribes, with one peripheral.
PHONE = app(
    "Phone",
    "heart-rate",
    {
        "name": "Strap",
        "match": {"services": ["heart-rate"]},
        "read": ["heart-rate/body-sensor-location"],
        "subscribe": ["heart-rate/heart-rate-measurement"],
        "onDisconnect": "connect",
    },
)

#: A strap that sends only what a test tells it to.
STRAP = {
    "mynah": 1,
    "name": "Strap",
    "advertising": {"serviceUUIDs": ["heart-rate"], "interval": "20 ms"},
    "services": [
        {
            "uuid": "heart-rate",
            "characteristics": [
                {"uuid": "2A37", "properties": ["read", "notify"], "value": {"hex": "0040"}},
                {"uuid": "2A38", "properties": ["read"], "value": {"hex": "01"}},
                {"uuid": "2A39", "properties": ["write"], "maxLength": 1},
            ],
        }
    ],
}

#: An accessory that nobody connects to.
LAMP = {
    "mynah": 1,
    "name": "Lamp",
    "services": [
        {
            "uuid": "1815",
            "characteristics": [
                {"uuid": "2A56", "properties": ["read", "write"], "value": {"hex": "00"}, "maxLength": 4}
            ],
        }
    ],
}


#: An accessory whose requests a test answers.
VAULT = {
    "mynah": 1,
    "name": "Vault",
    "advertising": {"serviceUUIDs": ["1815"], "interval": "20 ms"},
    "services": [
        {
            "uuid": "1815",
            "characteristics": [
                {"uuid": "2A56", "properties": ["read", "write"], "maxLength": 4, "ask": ["read", "write"]}
            ],
        }
    ],
}

#: An app that reads and writes it.
VISITOR = app(
    "Visitor",
    "1815",
    {
        "name": "Vault",
        "match": {"services": ["1815"]},
        "read": ["1815/2A56"],
        "write": [{"to": "1815/2A56", "value": {"hex": "05"}}],
    },
)


def connected(mynah):
    """A strap and an app that is subscribed to it."""
    strap = mynah(STRAP)
    phone = mynah(PHONE)
    mynah.wait("subscribed device=Strap", within=30)
    return strap, phone


def test_the_instance_names_its_radio(mynah):
    assert mynah.instance()["radios"] == ["virtual radio"]
    assert mynah.devices() == []


def test_a_profile_file_is_played(mynah):
    device = mynah("heart-rate.yaml")
    assert device.name == "Heart rate monitor"
    ready = mynah.wait("ready device=Heart rate monitor", within=30)[0]
    assert ready["services"] == ["180D", "180F"]


def test_a_profile_in_the_request_is_played(mynah):
    info = mynah(LAMP).info()
    assert info["state"] == "poweredOn"
    assert info["app"] is None
    assert [each["path"] for each in info["attributes"]] == ["1815/2A56"]


def test_a_file_is_another_name_of_its_device(mynah):
    mynah("heart-rate.yaml")
    assert mynah.device("heart-rate").name == "Heart rate monitor"


def test_a_name_that_is_taken_gets_a_number(mynah):
    assert [mynah(LAMP).name, mynah(LAMP).name] == ["Lamp", "Lamp~2"]


def test_a_value_is_read_and_set(mynah):
    lamp = mynah(LAMP)
    assert lamp.get("1815/2A56") == b"\0"
    assert lamp.set("1815/2A56", b"\1\2") == 0
    assert lamp.get("2A56") == b"\1\2"
    lamp.set("2A56", "on")
    assert lamp.get("2A56") == b"on"


#: A meter whose value is a variable, which a write sets.
METER = {
    "mynah": 1,
    "name": "Meter",
    "advertising": {"serviceUUIDs": ["heart-rate"], "interval": "20 ms"},
    "variables": {"rate": 60},
    "services": [
        {
            "uuid": "heart-rate",
            "characteristics": [
                {
                    "uuid": "2A37",
                    "properties": ["read", "notify"],
                    "value": {"fields": {"heartRate": {"from": "rate"}}},
                },
                {"uuid": "2A38", "properties": ["read"], "value": {"hex": "01"}},
                {
                    "uuid": "2A39",
                    "properties": ["write"],
                    "on": {"write": [{"match": {"command": 1}, "set": {"rate": 0}}, {"error": "0x80"}]},
                },
            ],
        }
    ],
}


def test_a_phone_gets_the_variables_that_a_test_sets(mynah):
    meter = mynah(METER)
    phone = dict(PHONE["central"]["peripherals"][0], write=[{"to": "2A39", "value": {"hex": "02"}}])
    mynah(dict(PHONE, central=dict(PHONE["central"], peripherals=[phone])))
    # The rules take no command but 1.
    mynah.wait("value.written device=Phone error=0x80", within=30)
    meter.set_variable("rate", 90)
    mynah.wait("value.updated device=Phone fields.heartRate=90", within=30)
    assert meter.variables == {"rate": 90}
    with pytest.raises(Problem, match='did you mean "rate"'):
        meter.set_variable("rat", 1)
    with pytest.raises(Problem, match="cannot be made"):
        meter.set_variable("rate", -1)
    mynah.reset(variables=True)
    mynah.wait("value.updated device=Phone fields.heartRate=60", within=30)
    assert meter.variables == {"rate": 60}


def test_a_phone_gets_the_fields_that_a_test_sets(mynah):
    strap, _ = connected(mynah)
    assert strap.set("2A37", {"heartRate": 90, "rrIntervals": ["0.5 s"]}, notify=True) == 1
    assert strap.get("2A37") == bytes.fromhex("105A0002")
    assert strap.fields("2A37") == {"heartRate": 90, "rrIntervals": [0.5]}
    mynah.wait("value.updated device=Phone fields.heartRate>=90", within=30)
    with pytest.raises(Problem, match="did you mean"):
        strap.set("2A37", {"heartrate": 90})
    assert mynah(LAMP).fields("2A56") is None


def test_a_value_that_is_too_long_is_refused(mynah):
    lamp = mynah(LAMP)
    with pytest.raises(Problem) as problem:
        lamp.set("2A56", b"12345")
    assert problem.value.status == 400
    assert lamp.get("2A56") == b"\0"


def test_a_wrong_name_proposes_the_right_one(mynah):
    mynah(LAMP)
    with pytest.raises(Problem, match='did you mean "Lamp"'):
        mynah.device("Lam")
    with pytest.raises(Problem, match="did you mean"):
        mynah.wait("wriet")


def test_a_profile_with_errors_says_where_they_are(mynah):
    with pytest.raises(Problem) as problem:
        mynah({"mynah": 1, "name": "x", "servces": []})
    assert problem.value.status == 400
    issue = problem.value.members["issues"][0]
    assert "services" in issue["message"]
    assert issue["path"] == "servces"
    assert "line" not in issue
    assert mynah.devices() == []


def test_a_phone_reads_the_value_that_was_set(mynah):
    strap = mynah(STRAP)
    strap.set("2A38", b"\2")
    mynah(PHONE)
    mynah.wait("value.read device=Phone characteristic=2A38 value=02", within=30)


def test_a_subscriber_gets_a_value(mynah):
    strap, _ = connected(mynah)
    assert strap.set("2A37", b"\0\x50", notify=True) == 1
    mynah.wait("value.updated device=Phone value=0050", within=30)
    mynah.verify("notified device=Strap value=0050", exactly=1)


def test_a_wait_finds_what_has_happened_before(mynah):
    strap, _ = connected(mynah)
    first = mynah.mark("before")
    strap.set("2A37", b"\0\x51", notify=True)
    event = mynah.wait("value.updated value=0051", within=30)
    assert mynah.wait("value.updated value=0051", within=0).next == event.next
    assert event[0]["seq"] >= first
    mynah.verify("value.updated value=0051", never=True, since=event.next)


def test_a_wait_that_fails_says_what_came_nearest(mynah):
    strap, _ = connected(mynah)
    strap.set("2A37", b"\0\x52", notify=True)
    mynah.wait("value.updated value=0052", within=30)
    with pytest.raises(WaitFailed) as failure:
        mynah.wait("value.updated device=Phone value=0053", within=0)
    assert failure.value.members["nearest"][0]["differs"] == ["value"]
    assert failure.value.members["seen"]["value.updated"] >= 1


def test_an_order_is_verified(mynah):
    connected(mynah)
    order = ["central.connected device=Strap", "read device=Strap", "subscribed device=Strap"]
    mynah.verify(order=order)
    with pytest.raises(VerifyFailed):
        mynah.verify(order=list(reversed(order)))


def test_a_link_is_dropped_and_the_app_connects_again(mynah):
    strap, _ = connected(mynah)
    mynah.mark("dropped")
    strap.disconnect()
    mynah.wait("subscribed device=Strap", within=30)
    mynah.verify(
        order=["central.disconnected device=Strap", "central.connected device=Strap", "subscribed"]
    )


def test_an_unknown_central_is_named(mynah):
    strap, _ = connected(mynah)
    with pytest.raises(Problem) as problem:
        strap.disconnect("00:00:00:00:00:00")
    assert problem.value.status == 404


def test_reset_brings_the_first_values_back(mynah):
    lamp = mynah(LAMP)
    lamp.set("2A56", b"\7")
    mynah.reset(values=True)
    assert lamp.get("2A56") == b"\0"


def test_advertising_stops_and_starts(mynah):
    strap = mynah(STRAP)
    mynah.wait("advertising.started device=Strap", within=30)
    strap.advertise(False)
    mynah.wait("advertising.stopped device=Strap", within=30)
    assert strap.info()["advertising"]["on"] is False
    strap.advertise(True, local_name="Belt")
    mynah.wait("advertising.started device=Strap data=02010603030D18050942656C74", within=30)


def test_an_app_changes_its_state(mynah):
    phone = mynah(PHONE)
    phone.app("background")
    mynah.wait("app.background device=Phone", within=30)
    assert phone.info()["app"] == {"state": "background", "authorization": "allowedAlways"}
    phone.app("denied")
    mynah.wait("app.authorization device=Phone authorization=denied", within=30)
    assert phone.info()["app"] == {"state": "terminated", "authorization": "denied"}
    with pytest.raises(Problem, match="did you mean"):
        phone.app("backgroud")


def test_a_removed_device_is_gone(mynah):
    strap = mynah(STRAP)
    lamp = mynah.client.add(LAMP)
    lamp.remove()
    assert [each.name for each in mynah.devices()] == [strap.name]
    with pytest.raises(Problem):
        lamp.info()


def test_apps_share_a_phone(mynah):
    mynah(PHONE)
    second = dict(PHONE, name="Second")
    mynah(second)
    assert sorted(each.name for each in mynah.devices()) == ["Phone", "Second"]
    with pytest.raises(Problem) as problem:
        mynah.client.add(second)
    assert problem.value.status == 409
    mynah.device("Second").remove()
    mynah.client.add(second).remove()
    assert [each.name for each in mynah.devices()] == ["Phone"]


def test_waits_of_two_threads_do_not_disturb_each_other(mynah):
    strap, _ = connected(mynah)
    start = mynah.mark("threads")
    found = {}

    def wait(value):
        match = f"value.updated device=Phone value={value}"
        found[value] = mynah.wait(match, within=30, since=start)[0]["value"]

    threads = [threading.Thread(target=wait, args=(value,)) for value in ("0054", "0055")]
    for thread in threads:
        thread.start()
    strap.set("2A37", b"\0\x55", notify=True)
    strap.set("2A37", b"\0\x54", notify=True)
    for thread in threads:
        thread.join()
    assert found == {"0054": "0054", "0055": "0055"}


def test_a_test_answers_the_requests_of_a_phone(mynah):
    vault = mynah(VAULT)
    mynah(VISITOR)
    asked = mynah.wait("request.asked device=Vault by=read", within=30)
    mynah.answer(asked[0], b"\x2a\x2b")
    mynah.wait("value.read device=Visitor value=2A2B", within=30)

    asked = mynah.wait("request.asked device=Vault by=write value=05", within=30)
    with pytest.raises(Problem) as problem:
        mynah.answer(asked[0], b"\x00")
    assert problem.value.status == 400
    mynah.answer(asked[0]["id"])
    mynah.wait("value.written device=Visitor value=05", within=30)
    assert vault.get("2A56") == b"\x05"
    with pytest.raises(Problem, match="was answered before") as problem:
        mynah.answer(asked[0])
    assert problem.value.status == 409
    with pytest.raises(Problem) as problem:
        mynah.answer(999_999)
    assert problem.value.status == 404


@pytest.mark.parametrize("error, code", [(0x80, "0x80"), ("insufficientAuthorization", "0x08")])
def test_a_request_is_answered_with_an_error(mynah, error, code):
    mynah(VAULT)
    mynah(VISITOR)
    asked = mynah.wait("request.asked device=Vault", within=30)
    mynah.answer(asked[0], error=error)
    mynah.wait(f"value.read device=Visitor error={code}", within=30)


@pytest.mark.parametrize(
    "answer, message",
    [
        ({"value": 5}, 'value must be bytes, text or fields, as b"\\x2a", "on" or {\'level\': 42}, not 5'),
        ({"value": [1]}, 'value must be bytes, text or fields, as b"\\x2a", "on" or {\'level\': 42}, not [1]'),
        ({"error": True}, 'error must be an ATT error, as 0x80 or "insufficientAuthorization", not True'),
        ({"error": False}, 'error must be an ATT error, as 0x80 or "insufficientAuthorization", not False'),
        ({"error": 1.5}, 'error must be an ATT error, as 0x80 or "insufficientAuthorization", not 1.5'),
    ],
)
def test_an_answer_of_another_type_is_refused(answer, message):
    with pytest.raises(TypeError) as error:
        Client("unix:/nonexistent/mynah.sock").answer(1, **answer)
    assert str(error.value) == message


def test_a_value_of_another_type_is_refused(mynah):
    with pytest.raises(TypeError, match="value must be bytes, text or fields"):
        mynah(LAMP).set("1815/2A56", 1)


def test_a_reset_and_the_end_of_a_link_end_requests(mynah):
    vault = mynah(VAULT)
    mynah(VISITOR)
    first = mynah.wait("request.asked device=Vault", within=30)
    mynah.reset(values=True)
    mynah.wait("request.unanswered device=Vault because=reset error=0x0E", within=30)
    mynah.wait("value.read device=Visitor error=0x0E", within=30)
    second = mynah.wait("request.asked by=write", within=30, since=first.next)
    vault.disconnect()
    mynah.wait("request.unanswered because=disconnected", within=30)
    for asked in (first, second):
        with pytest.raises(Problem) as problem:
            mynah.answer(asked[0])
        assert problem.value.status == 409


def test_a_device_is_removed_while_a_phone_waits(mynah):
    vault = mynah.client.add(VAULT)
    mynah(VISITOR)
    asked = mynah.wait("request.asked device=Vault", within=30)
    vault.remove()
    mynah.wait("request.unanswered device=Vault because=ended", within=30)
    with pytest.raises(Problem) as problem:
        mynah.answer(asked[0], b"")
    assert problem.value.status == 409
    assert "removed" in problem.value.detail


def test_a_phone_does_not_wait_for_the_answer_to_another(mynah):
    battery = {"uuid": "2A19", "properties": ["read", "write"], "value": {"hex": "64"}}
    mynah(dict(VAULT, services=VAULT["services"] + [{"uuid": "180F", "characteristics": [battery]}]))
    mynah(VISITOR)
    asked = mynah.wait("request.asked device=Vault", within=30)
    command = [mynah.client.program, "connect", "Vault", "--radio", "virtual", "--quiet"]
    command += ["--command", "read 180F/2A19"]
    other = subprocess.run(
        command, env=mynah.client.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert other.returncode == 0, other.stderr
    assert b"64" in other.stdout
    mynah.verify("request.unanswered", never=True)
    mynah.answer(asked[0], "on")
    mynah.wait("value.read device=Visitor value=6F6E", within=30)


def test_a_mark_is_a_case_of_the_report(mynah, request):
    mynah(LAMP)
    assert request.node.nodeid in [case["name"] for case in mynah.report()["cases"]]
    assert "<testsuites>" in mynah.report("junit")


def test_all_events_are_listed(mynah):
    strap = mynah(STRAP)
    for _ in range(510):
        strap.advertise(False)
        strap.advertise(True)
    events = mynah.events(match="advertising.stopped")
    assert len(events) == 510
    assert events.next == events[-1]["seq"] + 1
    # A list without a limit of its own has 1,000 events.
    assert len(mynah.events()) > 1000


def test_a_keyboard_types(mynah):
    keyboard = mynah({"mynah": 1, "name": "Keyboard", "services": [{"use": "hid-keyboard"}]})
    with pytest.raises(Problem, match="a host subscribes"):
        keyboard.type("Hello", gap=0.05)
    with pytest.raises(Problem, match="no key of a US keyboard makes"):
        keyboard.type("é")
