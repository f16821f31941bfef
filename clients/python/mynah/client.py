"""The control API of a running Mynah."""

from __future__ import annotations

import http.client
import json
import numbers
import os
import re
import threading
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union
from urllib.parse import quote, urlencode

from ._connection import Connection, Patience
from ._hold import Hold

if TYPE_CHECKING:
    from . import aio
    from .phone import Phone

#: A match: `"write characteristic=2A39 value=01"`, or the object form of the API.
Match = Union[str, Mapping[str, Any]]
#: How many events an instance lists at most.
_PAGE = 10_000
#: A time with its unit, as `"2 s"`, or a number of seconds.
Time = Union[str, float, int]
#: The units of a time, in seconds.
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(rf" *([0-9]+(?:\.[0-9]{{1,9}})?) *({'|'.join(_UNITS)}) *")
#: How long the answer of a wait may take beyond its own time, in seconds.
_WAIT_GRACE = 20.0
#: How long any other answer may take.
_GRACE = 90.0
#: How long an answer may take if its request moves the time of `--clock manual`: a minute of real time, after
#: that of a request before it.
_MANUAL_GRACE = 150.0
#: The longest wait with the machine's time, in seconds.
_LONGEST_WAIT = 600.0
#: The most bytes of an answer that are read.
_MOST = 256 << 20


class Problem(Exception):
    """An answer that is an error: what happened, where, and how to fix it."""

    def __init__(self, status: int, detail: str, members: Mapping[str, Any]) -> None:
        super().__init__(detail)
        #: The HTTP status.
        self.status = status
        #: The sentence.
        self.detail = detail
        #: The whole problem document.
        self.members = dict(members)


class _EventProblem(Problem):
    def __str__(self) -> str:
        lines = [self.detail]
        for near in self.members.get("nearest", []):
            lines.append(f"  near: {_line(near)}  (differs: {', '.join(near['differs'])})")
        seen = self.members.get("seen")
        if seen:
            lines.append("  seen: " + ", ".join(f"{count} {name}" for name, count in seen.items()))
        return "\n".join(lines)


class WaitFailed(_EventProblem):
    """The events of a wait did not come in time."""


class VerifyFailed(_EventProblem):
    """A verification failed."""


class AdvanceStopped(Problem):
    """An advance of the clock stopped early: its message says how far it came, and why."""


class ScenarioFailed(Exception):
    """A scenario failed: its message says at which step, and why."""

    def __init__(self, end: Mapping[str, Any]) -> None:
        super().__init__(f"scenario {end['scenario']!r} failed at step {end['step']}: {end['message']}")
        #: The event `scenario.ended`.
        self.end = dict(end)


@dataclass(frozen=True)
class Events:
    """Events in the order in which they happened."""

    #: The events, each as the API has it: with `seq`, `event` and `device`.
    events: Sequence[Mapping[str, Any]]
    #: The number to go on from: pass it as `since`.
    next: int

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        return self.events[index]


@dataclass(frozen=True)
class Clock:
    """The clock of a run."""

    #: `real`, or `manual` if only requests move the time.
    name: str
    #: The time, in UTC.
    now: datetime


