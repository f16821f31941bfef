"""Requests to phones and their answers, for `mynah.phone` and `mynah.aio`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .client import Problem, _quoted, _time, _value, _without_none
from .client import Time as Time

#: The time for a scan, for finding a peripheral and connecting to it, and for any other verb.
SCAN, CONNECT, VERB = "2 s", "10 s", "30 s"
_ADDRESS = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")


class PhoneError(Problem):
    """A phone did not carry out a verb."""

    def __init__(self, status: int, detail: str, members: Mapping[str, Any]) -> None:
        super().__init__(status, detail, members)
        #: The name of the error in the specification, as `insufficientEncryption` or `connectionTimeout`.
        self.name: str | None = members.get("name")
        #: The code of the controller's error, as 0x08 of a connection that timed out.
        self.reason: int | None = _number(members.get("reason"))
        #: Mynah's word for an error that is not the peripheral's answer, as `disconnected`.
        self.code: str | None = members.get("code")


class AttributeRefused(PhoneError):
    """The peripheral answered a request with an ATT error."""

    def __init__(self, status: int, detail: str, members: Mapping[str, Any]) -> None:
        super().__init__(status, detail, members)
        #: The code, as 0x05.
        self.error: int = _number(members.get("error")) or 0


class NotConnected(PhoneError):
    """The phone is not connected to the peripheral, or no more."""


class PhoneTimeout(PhoneError):
    """The verb was not carried out within its time."""


@dataclass(frozen=True)
class Value:
    """A value of an attribute."""

    #: The bytes.
    value: bytes
    #: Its fields, or `None` if no layout is known or the value does not fit it.
    fields: dict[str, Any] | None


@dataclass(frozen=True)
class Heard:
    """A peripheral that a phone has heard."""

    address: str
    #: The name that it advertises.
    name: str | None
    #: The received signal strength in dBm, if that is known.
    rssi: int | None
    connectable: bool
    #: The services that it advertises.
    services: Sequence[str]
    #: The advertising data.
    data: bytes
    #: The scan response.
    scan_response: bytes


@dataclass(frozen=True)
class Parameters:
    """The parameters of a connection."""

    #: The connection interval, in milliseconds.
    interval: float
    #: The number of connection events that the peripheral may skip.
    latency: int
    #: The supervision timeout, in milliseconds.
    supervision_timeout: float


def _number(text: Any) -> int | None:
    return int(text, 16) if isinstance(text, str) else None


def problem(raised: Problem) -> Problem:
    """The exception for an answer to a verb."""
    members = raised.members
    kind = PhoneError
    if "error" in members:
        kind = AttributeRefused
    elif raised.status == 408:
        kind = PhoneTimeout
    elif members.get("code") == "disconnected":
        kind = NotConnected
    return kind(raised.status, raised.detail, members)


def settings(
    name: str | None,
    holder: str,
    *,
    radio: str | None,
    address: str | None,
    io: str | None,
    state_directory: str | None,
    confirm: bool | None,
    passkey: int | str | None,
    accept: bool | None,
) -> dict[str, Any]:
    """The body that makes a phone."""
    body = {
        "name": name,
        "holder": holder,
        "radio": radio,
        "address": address,
        "io": io,
        "stateDirectory": state_directory,
        "confirm": confirm,
        "passkey": digits(passkey),
        "accept": accept,
    }
    return _without_none(body)


def digits(passkey: int | str | None) -> str | None:
    """A passkey as six digits."""
    return f"{passkey:06}" if isinstance(passkey, int) else passkey


def search(
    peripheral: str | None, name: str | None, address: str | None, services: Sequence[str], within: Time
) -> dict[str, Any]:
    """The body of a scan, or of a connection."""
    if peripheral is not None:
        if _ADDRESS.fullmatch(peripheral):
            address = peripheral
        else:
            name = peripheral
    body = {"name": name, "address": address, "services": list(services) or None, "within": _time(within)}
    return _without_none(body)


def on(peripheral: str, within: Time, **members: Any) -> dict[str, Any]:
    """The body of a verb for a peripheral."""
    return _without_none({"peripheral": peripheral, "within": _time(within), **members})


def written(value: bytes | str | Mapping[str, Any]) -> dict[str, Any]:
    """The members for a value."""
    return _value(value)


def value(answer: Mapping[str, Any]) -> Value:
    """The value in an answer or in an event."""
    return Value(bytes.fromhex(answer.get("value", "")), answer.get("fields"))


def heard(answer: Mapping[str, Any]) -> list[Heard]:
    """The peripherals in the answer of a scan."""
    return [
        Heard(
            each["address"],
            each.get("name"),
            each["rssi"],
            each["connectable"],
            each["services"],
            bytes.fromhex(each["data"]),
            bytes.fromhex(each["scanResponse"]),
        )
        for each in answer["peripherals"]
    ]


def parameters(answer: Mapping[str, Any]) -> Parameters:
    """The parameters in an answer."""
    return Parameters(
        answer["intervalMilliseconds"], answer["latency"], answer["supervisionTimeoutMilliseconds"]
    )


def updates(phone: str, address: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """A match of the values that a subscription sends, by its answer."""
    return {
        "event": "value.updated",
        "device": phone,
        "address": address,
        "service": answer["service"],
        "characteristic": answer["characteristic"],
    }


def path(phone: str, verb: str | None = None) -> str:
    """The path of a phone, or of its verb."""
    return f"/v1/phones/{_quoted(phone)}" + (f"/{verb}" if verb else "")
