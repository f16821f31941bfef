"""Scenarios of a profile, which a test plays."""

from __future__ import annotations

import pytest
from mynah import Problem, ScenarioFailed
from profiles import PHONE

SENSOR = {
    "mynah": 1,
    "name": "Sensor",
    "advertising": {"serviceUUIDs": ["180F"], "interval": "20 ms"},
    "variables": {"level": 80},
    "services": [
        {
            "uuid": "180F",
            "characteristics": [
                {"uuid": "2A19", "properties": ["read"], "value": {"fields": {"level": {"from": "level"}}}}
            ],
        }
    ],
    "scenarios": [
        {"name": "empty battery", "steps": [{"set": {"level": 0}}, {"await": "read", "value": "00"}]},
        {"name": "nobody reads", "steps": [{"expect": "read", "within": "10 ms"}]},
    ],
}


def test_a_scenario_passes(mynah):
    sensor = mynah(SENSOR)
    since = sensor.start_scenario("empty battery")
    assert sensor.info()["scenarios"] == [
        {"name": "empty battery", "playing": True},
        {"name": "nobody reads", "playing": False},
    ]
    mynah(PHONE)
    end = mynah.wait("scenario.ended device=Sensor", within=60, since=since)[0]
    assert (end["scenario"], end["result"], end["step"]) == ("empty battery", "pass", 2)


def test_a_scenario_fails(mynah):
    sensor = mynah(SENSOR)
    with pytest.raises(ScenarioFailed, match="failed at step 1: no read within 10 ms") as failure:
        sensor.scenario("nobody reads")
    assert failure.value.end["result"] == "fail"


def test_a_scenario_that_does_not_exist_or_is_played_is_refused(mynah):
    sensor = mynah(SENSOR)
    with pytest.raises(Problem, match='did you mean "nobody reads"') as problem:
        sensor.scenario("nobody read")
    assert problem.value.status == 404
    sensor.start_scenario("empty battery")
    with pytest.raises(Problem, match='plays the scenario "empty battery"') as problem:
        sensor.start_scenario("nobody reads")
    assert problem.value.status == 409
    since = mynah.mark("reset")
    mynah.reset(values=True)
    end = mynah.wait("scenario.ended", within=60, since=since)[0]
    assert end["message"].startswith("the device was reset")
