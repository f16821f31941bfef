"""Faults of a profile and those that a test adds, met by a phone."""

from __future__ import annotations

import pytest
from mynah import Problem
from profiles import PHONE

SENSOR = {
    "mynah": 1,
    "name": "Sensor",
    "advertising": {"serviceUUIDs": ["180F"], "interval": "20 ms"},
    "services": [
        {"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}
    ],
    "faults": [
        {"name": "wrong level", "on": "read", "of": "2A19", "value": {"hex": "FF"}, "off": True},
        {"name": "busy", "on": "read", "delay": "10 ms", "chance": 0, "off": False},
    ],
}


def test_a_fault_is_turned_on_and_off(mynah):
    sensor = mynah(SENSOR)
    mynah(PHONE)
    mynah.wait("value.read device=Phone value=64", within=30)
    sensor.fault("wrong level")
    # It connects again, and reads again.
    sensor.disconnect()
    mynah.wait("value.read device=Phone value=FF", within=30)
    match = {"event": "fault.applied", "device": "Sensor", "fault": "wrong level", "on": "read"}
    applied = mynah.wait(match, within=30)
    assert "central" in applied[0]
    level, busy = sensor.faults()
    assert not level["off"] and level["applied"] >= 1
    assert busy == {"name": "busy", "off": False, "applied": 0}
    sensor.fault("wrong level", off=True)
    since = mynah.mark("off")
    sensor.disconnect()
    mynah.wait("value.read device=Phone value=64", within=30, since=since)


def test_a_fault_is_added_and_removed_and_a_reset_brings_the_profile_s_back(mynah):
    sensor = mynah(SENSOR)
    mynah(PHONE)
    mynah.wait("value.read device=Phone value=64", within=30)
    sensor.add_fault({"name": "refused", "on": "read", "of": "2A19", "error": "0x80"})
    sensor.disconnect()
    mynah.wait("value.read device=Phone error=0x80", within=30)
    sensor.remove_fault("refused")
    sensor.remove_fault("busy")
    assert [fault["name"] for fault in sensor.faults()] == ["wrong level"]
    mynah.reset(faults=True)
    assert [fault["name"] for fault in sensor.faults()] == ["wrong level", "busy"]


def test_what_is_wrong_with_a_fault_is_said(mynah):
    sensor = mynah(SENSOR)
    with pytest.raises(Problem, match='did you mean "read"') as problem:
        sensor.add_fault({"name": "a", "on": "raed", "delay": "1 s"})
    assert problem.value.status == 400
    with pytest.raises(Problem, match='no fault "gone"') as problem:
        sensor.fault("gone")
    assert problem.value.status == 404
    with pytest.raises(Problem, match="already") as problem:
        sensor.add_fault({"name": "busy", "on": "read", "delay": "1 s"})
    assert problem.value.status == 409
