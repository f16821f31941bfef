"""Tests with `--clock manual`: time moves with the requests of a test only."""

from __future__ import annotations

import os
import re
import struct
import threading
from datetime import datetime, timedelta, timezone

import pytest

from mynah import AdvanceStopped, Clock, Mynah, Problem, WaitFailed
from profiles import app

pytest_plugins = ["pytester"]

BEGINNING = datetime(2026, 1, 1, tzinfo=timezone.utc)

#: A strap that sends only what a test tells it to, and that answers no read while its fault is on.
STRAP = {
    "mynah": 1,
    "name": "Strap",
    "advertising": {"serviceUUIDs": ["heart-rate"], "interval": "100 ms"},
    "services": [
        {
            "uuid": "heart-rate",
            "characteristics": [
                {"uuid": "2A37", "properties": ["read", "notify"], "value": {"hex": "0040"}},
                {"uuid": "2A38", "properties": ["read"], "value": {"hex": "01"}},
            ],
        }
    ],
    "faults": [{"name": "mute", "on": "read", "do": "noAnswer", "off": True}],
}

#: An app that subscribes to the strap, and advertises.
PHONE = {
    **app("Phone", "heart-rate", {"name": "Strap", "subscribe": ["2A37"], "read": ["2A38"], "onDisconnect": "connect"}),
    "app": {"backgroundModes": ["bluetooth-central", "bluetooth-peripheral"]},
    "advertising": {"serviceUUIDs": ["180F"]},
    "services": [{"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}],
}


def moment(event) -> datetime:
    """When an event happened."""
    return datetime.fromisoformat(event["time"].replace("Z", "+00:00"))


@pytest.mark.mynah(clock="manual", seed=7)
def test_an_address_a_wake_and_a_timeout_pass_without_waiting(mynah) -> None:
    assert mynah.clock == Clock("manual", BEGINNING)

    # A private address is another one after 15 minutes.
    phone = mynah(PHONE)
    before = phone.info()["advertising"]["address"]
    phone.app("background")
    mynah.advance("15 min")
    assert mynah.clock.now == BEGINNING + timedelta(minutes=15)
    assert phone.info()["advertising"]["address"] != before

    # A value wakes a suspended app for ten seconds.
    strap = mynah(STRAP)
    mynah.wait("read device=Strap", within="2 min")
    phone.app("suspended")
    mynah.mark("a value")
    strap.set("2A37", b"\x00\x50", notify=True)
    woken = mynah.wait("app.woken device=Phone", within="1 min")[0]
    mynah.advance("10 s")
    suspended = mynah.wait("app.suspended device=Phone", within="0 s")[0]
    assert moment(suspended) - moment(woken) == timedelta(seconds=10)

    # A request without an answer fails after 30 seconds.
    strap.fault("mute")
    phone.app("foreground")
    mynah.mark("no answer")
    strap.disconnect()
    asked = mynah.wait("read device=Strap", within="1 min")[0]
    failed = mynah.wait("value.read device=Phone", within="1 min")[0]
    assert moment(failed) - moment(asked) == timedelta(seconds=30) and failed["error"] == "0x0E"


@pytest.mark.mynah(clock="manual")
def test_an_advance_that_cannot_be_is_refused(mynah) -> None:
    assert mynah.advance(0).now == BEGINNING
    assert mynah.advance(0.5).now == BEGINNING + timedelta(seconds=0.5)
    for wrong, message in [("-5 s", "time does not go back"), (-5, "go back"), ("soon", "must be a duration")]:
        with pytest.raises(Problem, match=message):
            mynah.advance(wrong)
    with pytest.raises(WaitFailed):
        mynah.wait("write", within=3600)
    assert mynah.clock.now == BEGINNING + timedelta(seconds=3600.5)


def test_the_clock_of_the_machine_is_not_advanced(mynah) -> None:
    assert mynah.clock.name == "real" and mynah.clock.now > BEGINNING
    with pytest.raises(Problem, match="the clock is real") as problem:
        mynah.advance("1 s")
    assert problem.value.status == 409
    with pytest.raises(Problem, match="needs --clock manual"):
        mynah.reset(seed=7)


def test_an_advance_that_stops_says_how_far_it_came() -> None:
    with Mynah(program=program(), clock="manual", seed=7) as server:
        server.add(STRAP)
        killer = threading.Timer(0.5, server._process.terminate)
        killer.start()
        with pytest.raises(AdvanceStopped, match="of 500000 min, because the run ends"):
            server.advance("500000 min")
        killer.join()


HISTORIES = """
    import json, pathlib
    import pytest

    STRAP = {
        "mynah": 1, "name": "Strap", "advertising": {"serviceUUIDs": ["180D"]},
        "services": [{"uuid": "180D", "characteristics": [
            {"uuid": "2A37", "properties": ["read", "notify"], "value": {"hex": "0040"}, "every": "1 s"}]}],
    }
    PHONE = {
        "mynah": 1, "name": "Phone", "app": {"backgroundModes": ["bluetooth-central"]},
        "central": {"scan": {"services": ["180D"]}, "peripherals": [{"name": "Strap", "subscribe": ["2A37"]}]},
    }

    @pytest.mark.parametrize("name", NAMES)
    def test_it(mynah, name):
        if name != "alone":
            mynah({"mynah": 1, "name": name, "services": []})
            mynah.advance("5 min")
            return
        assert mynah.seed == SEED
        mynah(STRAP), mynah(PHONE)
        mynah.wait("subscribed", within="1 min")
        mynah.advance("20 s")
        # The address of the API is a folder of the process.
        events = [{**event, "control": ""} for event in mynah.events(since=1)]
        pathlib.Path("events.txt").write_text("\\n".join(json.dumps(event) for event in events))
    """


def test_a_test_has_the_same_events_in_any_order(pytester: pytest.Pytester) -> None:
    texts = []
    for names, seed in [(["alone"], 7), (["first", "alone"], 7), (["first", "second", "alone"], 8)]:
        pytester.makepyfile(HISTORIES.replace("NAMES", repr(names)).replace("SEED", str(seed)))
        options = ["--mynah", program(), "--mynah-clock", "manual", "--mynah-seed", str(seed)]
        result = pytester.runpytest_subprocess(*options)
        result.assert_outcomes(passed=len(names))
        texts.append((pytester.path / "events.txt").read_text())
    assert len(texts[0].splitlines()) > 20
    assert texts[0] == texts[1] != texts[2]


MARKED = """
    import pytest

    @pytest.mark.mynah(clock="manual", seed=11)
    def test_manual(mynah):
        mynah({"mynah": 1, "name": "Lamp", "services": []})
        mynah.advance("1 s")
        assert mynah.clock.name == "real", "manual"

    @pytest.mark.mynah(clock="manual")
    def test_random(mynah):
        assert mynah.seed is None, "random"

    def test_real(mynah):
        assert mynah.clock.name == "manual", "real"

    @pytest.mark.mynah(clocks="manual")
    def test_mark(mynah):
        pass

    @pytest.mark.mynah(clock="fast")
    def test_fast(mynah):
        pass
    """


def test_a_failed_test_prints_its_seed_and_the_command_that_repeats_it(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(test_marked=MARKED)
    result = pytester.runpytest_subprocess("--mynah", program(), str(path))
    result.assert_outcomes(failed=3, errors=2)
    lines = result.stdout.lines
    repeats = [line for line in lines if "; repeat with: " in line]
    assert repeats[0] == (
        "11; repeat with: pytest test_marked.py::test_manual --mynah-clock manual --mynah-seed 11"
    )
    assert re.fullmatch(
        r"(\d+); repeat with: pytest test_marked.py::test_random --mynah-clock manual --mynah-seed \1", repeats[1]
    )
    assert len(repeats) == 2
    result.stdout.fnmatch_lines_random(
        [
            "the mark takes a clock and a seed: @pytest.mark.mynah(clock=..., seed=...)",
            "the clock of @pytest.mark.mynah is real or manual, not 'fast'",
        ]
    )
    command = repeats[1].partition("repeat with: pytest ")[2].split()
    again = pytester.runpytest_subprocess("--mynah", program(), *command)
    assert repeats[1] in again.stdout.lines


def test_the_capture_of_a_failed_test_is_its_history(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import time
        import pytest

        @pytest.mark.parametrize("name", ["Early", "Late"])
        def test_it(mynah, name):
            service = {"uuid": "180D", "characteristics": [{"uuid": "2A38", "properties": ["read"]}]}
            advertising = {"serviceUUIDs": ["180D"]}
            mynah({"mynah": 1, "name": name, "advertising": advertising, "services": [service]})
            mynah.advance("1 min")
            for _ in range(3000):
                mynah._capture.write("now.pcapng")
                if len(open("now.pcapng", "rb").read()) > 3000:
                    break
                time.sleep(0.01)
            assert name == "Early"
        """
    )
    base = pytester.path / "base"
    result = pytester.runpytest_subprocess(
        "--mynah", program(), "--mynah-clock", "manual", "--basetemp", str(base)
    )
    result.assert_outcomes(passed=1, failed=1)
    capture = next(base.glob("*/mynah.pcapng")).read_bytes()
    assert capture.count(b"hci Late") == 1 and b"Early" not in capture
    assert capture.count(struct.pack("<I", 0x0A0D0D0A)) == 1
    assert len(capture) > 3000


def test_a_mynah_of_somebody_else_must_have_the_clock_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(mynah): mynah.advance('1 s')")
    with Mynah(program=program(), clock="manual") as running:
        result = pytester.runpytest_subprocess("--mynah-control", running.address)
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(
            [f"the test is for the clock real, and the Mynah at {running.address} has the clock manual"]
        )
        result = pytester.runpytest_subprocess("--mynah-control", running.address, "--mynah-clock", "manual")
        result.assert_outcomes(passed=1)


def program() -> str:
    return os.environ.get("MYNAH") or "mynah"
