"""The names of the instance, for Schemathesis, and limits to what a request may do to the others."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Iterator

import schemathesis
from mynah import Client, Phone, Problem

CLIENT = Client(os.environ["MYNAH_CONTROL"])
#: The profiles of the devices that are always there, by name.
PROFILES: dict[str, Any] = json.loads(os.environ["MYNAH_PROFILES"])
#: Whether requests are narrowed to those that this instance can carry out.
NARROWED = os.environ.get("MYNAH_NARROWED") == "1"
#: More devices than this are removed again.
DEVICES = 8
#: The phone in the test's hand that is always there, and is connected to the strap.
PHONE = "Anna"
#: More phones than this are removed again.
PHONES = 4
DURATION = re.compile(r"^ *[0-9]+(\.[0-9]{1,9})? *(us|ms|s|min|h) *$")


@schemathesis.hook
def before_load_schema(ctx: Any, raw_schema: dict[str, Any]) -> None:
    for path, operations in raw_schema["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "device":
                    parameter["schema"]["enum"] = names(operation["operationId"])
                elif parameter["name"] == "phone":
                    parameter["schema"]["enum"] = [PHONE, "Nobody"]
                elif parameter["name"] == "attribute":
                    parameter["schema"]["enum"] = ["180D/2A37", "heart-rate/2A38", "180D/2A37/2902", "2A39"]
                elif parameter["name"] == "name":
                    parameter["schema"]["enum"] = ["rate"]
                elif parameter["name"] == "fault":
                    parameter["schema"]["enum"] = ["slow", "lost", "nothing"]
                elif parameter["name"] == "scenario":
                    parameter["schema"]["enum"] = ["resting", "waiting", "nothing"]
                elif parameter["name"] == "id":
                    parameter["schema"]["enum"] = [1, 2, 1000000]
    if NARROWED:
        narrow(raw_schema)


def names(operation: str) -> list[str]:
    """The devices that an operation is for."""
    if operation in ("getValue", "setValue", "setVariable"):
        return ["Strap"]
    return list(PROFILES)


def narrow(document: dict[str, Any]) -> None:
    """Says what the document cannot know: the names, lengths and numbers of this instance."""
    matches = ["read", "write device=Strap", {"event": "subscribed", "device": "Strap"}]
    bodies = {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    }

    def member(operation: str, name: str, schema: dict[str, Any]) -> None:
        bodies[operation]["schema"]["properties"][name] = schema

    member("addDevice", "profile", {"enum": list(PROFILES.values())})
    member("enterPasskey", "passkey", {"enum": ["042042", 0, 999999]})
    # A name needs a character that a reader sees.
    member("mark", "name", {"type": "string", "maxLength": 100, "pattern": "[0-9A-Za-z]"})
    # A profile's keys are not those of the document.
    bodies["addFault"]["schema"] = {
        "enum": [
            {"name": "slow", "on": "connect", "nth": "1..2", "times": 2, "do": "disconnect", "off": True},
            {"name": "lost", "after": "1 min", "do": "disconnect", "reason": "0x13"},
        ]
    }
    bodies["alert"]["schema"] = {
        "enum": [{"message": "Hello"}, {"title": "Hi", "flags": ["silent"], "uid": 1}, {"remove": 1}]
    }
    member("typeText", "text", {"type": "string", "pattern": "^[ -~]{1,9}$"})
    member("typeText", "gap", {"enum": ["1 ms", "0.5s"]})
    member("setAppState", "state", {"enum": ["foreground", "background", "suspended"]})
    for operation in ("disconnect", "forget", "enterPasskey"):
        member(operation, "central", {"enum": ["AA:BB:CC:DD:EE:FF", "Phone"]})
    member("forget", "peripheral", {"enum": ["Strap", "Nobody"]})
    member("disconnect", "reason", {"enum": ["0x13", "0x15"]})
    uuids = {"type": "array", "maxItems": 2, "uniqueItems": True, "items": {"enum": ["180D", "battery"]}}
    member("advertise", "serviceUUIDs", uuids)
    member("advertise", "localName", {"type": "string", "pattern": "^([!-~]{1,4})?$"})
    # The document cannot say that a year is the most, nor that a seed has 64 bits.
    member("advanceClock", "by", {"enum": ["0 s", "1ms", "5 min"]})
    for operation in ("addDevice", "reset"):
        member(operation, "seed", {"enum": [0, 7, "18446744073709551615"]})
    member("wait", "within", {"enum": ["0 s", "1ms", "0.5 ms"]})
    member("verify", "order", {"type": "array", "minItems": 1, "maxItems": 3, "items": {"enum": matches}})
    for operation in ("wait", "verify"):
        member(operation, "match", {"enum": matches})
        member(operation, "since", {"enum": [0, 1]})
    member("setVariable", "value", {"enum": [0, 72, 2.5]})
    narrow_phones(bodies, member)
    member("setValue", "hex", {"enum": ["", "05", "0a"]})
    member("setValue", "text", {"enum": ["", "a"]})

    def either(operation: str, choices: list[list[str]]) -> None:
        """Members that exclude each other, which the document leaves to the answers; each choice has its first."""
        schema = bodies[operation]["schema"]
        members = schema["properties"]
        bodies[operation]["schema"] = {
            "anyOf": [
                dict(schema, properties={name: members[name] for name in names}, required=names[:1])
                for names in choices
            ]
        }

    either("verify", [["match", kind, "since"] for kind in ("exactly", "atLeast", "never")] + [["order", "since"]])
    # Only 2A37 notifies, and each attribute has fields of its own.
    either("setValue", [["hex"], ["text"]])
    for operation in ("writeAsPhone", "commandAsPhone"):
        either(operation, [["hex", "of", "within"], ["text", "of", "within"]])
        for choice in bodies[operation]["schema"]["anyOf"]:
            choice["required"].append("of")
    either("connectAsPhone", [["name", "within"], ["address", "within"], ["services", "within"]])
    either("forget", [["central"], ["peripheral"]])
    bodies["setAppState"]["schema"]["properties"].pop("peripheral")
    either("answerRequest", [["hex"], ["text"], ["fields"], ["error"]])
    # An app advertises no other fields.
    either("advertise", [["on", "localName"], ["localName", "serviceUUIDs"], ["serviceUUIDs", "on"]])
    for parameter in document["paths"]["/v1/events"]["get"]["parameters"]:
        if parameter["name"] == "since":
            parameter["schema"] = {"enum": [0, 1]}
        if parameter["name"] == "match":
            parameter["schema"] = {"enum": ["read", "write device=Strap"]}


def narrow_phones(bodies: dict[str, Any], member: Any) -> None:
    """Says what the document cannot know about phones."""
    bodies["addPhone"]["schema"]["properties"].pop("radio")
    member("addPhone", "name", {"type": "string", "pattern": "^[0-9A-Za-z]{1,9}$"})
    member("addPhone", "address", {"enum": ["identity", "private", "C0:11:22:33:44:55"]})
    member("addPhone", "stateDirectory", {"enum": ["a", "../b"]})
    times = {"enum": ["0 s", "1ms", "50 ms"]}
    services = {"type": "array", "maxItems": 2, "items": {"enum": ["180D", "battery"]}}
    for operation, body in bodies.items():
        members = body["schema"].get("properties", {})
        if not operation.endswith("AsPhone"):
            continue
        members["within"] = times
        for name, schema in {
            "peripheral": {"enum": ["Strap", "Nobody"]},
            "of": {"enum": ["180D/2A37", "2A38", "2A39", "2A37/2902"]},
            "address": {"enum": ["AA:BB:CC:DD:EE:FF", "c0:11:22:33:44:55"]},
            "services": services,
            "hex": {"enum": ["", "05"]},
            "passkey": {"enum": ["042042", 0]},
            "interval": {"enum": ["15 ms", "30ms"]},
            "intervalMaximum": {"enum": ["45 ms", "60 ms"]},
            "supervisionTimeout": {"enum": ["31 s", "32 s"]},
            "latency": {"enum": [0, 4]},
        }.items():
            if name in members:
                members[name] = schema
    bodies["connectAsPhone"]["schema"]["properties"]["services"] = {**services, "minItems": 1}


def numbers(value: Any) -> Iterator[float]:
    """The numbers in JSON that were not given as whole ones."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)


