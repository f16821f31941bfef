"""Control Mynah's emulated Bluetooth LE devices from tests."""

from .client import Client, Device, Events, Match, Problem, ScenarioFailed, VerifyFailed, WaitFailed
from .process import Mynah

__all__ = [
    "Client",
    "Device",
    "Events",
    "Match",
    "Mynah",
    "Problem",
    "ScenarioFailed",
    "VerifyFailed",
    "WaitFailed",
]
