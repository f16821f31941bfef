"""Control Mynah's emulated Bluetooth LE devices from tests."""

from .client import (
    AdvanceStopped,
    Client,
    Clock,
    Device,
    Events,
    Match,
    Problem,
    ScenarioFailed,
    VerifyFailed,
    WaitFailed,
)
from .process import Mynah, ServerEnded

__all__ = [
    "AdvanceStopped",
    "Client",
    "Clock",
    "Device",
    "Events",
    "Match",
    "Mynah",
    "Problem",
    "ScenarioFailed",
    "ServerEnded",
    "VerifyFailed",
    "WaitFailed",
]
