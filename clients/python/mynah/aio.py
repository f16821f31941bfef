"""The client, its devices and its phones for asyncio.

    async def test_lock(mynah):
        phone = await mynah.aio.phone()
        door = await phone.connect("Lock")
        async with await door.subscribe("180D/2A37") as values:
            value = await values.next(within=5)

A task that is cancelled ends its request, and the verb with it.
"""

from __future__ import annotations

import asyncio
import http.client
import io
from typing import Any, Mapping, Sequence
from urllib.parse import urlsplit

from . import _phone
from . import client as sync
from ._phone import CONNECT, SCAN, VERB, Heard, Parameters, Time, Value
from .client import Events, Match, Problem, _answer, _json, _not_whole, _time, _without_none

__all__ = ["Client", "Peripheral", "Phone", "Subscription"]


class _Bytes:
    """The bytes of a response, as `HTTPResponse` reads them from a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


async def _exchange(client: sync.Client, method: str, path: str, body: bytes | None) -> bytes:
    """Sends a request on a connection of its own, and returns the whole response."""
    if client.address.startswith("unix:"):
        reader, writer = await asyncio.open_unix_connection(client.address[len("unix:") :])
        host = "localhost"
    else:
        address = client.address
        parts = urlsplit(address if "//" in address else "http://" + address)
        host = parts.netloc
        reader, writer = await asyncio.open_connection(parts.hostname or "127.0.0.1", parts.port or 80)
    try:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Accept: application/json", "Connection: close"]
        if client._token is not None:
            lines.append(f"Authorization: Bearer {client._token}")
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        await writer.drain()
        return await reader.read()
    finally:
        # A connection that is closed early ends its request.
        writer.transport.abort()


class Client:
    """The control API of a running Mynah for asyncio; `Client(...).aio` and the fixture's `aio` are one, too."""

    def __init__(
        self, client: sync.Client | str | None = None, token: str | None = None
    ) -> None:
        #: The client whose instance this one uses.
        if not isinstance(client, sync.Client):
            client = sync.Client(client, token)
        self.sync = client

    async def phone(
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
        """Makes a phone, as `mynah.Client.phone` does."""
        # The stream that holds it is opened once.
        holder = await asyncio.get_running_loop().run_in_executor(None, self.sync._holder)
        body = _phone.settings(
            name,
            holder,
            radio=radio,
            address=address,
            io=io,
            state_directory=state_directory,
            confirm=confirm,
            passkey=passkey,
            accept=accept,
        )
        return Phone(self, (await self._request("POST", "/v1/phones", body))["phone"])

    async def phones(self) -> list[Phone]:
        """The phones, also those of other clients."""
        return [Phone(self, each["phone"]) for each in (await self._request("GET", "/v1/phones"))["phones"]]

    async def mark(self, name: str) -> int:
        """Names this moment and returns the number of the next event; waits look at what follows."""
        return int((await self._request("POST", "/v1/mark", {"name": name}))["seq"])

    async def wait(
        self, match: Match, *, count: int = 1, within: Time = "2 s", since: int | None = None
    ) -> Events:
        """Waits for events, as `mynah.Client.wait` does."""
        body = {"match": match, "count": count, "within": _time(within), "since": since}
        answer = await self._request("POST", "/v1/wait", _without_none(body), *await self._times(within))
        return Events(answer["events"], answer["next"])

    async def verify(
        self,
        match: Match | None = None,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        never: bool | None = None,
        since: int | None = None,
        order: Sequence[Match] | None = None,
    ) -> int:
        """Checks what has happened, as `mynah.Client.verify` does."""
        body = {
            "match": match,
            "exactly": exactly,
            "atLeast": at_least,
            "never": never,
            "since": since,
            "order": order,
        }
        return int((await self._request("POST", "/v1/verify", _without_none(body)))["count"])

    async def _times(self, within: Time) -> tuple[float, float]:
        if self.sync._clock_name is None:
            self.sync._clock_name = (await self._request("GET", "/v1/clock"))["clock"]
        return self.sync._times(within)

    async def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        within: float = 0.0,
        grace: float = sync._GRACE,
    ) -> Any:
        name = f"{method} {path} at {self.sync.address}"
        data = None if body is None else _json(body)
        try:
            try:
                whole = await asyncio.wait_for(
                    _exchange(self.sync, method, path, data), within + grace
                )
            except asyncio.TimeoutError:
                raise TimeoutError(f"{name} has no whole answer after {within + grace:g} s") from None
            response = http.client.HTTPResponse(_Bytes(whole), method=method)  # type: ignore[arg-type]
            try:
                response.begin()
                return _answer(response, response.read())
            except (http.client.HTTPException, ValueError, RecursionError) as error:
                if isinstance(error, OSError):
                    raise
                raise _not_whole(name, error) from error
        except OSError as error:
            if isinstance(error, Problem):
                raise
            cause = await asyncio.get_running_loop().run_in_executor(None, self.sync._cause, error)
            if cause is error:
                raise
            raise cause from None