class Client:
    """A client of the control API.

    `address` is `unix:PATH` or `http://HOST:PORT`; the default is `MYNAH_CONTROL`, or the socket of
    `mynah serve`. Each request has a connection of its own, so that threads may share a client.
    """

    def __init__(self, address: str | None = None, token: str | None = None) -> None:
        self.address = address or os.environ.get("MYNAH_CONTROL") or _default_address()
        self._token = token
        #: The name of its clock, once that is known.
        self._clock_name: str | None = None
        #: The event stream that holds the phones of this client, once there is one.
        self._hold: Hold | None = None
        self._hold_lock = threading.Lock()

    # Devices

    def instance(self) -> dict[str, Any]:
        """The program, its radios, the names of its devices, its clock and its time."""
        return self._request("GET", "/v1")

    # Time

    @property
    def clock(self) -> Clock:
        """The clock and its time."""
        return _clock(self._request("GET", "/v1/clock"))

    def advance(self, by: Time) -> Clock:
        """Moves the time of `--clock manual`, and returns when everything that is due by then is done.

        Raises `AdvanceStopped` if that takes more than a minute of real time, and `Problem` with status 409
        on another clock.
        """
        body = {"by": _time(by, allows_negative=True)}
        return _clock(self._request("POST", "/v1/clock/advance", body, 0.0, _MANUAL_GRACE))

    def devices(self) -> list[Device]:
        """The devices."""
        return [Device(self, each["device"]) for each in self._request("GET", "/v1/devices")["devices"]]

    def device(self, name: str) -> Device:
        """The device of a name, as events have it, or of the file `NAME.yaml`."""
        return Device(self, self._request("GET", f"/v1/devices/{_quoted(name)}")["device"])

    def add(self, profile: str | os.PathLike[str] | Mapping[str, Any], seed: int | None = None) -> Device:
        """Adds a device, by its profile's path or by the profile, and returns when it is on the air."""
        body: dict[str, Any] = {}
        body["profile"] = dict(profile) if isinstance(profile, Mapping) else os.path.abspath(profile)
        if seed is not None:
            body["seed"] = _seed(seed)
        return Device(self, self._request("POST", "/v1/devices", body)["device"])

    # Phones

    def phone(
        self,
        name: str | None = None,
        *,
        radio: str | None = None,
        address: str | None = None,
        io: str | None = None,
        state_directory: str | None = None,
        confirm: bool | None = None,
        passkey: int | str | None = None,
        accept: bool | None = None,
    ) -> Phone:
        """Makes a phone, which connects to devices as the test says; it ends with this process.

        `address` is `identity`, `private` or a static random address, and `io` what it has for pairing, as
        `keyboardDisplay`. With `confirm=False` it confirms no indication. `passkey` and `accept` answer the
        questions of its pairings. `state_directory` is a folder for its bonds below `--state-dir`.
        """
        from . import _phone
        from .phone import Phone

        body = _phone.settings(
            name,
            self._holder(),
            radio=radio,
            address=address,
            io=io,
            state_directory=state_directory,
            confirm=confirm,
            passkey=passkey,
            accept=accept,
        )
        return Phone(self, self._request("POST", "/v1/phones", body)["phone"])

    def phones(self) -> list[Phone]:
        """The phones, also those of other clients."""
        from .phone import Phone

        return [Phone(self, each["phone"]) for each in self._request("GET", "/v1/phones")["phones"]]

    @property
    def aio(self) -> aio.Client:
        """The same for asyncio."""
        from . import aio

        return aio.Client(self)

    def _holder(self) -> str:
        """The name of the event stream with which its phones end."""
        with self._hold_lock:
            if self._hold is None or not self._hold.is_open:
                self._hold = Hold(self.address, self._token)
            return self._hold.name

    def _times(self, within: Time) -> tuple[float, float]:
        """How long an answer takes if its request waits for so long, and how much longer it may take."""
        if self._clock_name is None:
            self._clock_name = self.clock.name
        # The time of another clock does not say how long it takes.
        return (_seconds(within), _WAIT_GRACE) if self._clock_name == "real" else (0.0, _MANUAL_GRACE)

    # Requests

    def answer(
        self,
        request: int | Mapping[str, Any],
        value: bytes | str | Mapping[str, Any] | None = None,
        *,
        error: int | str | None = None,
    ) -> None:
        """Answers a request of a characteristic with `ask`, by its event `request.asked` or its number.

        A read is answered with a value, bytes, text or fields; a write is accepted without one. `error` answers
        either with an ATT error: its code, as 0x80, or its name, as `"insufficientAuthorization"`. Raises
        `Problem` with status 409 if the request has ended.
        """
        number = request if isinstance(request, int) else int(request["id"])
        body: dict[str, Any] = {} if value is None else _value(value)
        if isinstance(error, bool) or not isinstance(error, (int, str, type(None))):
            raise TypeError(
                f'error must be an ATT error, as 0x80 or "insufficientAuthorization", not {error!r}'
            )
        if error is not None:
            body["error"] = error if isinstance(error, str) else f"0x{error:02X}"
        self._request("POST", f"/v1/requests/{number}/answer", body)

    # Events

    def mark(self, name: str) -> int:
        """Names this moment and returns the number of the next event; waits look at what follows."""
        return int(self._request("POST", "/v1/mark", {"name": name})["seq"])

    def wait(
        self, match: Match, *, count: int = 1, within: Time = "2 s", since: int | None = None
    ) -> Events:
        """Waits for events, which may have happened since the last mark.

        Raises `WaitFailed`, which says what came nearest.
        """
        body = {"match": match, "count": count, "within": _time(within), "since": since}
        answer = self._request("POST", "/v1/wait", _without_none(body), *self._times(within))
        return Events(answer["events"], answer["next"])

    def verify(
        self,
        match: Match | None = None,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        never: bool | None = None,
        since: int | None = None,
        order: Sequence[Match] | None = None,
    ) -> int:
        """Checks what has happened since the last mark, and returns how many events match.

        `order` is a list of matches that must have happened in this order, with others between them.
        Raises `VerifyFailed`, which has the timeline.
        """
        body = {
            "match": match,
            "exactly": exactly,
            "atLeast": at_least,
            "never": never,
            "since": since,
            "order": order,
        }
        return int(self._request("POST", "/v1/verify", _without_none(body))["count"])

    def events(self, *, since: int | None = None, match: Match | None = None) -> Events:
        """The events so far."""
        query: dict[str, Any] = _without_none({"since": since, "match": match, "limit": _PAGE})
        if "match" in query and not isinstance(query["match"], str):
            query["match"] = json.dumps(query["match"])
        events: list[Mapping[str, Any]] = []
        while True:
            answer = self._request("GET", "/v1/events?" + urlencode(query))
            events += answer["events"]
            if len(answer["events"]) < _PAGE:
                return Events(events, answer["next"])
            query["since"] = answer["next"]

    def reset(
        self,
        *,
        values: bool | None = None,
        variables: bool | None = None,
        faults: bool | None = None,
        bonds: bool | None = None,
        connections: bool | None = None,
        journal: bool | None = None,
        seed: int | None = None,
    ) -> None:
        """Resets every device to its state at the start: the true parts; if none is, all but the false ones.

        On `manual`, a reset of all parts begins a new history, with this seed or the run's: at
        2026-01-01T00:00:00Z, without the devices that were added.
        """
        body = {
            "values": values,
            "variables": variables,
            "faults": faults,
            "bonds": bonds,
            "connections": connections,
            "journal": journal,
            "seed": None if seed is None else _seed(seed),
        }
        self._request("POST", "/v1/reset", _without_none(body))

    def report(self, form: str = "json") -> Any:
        """A case for each mark: `json` as an object, or `junit` as text."""
        return self._request("GET", f"/v1/report?format={form}")

    # HTTP

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        within: float = 0.0,
        grace: float = _GRACE,
    ) -> Any:
        headers = {"Accept": "application/json", "Connection": "close"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            data = _json(body)
            headers["Content-Type"] = "application/json"
        name = f"{method} {path} at {self.address}"
        connection = Connection(self.address, Patience(name, within, grace))
        try:
            connection.request(method, path, body=data, headers=headers)
            response = connection.getresponse()
            text = response.read(_MOST + 1)
            if len(text) > _MOST:
                raise ConnectionError(f"{name} has an answer that is not mynah's: more than {_MOST >> 20} MB")
            return _answer(response, text)
        except (http.client.HTTPException, ValueError, RecursionError) as error:
            # `RemoteDisconnected` is both.
            if isinstance(error, OSError):
                raise
            raise _not_whole(name, error) from error
        finally:
            connection.end()

    def _cause(self, error: OSError) -> OSError:
        """The reason why a request failed, after its connection did."""
        return error


class Device:
    """A device of a running Mynah. Attributes are named as in profiles: `180D/2A39`."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        #: Its name in events.
        self.name = name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def info(self) -> dict[str, Any]:
        """Its state: advertising, centrals, attributes."""
        return dict(self._client._request("GET", self._path))

    @property
    def centrals(self) -> list[dict[str, Any]]:
        """The connected centrals."""
        return list(self.info()["centrals"])

    def get(self, attribute: str) -> bytes:
        """The value of an attribute."""
        return bytes.fromhex(self._client._request("GET", self._value(attribute))["value"])

    def fields(self, attribute: str) -> dict[str, Any] | None:
        """The fields of an attribute's value, or `None` if no layout is known or the value does not fit it."""
        return self._client._request("GET", self._value(attribute)).get("fields")

    def set(
        self,
        attribute: str,
        value: bytes | str | Mapping[str, Any],
        *,
        notify: bool = False,
        to: str | None = None,
    ) -> int | None:
        """Sets the value of an attribute, bytes, text or fields; returns how many centrals it was sent to.

        Fields are written as in a profile, as in `{"heartRate": 72, "rrIntervals": ["0.83 s"]}`.

        The number is `None` if the radio does not tell it, as BlueZ.
        """
        body = _value(value)
        if notify:
            body["notify"] = True
        if to is not None:
            body["to"] = to
        return self._client._request("PUT", self._value(attribute), body).get("sent")

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of its profile, and their values."""
        return dict(self.info()["variables"])

    def set_variable(self, name: str, value: float | str) -> None:
        """Sets a variable, until it is reset; values that read it change."""
        self._client._request("PUT", f"{self._path}/variables/{_quoted(name)}", {"value": value})

    def disconnect(self, central: str | None = None, *, reason: str | None = None) -> None:
        """Ends the connection of a central, or of all; `reason` is an error code, as `"0x15"`."""
        self._act("disconnect", {"central": central, "reason": reason})

    def forget(self, central: str | None = None, *, peripheral: str | None = None) -> None:
        """Deletes the bond of a central, or all bonds.

        `peripheral` is one of its profile: its phone forgets it, as a user does in Settings.
        """
        self._act("forget", {"central": central, "peripheral": peripheral})

    def advertise(
        self,
        on: bool | None = None,
        *,
        local_name: str | None = None,
        service_uuids: Sequence[str] | None = None,
        set_name: str | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        """Changes what it advertises, until it is reset.

        `fields` has any keys of a profile's advertising, as `{"flags": "none", "txPower": "4 dBm"}`, and
        `set_name` is one of several sets.
        """
        named = {"on": on, "localName": local_name, "serviceUUIDs": service_uuids, "set": set_name}
        self._act("advertise", {**(fields or {}), **named})

    def app(self, state: str, *, peripheral: str | None = None) -> None:
        """Changes the state of its app, with a word of `mynah run --at`, as `background`.

        `poweredOff`, `poweredOn`, `settingsOff`, `controlCenterOff`, `airplaneMode`, `restart`, `unlock`,
        `screenOff`, `screenOn`, `forget`, `openAlert` and `dismissAlert` are for the app's phone. `peripheral`
        names one of its profile for `forget`, `accessory` and `removeAccessory`.
        """
        self._act("app", {"state": state, "peripheral": peripheral})

    def enter_passkey(self, passkey: int | str, central: str) -> None:
        """Types the number that the pairing with a central asks for, as `pairing.passkey` names it."""
        text = passkey if isinstance(passkey, str) else f"{passkey:06}"
        self._act("passkey", {"passkey": text, "central": central})

    def alert(self, message: str, **keys: Any) -> int:
        """Shows a notification on its phone, and returns its UID; `keys` are those of a profile's notification.

        With `uid` it replaces the notification with that UID.
        """
        body = {"message": message, **keys}
        return int(self._client._request("POST", f"{self._path}/alert", body)["uid"])

    def remove_alert(self, uid: int) -> None:
        """Removes a notification from its phone."""
        self._act("alert", {"remove": uid})

    def type(self, text: str, *, gap: Time | None = None) -> int:
        """Types a text on its keyboard, with this time after each press and release; returns how many keys these are.

        It returns at once, and the keys are sent as time goes on.
        """
        body: dict[str, Any] = {"text": text}
        if gap is not None:
            body["gap"] = _time(gap)
        return int(self._client._request("POST", f"{self._path}/type", body)["keys"])

    # Faults

    def faults(self) -> list[dict[str, Any]]:
        """Its faults: the name of each, whether it is off, and how often it was applied since it was turned on."""
        return list(self._client._request("GET", f"{self._path}/faults")["faults"])

    def fault(self, name: str, *, off: bool = False) -> None:
        """Turns a fault on, or off; one that is turned on counts from zero."""
        self._client._request("PATCH", self._fault(name), {"off": off})

    def add_fault(self, fault: Mapping[str, Any]) -> None:
        """Adds a fault until the faults are reset; it is written as in a profile."""
        self._client._request("POST", f"{self._path}/faults", dict(fault))

    def remove_fault(self, name: str) -> None:
        """Removes a fault until the faults are reset."""
        self._client._request("DELETE", self._fault(name))

    # Scenarios

    def start_scenario(self, name: str) -> int:
        """Starts a scenario of its profile; returns the number of the next event, for a wait for `scenario.ended`."""
        return int(self._client._request("POST", f"{self._path}/scenarios/{_quoted(name)}", {})["seq"])

    def scenario(self, name: str, *, within: Time = "1 min") -> dict[str, Any]:
        """Plays a scenario of its profile, and returns the event of its end.

        Raises `ScenarioFailed` if it fails, and `WaitFailed` if it has not ended within this time, of at
        most 10 minutes, or a day with the clock `manual`.
        """
        since = self.start_scenario(name)
        match = {"event": "scenario.ended", "device": self.name, "scenario": name}
        end = self._client.wait(match, within=within, since=since)[0]
        if end["result"] != "pass":
            raise ScenarioFailed(end)
        return dict(end)

    def remove(self) -> None:
        """Takes it off the air."""
        self._client._request("DELETE", self._path)

    @property
    def _path(self) -> str:
        return f"/v1/devices/{_quoted(self.name)}"

    def _fault(self, name: str) -> str:
        return f"{self._path}/faults/{_quoted(name)}"

    def _value(self, attribute: str) -> str:
        return f"{self._path}/values/" + "/".join(_quoted(step) for step in attribute.split("/"))

    def _act(self, verb: str, body: Mapping[str, Any]) -> None:
        self._client._request("POST", f"{self._path}/{verb}", _without_none(body))


def _answer(response: http.client.HTTPResponse, text: bytes) -> Any:
    """The body of a response, or the problem that it is raised as."""
    if response.length:
        raise http.client.IncompleteRead(text, response.length)
    value: Any = text.decode(errors="replace")
    if response.headers.get_content_type() in ("application/json", "application/problem+json"):
        value = json.loads(text)
    if response.status >= 400:
        raise _problem(response.status, value)
    return value


def _not_whole(name: str, error: Exception) -> ConnectionError:
    return ConnectionError(
        f"{name} has an answer that is not whole, or not mynah's: {str(error) or repr(error)}"
    )


def _problem(status: int, value: Any) -> Problem:
    members = value if isinstance(value, dict) else {}
    detail = members.get("detail") or str(value)
    kind = {408: WaitFailed, 422: VerifyFailed}.get(status, Problem)
    if "advanced" in members:
        kind = AdvanceStopped
    return kind(status, detail, members)


def _clock(answer: Mapping[str, Any]) -> Clock:
    # Python 3.9 reads no "Z".
    return Clock(answer["clock"], datetime.fromisoformat(answer["now"].replace("Z", "+00:00")))


def _line(event: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in event.items() if key not in ("seq", "time", "event", "differs")}
    return f"{event['event']} " + " ".join(f"{key}={value}" for key, value in rest.items())


def _default_address() -> str:
    directory = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return f"unix:{directory}/mynah.sock"


def _quoted(text: str) -> str:
    return quote(text, safe="~@")


def _value(value: bytes | str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"hex": value.hex()}
    if isinstance(value, Mapping):
        return {"fields": dict(value)}
    raise TypeError(
        f"value must be bytes, text or fields, as b\"\\x2a\", \"on\" or {{'level': 42}}, not {value!r}"
    )


def _without_none(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value is not None}


def _json(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except ValueError as error:
        raise ValueError(f"a request takes finite numbers only, not NaN or infinity: {dict(body)!r}") from error


def _time(time: Time, allows_negative: bool = False) -> str:
    """A time as the API takes it; the API itself says that time does not go back."""
    if isinstance(time, str):
        if time.lstrip().startswith("-") and not allows_negative:
            raise ValueError(_negative(time))
        return time
    if isinstance(time, bool) or not isinstance(time, numbers.Real):
        raise TypeError(f'a time is a number of seconds, as 0.5, or text with a unit, as "2 s", not {time!r}')
    try:
        milliseconds = round(float(time) * 1000)
    except (OverflowError, ValueError):
        raise ValueError(f"a time has an end, and {time!r} has none; the longest wait is 10 min") from None
    if time < 0 and not allows_negative:
        raise ValueError(_negative(time))
    return f"{milliseconds} ms"


def _negative(time: Time) -> str:
    return f'a time is 0 or more, as 0.5 or "2 s", not {time!r}'


def _seed(seed: int) -> int | str:
    # Numbers of JSON that a server reads as whole ones have 63 bits.
    return seed if seed < 2**63 else str(seed)


def _seconds(time: Time) -> float:
    """How long a wait with this time lasts at most; 0 if the server will refuse it."""
    try:
        return min(max(_limit(time), 0.0), _LONGEST_WAIT)
    except ValueError:
        return 0.0


def _limit(time: Time) -> float:
    """A time in seconds."""
    text = _time(time)
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f'a time has a number and a unit, as "500 ms", "2 s" or "1 min"; {text!r} has not')
    return float(match[1]) * _UNITS[match[2]]