@schemathesis.hook
def filter_case(ctx: Any, case: Any) -> bool:
    # 1e30 is taken, and a whole number of 31 digits is not. The document cannot tell one from the other.
    return all(-(2**63) <= number < 2**64 for number in numbers(case.body))


@schemathesis.hook
def before_call(ctx: Any, case: Any, kwargs: dict[str, Any]) -> None:
    # A wait may last for 10 minutes, and a verb of a phone too.
    operation = case.operation.definition.raw.get("operationId", "")
    if not NARROWED and isinstance(case.body, dict) and (operation == "wait" or operation.endswith("AsPhone")):
        within = case.body.get("within", "2 s")
        if isinstance(within, str) and DURATION.match(within):
            case.body["within"] = "1 ms"


@schemathesis.hook
def after_call(ctx: Any, case: Any, response: Any) -> None:
    operation = case.operation.definition.raw.get("operationId")
    if operation in ("addPhone", "removePhone", "disconnectAsPhone") and response.status_code < 300:
        restore_phones()
    if operation not in ("addDevice", "removeDevice") or response.status_code >= 300:
        return
    there = [device.name for device in CLIENT.devices()]
    for name in [name for name in there if name not in PROFILES][: max(0, len(there) - DEVICES)]:
        CLIENT.device(name).remove()
    for name, profile in PROFILES.items():
        if name not in there:
            CLIENT.add(profile)


def restore_phones() -> None:
    """Removes phones if there are many, and makes the one that is always there."""
    there = [phone for phone in CLIENT.phones() if phone.name != PHONE]
    for phone in there[: max(0, len(there) - PHONES)]:
        phone.remove()
    if PHONE not in [phone.name for phone in CLIENT.phones()]:
        CLIENT.phone(PHONE)
    try:
        Phone(CLIENT, PHONE).connect("Strap", within="5 s")
    except Problem:
        # The strap may be off the air, by another request.
        pass
