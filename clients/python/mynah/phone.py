"""A phone in the test's hand: it finds devices, connects, reads, writes and subscribes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _phone
from ._phone import CONNECT, SCAN, VERB, Heard, Parameters, Time, Value
from .client import Problem, _time

if TYPE_CHECKING:
    from .client import Client


class Phone:
    """A phone of a running Mynah. It ends with `remove`, at the end of `with`, and with its client."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        #: Its name in events.
        self.name = name

    def __repr__(self) -> str:
        return f"Phone({self.name!r})"

    def info(self) -> dict[str, Any]:
        """Its state: radio, address, and the peripherals that it is connected to."""
        return dict(self._client._request("GET", _phone.path(self.name)))

    def scan(
        self,
        peripheral: str | None = None,
        *,
        name: str | None = None,
        address: str | None = None,
        services: Sequence[str] = (),
        count: int | None = None,
        within: Time = SCAN,
    ) -> list[Heard]:
        """The peripherals that it hears in this time, or the first `count` of them.

        `peripheral` is a name or an address. Each condition that is given must hold.
        """
        body = _phone.search(peripheral, name, address, services, within)
        if count is not None:
            body["count"] = count
        return _phone.heard(self._verb("scan", body, within))

    def connect(
        self,
        peripheral: str | None = None,
        *,
        name: str | None = None,
        address: str | None = None,
        services: Sequence[str] = (),
        within: Time = CONNECT,
    ) -> Peripheral:
        """Connects to the first device with a name, an address or one of these services.

        Returns when its services are discovered.
        """
        body = _phone.search(peripheral, name, address, services, within)
        return Peripheral(self, self._verb("connect", body, within))

    def enter_passkey(self, passkey: int | str) -> None:
        """Types the passkey that a pairing asks for, as the event `pairing.passkey` says."""
        self._verb("passkey", {"passkey": _phone.digits(passkey)}, VERB)

    def remove(self) -> None:
        """Ends it, with its links."""
        self._client._request("DELETE", _phone.path(self.name))

    def __enter__(self) -> Phone:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.remove()
        except Problem as problem:
            # It has ended.
            if problem.status != 404:
                raise

    def _verb(self, verb: str, body: Mapping[str, Any], within: Time) -> Any:
        times = self._client._times(within)
        try:
            return self._client._request("POST", _phone.path(self.name, verb), body, *times)
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

    def discover(self, services: Sequence[str] = (), *, within: Time = VERB) -> list[dict[str, Any]]:
        """Discovers all its services again, or those of these types."""
        self.services = self._verb("discover", within, services=list(services) or None)["services"]
        return self.services

    def read(self, attribute: str, *, within: Time = VERB) -> Value:
        """Reads a value; the phone pairs if the device requires that."""
        return _phone.value(self._verb("read", within, of=attribute))

    def write(
        self, attribute: str, value: bytes | str | Mapping[str, Any], *, within: Time = VERB
    ) -> None:
        """Writes a value, bytes, text or fields, and waits for the response."""
        self._verb("write", within, of=attribute, **_phone.written(value))

    def command(
        self, attribute: str, value: bytes | str | Mapping[str, Any], *, within: Time = VERB
    ) -> None:
        """Writes a value without response."""
        self._verb("command", within, of=attribute, **_phone.written(value))

    def subscribe(self, attribute: str, *, within: Time = VERB) -> Subscription:
        """Subscribes to the values of a characteristic; at the end of `with` it unsubscribes."""
        return Subscription(self, attribute, self._verb("subscribe", within, of=attribute))

    def unsubscribe(self, attribute: str, *, within: Time = VERB) -> None:
        """Unsubscribes from the values of a characteristic."""
        self._verb("unsubscribe", within, of=attribute)

    def pair(
        self, *, passkey: int | str | None = None, accept: bool | None = None, within: Time = VERB
    ) -> None:
        """Pairs, or encrypts the link with the keys of the bond.

        `passkey` is entered if the pairing asks for it, and with `accept=False` the phone declines.
        """
        self._verb("pair", within, passkey=_phone.digits(passkey), accept=accept)

    def forget(self) -> None:
        """Deletes the bond."""
        self._verb("forget", VERB)

    def exchange_mtu(self, *, within: Time = VERB) -> int:
        """Exchanges the ATT_MTU, once on a link, and returns it."""
        self.mtu = int(self._verb("mtu", within)["mtu"])
        return self.mtu

    def set_parameters(
        self,
        interval: Time,
        *,
        interval_maximum: Time | None = None,
        latency: int | None = None,
        supervision_timeout: Time | None = None,
        within: Time = VERB,
    ) -> Parameters:
        """Changes the parameters of the connection, and returns the new ones."""
        answer = self._verb(
            "parameters",
            within,
            interval=_time(interval),
            intervalMaximum=None if interval_maximum is None else _time(interval_maximum),
            latency=latency,
            supervisionTimeout=None if supervision_timeout is None else _time(supervision_timeout),
        )
        return _phone.parameters(answer)

    def disconnect(self) -> None:
        """Ends the link."""
        self._verb("disconnect", VERB)

    def _verb(self, verb: str, within: Time, **members: Any) -> Any:
        return self._phone._verb(verb, _phone.on(self.address, within, **members), within)


class Subscription:
    """The values that a device sends of a characteristic."""

    def __init__(self, peripheral: Peripheral, attribute: str, answer: Mapping[str, Any]) -> None:
        self._peripheral = peripheral
        #: The characteristic.
        self.attribute = attribute
        self._match = _phone.updates(peripheral._phone.name, peripheral.address, answer)
        self._next: int = answer["seq"]

    def next(self, *, within: Time = "2 s") -> Value:
        """The next value, which may have come already; raises `WaitFailed` if none comes in time."""
        client = self._peripheral._phone._client
        events = client.wait(self._match, within=within, since=self._next)
        self._next = events.next
        return _phone.value(events[0])

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._peripheral.unsubscribe(self.attribute)
        except Problem as problem:
            # The link may have ended, and a test that has failed says why itself.
            if kind is None and not isinstance(problem, _phone.NotConnected):
                raise
