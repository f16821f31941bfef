"""Scenarios: what each needs of the machine, and how they are told from one another."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lab.adapter import Adapter
from lab.air import Air
from lab.capabilities import Capabilities
from lab.mynah import Mynah
from lab.phone import Characteristic, Phone, Refused
from lab.places import CHECKOUT, RESULTS, WORK
from lab.services import Services

PROFILES = CHECKOUT / "Tests" / "Lab" / "profiles"


def order() -> dict:
    """The order of the lab's program on the host."""
    return json.loads((RESULTS / "order.json").read_text())


class Skipped(Exception):
    """A capability that the radio does not have rules the scenario out; the text names the capability."""


class Failed(AssertionError):
    pass


@dataclass
class Scenario:
    topic: str
    sentence: str
    run: Callable[["Lab"], Awaitable[None]]
    profile: str | None
    options: tuple[str, ...]
    daemon: str | None
    fresh: bool
    limit: float
    needs: tuple[str, ...]

    def check(self, capabilities: Capabilities) -> None:
        """Rules itself out, by what the radio cannot do."""
        if missing := [each for each in self.needs if not getattr(capabilities, each)]:
            raise Skipped(f"the radio has no {', '.join(missing)}")


REGISTERED: list[Scenario] = []


def scenario(
    profile: str | None = None, *, options: tuple[str, ...] = (), daemon: str | None = "experimental",
    fresh: bool = False, limit: float = 120, needs: tuple[str, ...] = (),
):  # fmt: skip
    """Marks a scenario; its docstring is its name. `daemon`: how bluetoothd runs (None: the scenario says itself);
    `profile`: played when it starts, by a mynah that other scenarios may have used before unless `fresh`;
    `needs`: the capabilities without which there is nothing to look at."""

    def register(function):
        sentence = " ".join(inspect.getdoc(function).split())
        topic = function.__module__.removeprefix("scenarios.")
        REGISTERED.append(Scenario(topic, sentence, function, profile, options, daemon, fresh, limit, needs))
        return function

    return register


@dataclass
class Lab:
    """The parts that a scenario uses."""

    results: Path
    air: Air
    adapter: Adapter
    services: Services
    phone: Phone
    second: Phone
    capabilities: Capabilities
    mynah: Mynah

    async def play(self, profile: str | Path, *options: str, ready: bool = True, **more) -> Mynah:
        """Ends what plays and plays this profile, a file of Tests/Lab/profiles or any path."""
        await self.mynah.stop()
        self.mynah = Mynah(self.adapter.radio, self.results)
        path = profile if isinstance(profile, Path) else PROFILES / profile
        await self.mynah.start(path, *options, ready=ready, **more)
        return self.mynah

    def variant(self, profile: str, name: str, old: str, new: str) -> Path:
        """A profile that differs from a written one in one place."""
        original = (PROFILES / profile).read_text()
        if original.count(old) != 1:
            raise Failed(f"{profile} holds {old!r} {original.count(old)} times")
        return self.written(name, original.replace(old, new))

    def written(self, name: str, text: str) -> Path:
        path = WORK / name
        path.write_text(text)
        return path

    async def meet(self, phone: Phone | None = None, discover: bool = True) -> Phone:
        """The phone (the first, unless said) finds the device, connects and discovers it."""
        phone = phone or self.phone
        await phone.find(self.adapter.address)
        await phone.connect(self.adapter.address)
        if discover:
            await phone.discover()
        return phone

    async def instances(self) -> int:
        return await self.services.instances()


def uuid(number: int) -> str:
    """The lab profiles' own 128-bit UUIDs, told apart by their second group."""
    return f"6D796E61-{number:04X}-4C61-8000-6C6162000000"


def of(phone: Phone, number: int) -> Characteristic:
    return phone.characteristic(uuid(number))


# Expectations. They say what was wanted and what was found, for the one who reads the closing lines.


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Failed(f"{what}: wanted {show(wanted)}, found {show(found)}")


def expect_that(true: object, what: str) -> None:
    if not true:
        raise Failed(what)


async def expect_refusal(code: int, request: Awaitable, what: str) -> None:
    try:
        found = await request
    except Refused as refused:
        if refused.code != code:
            raise Failed(f"{what}: wanted the error {code:#04x}, got {refused.code:#04x}") from None
        return
    raise Failed(f"{what}: wanted the error {code:#04x}, got an answer {show(found)}")


def show(value: object) -> str:
    if isinstance(value, bytes):
        return f"{value[:64].hex()}{'…' if len(value) > 64 else ''} ({len(value)} bytes)"
    try:
        return json.dumps(value)
    except TypeError:
        return repr(value)