class Phone:
    """A phone of a running Mynah. It ends with `remove`, at the end of `async with`, and with its client."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        #: Its name in events.
        self.name = name

    def __repr__(self) -> str:
        return f"Phone({self.name!r})"

    async def info(self) -> dict[str, Any]:
        """Its state: radio, address, and the peripherals that it is connected to."""
        return dict(await self._client._request("GET", _phone.path(self.name)))

    async def scan(
        self,
        peripheral: str | None = None,
        *,
        name: str | None = None,
        address: str | None = None,
        services: Sequence[str] = (),
        count: int | None = None,
        within: Time = SCAN,
    ) -> list[Heard]:
        """The peripherals that it hears in this time, or the first `count` of them."""
        body = _phone.search(peripheral, name, address, services, within)
        if count is not None:
            body["count"] = count
        return _phone.heard(await self._verb("scan", body, within))

    async def connect(
        self,
        peripheral: str | None = None,
        *,
        name: str | None = None,
        address: str | None = None,
        services: Sequence[str] = (),
        within: Time = CONNECT,
    ) -> Peripheral:
        """Connects to the first device with a name, an address or one of these services."""
        body = _phone.search(peripheral, name, address, services, within)
        return Peripheral(self, await self._verb("connect", body, within))

    async def enter_passkey(self, passkey: int | str) -> None:
        """Types the passkey that a pairing asks for, as the event `pairing.passkey` says."""
        await self._verb("passkey", {"passkey": _phone.digits(passkey)}, VERB)

    async def remove(self) -> None:
        """Ends it, with its links."""
        await self._client._request("DELETE", _phone.path(self.name))

    async def __aenter__(self) -> Phone:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.remove()
        except Problem as problem:
            # It has ended.
            if problem.status != 404:
                raise

    async def _verb(self, verb: str, body: Mapping[str, Any], within: Time) -> Any:
        times = await self._client._times(within)
        try:
            return await self._client._request("POST", _phone.path(self.name, verb), body, *times)
        except Problem as raised:
            raise _phone.problem(raised) from None


class Peripheral:
    """A device that a phone is connected to. Attributes are named as in profiles: `180D/2A39`."""

    def __init__(self, phone: Phone, answer: Mapping[str, Any]) -> None:
        self._phone = phone
        #: Its address.
        self.address: str = answer["address"]
        #: Its name, if it has one.
        self.name: str | None = answer.get("name")
        #: The ATT_MTU of the link, in bytes.
        self.mtu: int = answer["mtu"]
        #: Its services, as the API has them.
        self.services: list[dict[str, Any]] = answer["services"]

    def __repr__(self) -> str:
        return f"Peripheral({self.name or self.address!r})"

    async def discover(self, services: Sequence[str] = (), *, within: Time = VERB) -> list[dict[str, Any]]:
        """Discovers all its services again, or those of these types."""
        self.services = (await self._verb("discover", within, services=list(services) or None))["services"]
        return self.services

    async def read(self, attribute: str, *, within: Time = VERB) -> Value:
        """Reads a value; the phone pairs if the device requires that."""
        return _phone.value(await self._verb("read", within, of=attribute))

    async def write(
        self, attribute: str, value: bytes | str | Mapping[str, Any], *, within: Time = VERB
    ) -> None:
        """Writes a value, bytes, text or fields, and waits for the response."""
        await self._verb("write", within, of=attribute, **_phone.written(value))

    async def command(
        self, attribute: str, value: bytes | str | Mapping[str, Any], *, within: Time = VERB
    ) -> None:
        """Writes a value without response."""
        await self._verb("command", within, of=attribute, **_phone.written(value))

    async def subscribe(self, attribute: str, *, within: Time = VERB) -> Subscription:
        """Subscribes to the values of a characteristic; at the end of `async with` it unsubscribes."""
        return Subscription(self, attribute, await self._verb("subscribe", within, of=attribute))

    async def unsubscribe(self, attribute: str, *, within: Time = VERB) -> None:
        """Unsubscribes from the values of a characteristic."""
        await self._verb("unsubscribe", within, of=attribute)

    async def pair(
        self, *, passkey: int | str | None = None, accept: bool | None = None, within: Time = VERB
    ) -> None:
        """Pairs, or encrypts the link with the keys of the bond."""
        await self._verb("pair", within, passkey=_phone.digits(passkey), accept=accept)

    async def forget(self) -> None:
        """Deletes the bond."""
        await self._verb("forget", VERB)

    async def exchange_mtu(self, *, within: Time = VERB) -> int:
        """Exchanges the ATT_MTU, once on a link, and returns it."""
        self.mtu = int((await self._verb("mtu", within))["mtu"])
        return self.mtu

    async def set_parameters(
        self,
        interval: Time,
        *,
        interval_maximum: Time | None = None,
        latency: int | None = None,
        supervision_timeout: Time | None = None,
        within: Time = VERB,
    ) -> Parameters:
        """Changes the parameters of the connection, and returns the new ones."""
        answer = await self._verb(
            "parameters",
            within,
            interval=_time(interval),
            intervalMaximum=None if interval_maximum is None else _time(interval_maximum),
            latency=latency,
            supervisionTimeout=None if supervision_timeout is None else _time(supervision_timeout),
        )
        return _phone.parameters(answer)

    async def disconnect(self) -> None:
        """Ends the link."""
        await self._verb("disconnect", VERB)

    async def _verb(self, verb: str, within: Time, **members: Any) -> Any:
        return await self._phone._verb(verb, _phone.on(self.address, within, **members), within)


class Subscription:
    """The values that a device sends of a characteristic."""

    def __init__(self, peripheral: Peripheral, attribute: str, answer: Mapping[str, Any]) -> None:
        self._peripheral = peripheral
        #: The characteristic.
        self.attribute = attribute
        self._match = _phone.updates(peripheral._phone.name, peripheral.address, answer)
        self._next: int = answer["seq"]

    async def next(self, *, within: Time = "2 s") -> Value:
        """The next value, which may have come already; raises `WaitFailed` if none comes in time."""
        client = self._peripheral._phone._client
        events = await client.wait(self._match, within=within, since=self._next)
        self._next = events.next
        return _phone.value(events[0])

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            await self._peripheral.unsubscribe(self.attribute)
        except Problem as problem:
            # The link may have ended, and a test that has failed says why itself.
            if kind is None and not isinstance(problem, _phone.NotConnected):
                raise
