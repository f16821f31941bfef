"""Control Mynah's emulated Bluetooth LE devices from tests."""

from ._phone import (
    AttributeRefused,
    Heard,
    NotConnected,
    Parameters,
    PhoneError,
    PhoneTimeout,
    Value,
)
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
from .phone import Peripheral, Phone, Subscription
from .process import Mynah, ServerEnded

__all__ = [
    "AdvanceStopped",
    "AttributeRefused",
    "Client",
    "Clock",
    "Device",
    "Events",
    "Heard",
    "Match",
    "Mynah",
    "NotConnected",
    "Parameters",
    "Peripheral",
    "Phone",
    "PhoneError",
    "PhoneTimeout",
    "Problem",
    "ScenarioFailed",
    "ServerEnded",
    "Subscription",
    "Value",
    "VerifyFailed",
    "WaitFailed",
]
