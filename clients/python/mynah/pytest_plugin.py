"""The pytest fixture `mynah`.

    def test_alarm(mynah):
        strap = mynah("heart-rate.yaml")
        strap.set("2A37", b"\\x00\\xc8", notify=True)
        mynah.wait("write of=180D/2A39 value=01")

One Mynah for each clock serves all tests of a session. A test begins with a reset and a mark of its name, and
what it adds is taken off the air when it ends. A test that fails gets its events in the report, and a capture
in its temporary folder. If its Mynah ends by itself, the test says how, and the next test has a new one.

With `@pytest.mark.mynah(clock="manual", seed=7)` or `--mynah-clock manual`, time stops until a request
needs it or `mynah.advance("15 min")` moves it. Each test is a history of its own, which follows from its seed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import tempfile
import threading
import warnings
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Tuple, Union

import pytest

from ._capture import Capture
from .client import Client, Device, Problem
from .phone import Phone
from .process import Mynah, ServerEnded

if TYPE_CHECKING:
    from .bleak import DefaultBackend

#: The client of a Mynah, and its capture.
#:
#: Instead of the capture, text says why there is none, and `None` is for a Mynah that was started elsewhere.
_Session = Tuple[Client, Union[Capture, str, None]]
_CLOCKS = ("real", "manual")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mynah")
    group.addoption("--mynah", metavar="PROGRAM", help="the program (default: MYNAH, or mynah on the path)")
    group.addoption("--mynah-radio", metavar="RADIO", default="virtual", help="the radio (default: virtual)")
    group.addoption(
        "--mynah-control", metavar="ADDRESS", help="use the Mynah that runs at this address; start none"
    )
    group.addoption(
        "--mynah-clock", metavar="CLOCK", choices=_CLOCKS, default="real", help="real (the default) or manual"
    )
    group.addoption(
        "--mynah-seed", metavar="SEED", type=int, help="the seed (default: on manual, a random one)"
    )
    parser.addini("mynah_profiles", "the directory of profiles, from the root of the tests", default=".")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mynah(clock, seed): the clock of Mynah, real or manual, and the seed")


class Fixture:
    """The fixture `mynah` of a test: call it with a profile to get a device; the rest is a `Client`'s."""

    def __init__(
        self,
        client: Client,
        directories: list[Path],
        capture: Capture | str | None,
        folders: pytest.TempPathFactory,
        seed: int | None,
        command: str,
    ) -> None:
        #: The client of the Mynah that plays the devices.
        self.client = client
        #: The seed of generated values, and on `manual` of everything; `None` if each value is random.
        self.seed = seed
        self._command = command
        self._capture = capture
        self._folders = folders
        self._directories = directories
        self._added: list[Device] = []
        #: How long the log was when the test began.
        self._log_start = client.log_size if isinstance(client, Mynah) else 0

    def __call__(
        self, profile: str | os.PathLike[str] | Mapping[str, Any], seed: int | None = None
    ) -> Device:
        """The device of a profile: a file, which is looked for beside the test first, or an object.

        It is added, and taken off the air after the test.
        """
        source = profile if isinstance(profile, Mapping) else self._path(profile)
        device = self.client.add(source, self.seed if seed is None else seed)
        self._added.append(device)
        return device

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def _path(self, profile: str | os.PathLike[str]) -> Path:
        for directory in self._directories:
            if (directory / profile).exists():
                return (directory / profile).resolve()
        places = ", ".join(map(str, self._directories))
        raise FileNotFoundError(f"there is no profile {profile} in {places}")

    def _folder(self, item: pytest.Item) -> Path:
        folder = getattr(item, "funcargs", {}).get("tmp_path")
        if isinstance(folder, Path):
            return folder
        # As `tmp_path` would name it; a test that passes leaves none.
        return self._folders.mktemp(re.sub(r"\W", "_", item.name)[:30])

    def _begin(self, name: str, seed: int | None) -> None:
        self.client.reset(seed=seed)
        self.client.mark(name)
        if isinstance(self._capture, Capture):
            self._capture.begin()

    def _end_phones(self) -> None:
        """Ends the phones of this client, whose links would be lost with the devices."""
        hold = self.client._hold
        if hold is None or not _is_of_use(self.client):
            return
        for each in self.client._request("GET", "/v1/phones")["phones"]:
            if each.get("holder") == hold.name:
                with suppress(Problem):
                    Phone(self.client, each["phone"]).remove()

    def _end(self) -> None:
        try:
            self._end_phones()
            # The phone goes before the devices that it is connected to.
            while self._added and _is_of_use(self.client):
                try:
                    self._added.pop().remove()
                except Problem as problem:
                    # The test has removed it.
                    if problem.status != 404:
                        raise
        except ServerEnded:
            pass
        if (ended := _ended(self.client)) and not self.client._end_is_reported:
            self.client._end_is_reported = True
            pytest.fail(ended, pytrace=False)


def _ended(client: Client) -> str | None:
    """How a Mynah of the tests ended by itself, or `None`."""
    return client.ended if isinstance(client, Mynah) else None


def _is_of_use(client: Client) -> bool:
    """Whether a Mynah of the tests runs, and has answered its last request."""
    return not isinstance(client, Mynah) or (client.is_running and not client._is_silent)


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the tests as Ctrl-C does, unless somebody else hears it; a second one ends the process."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        pytest.exit("ended by SIGTERM", 128 + signal.SIGTERM)

    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.fixture(scope="session")
def _mynah_sessions(request: pytest.FixtureRequest) -> Iterator[Callable[[str], _Session]]:
    """The Mynah of a clock, which is started for the first test that wants it, and again when it has ended."""
    option = request.config.getoption
    sessions: dict[str, tuple[ExitStack, _Session]] = {}

    def session(clock: str) -> _Session:
        if clock in sessions:
            stack, (client, capture) = sessions[clock]
            if _is_of_use(client):
                return client, capture
            if (ended := _ended(client)) and not client._end_is_reported:
                warnings.warn(f"between two tests, {ended}", stacklevel=1)
            del sessions[clock]
            stack.close()
        stack = ExitStack()
        everything.push(stack)
        sessions[clock] = stack, _started(stack, clock, option("--mynah-radio"), option("--mynah"))
        return sessions[clock][1]

    if address := option("--mynah-control"):
        client = Client(address)
        yield lambda clock: (_checked(client, clock), None)
        return
    with _ending_on_sigterm(), ExitStack() as everything:
        yield session


def _started(stack: ExitStack, clock: str, radio: str, program: str | None) -> _Session:
    if radio.partition(":")[0] not in ("virtual", "netsim", "hci"):
        process = stack.enter_context(Mynah(radio=radio, program=program, clock=clock))
        return process, f"the radio {radio} is not recorded; BlueZ is by: btmon -w FILE"
    # Without a name it is gone with the processes that have it open.
    file = stack.enter_context(tempfile.TemporaryFile(prefix="mynah-", suffix=".pcapng")).fileno()
    path = Path(f"/dev/fd/{file}")
    process = stack.enter_context(
        Mynah(radio=radio, program=program, clock=clock, options=["--capture", str(path)], _files=[file])
    )
    return process, Capture(path, is_section=clock == "manual")


def _checked(client: Client, clock: str) -> Client:
    name = client.clock.name
    if name != clock:
        pytest.fail(
            f"the test is for the clock {clock}, and the Mynah at {client.address} has the clock {name}",
            pytrace=False,
        )
    return client


def _settings(request: pytest.FixtureRequest) -> tuple[str, int | None]:
    """The clock and the seed of a test: those of its mark, else of the options."""
    wanted = {
        "clock": request.config.getoption("--mynah-clock"),
        "seed": request.config.getoption("--mynah-seed"),
    }
    # The nearest mark comes first, and has the last word.
    for mark in reversed(list(request.node.iter_markers("mynah"))):
        if mark.args or not mark.kwargs.keys() <= wanted.keys():
            pytest.fail("the mark takes a clock and a seed: @pytest.mark.mynah(clock=..., seed=...)", False)
        wanted.update(mark.kwargs)
    clock, seed = wanted["clock"], wanted["seed"]
    if clock not in _CLOCKS:
        pytest.fail(f"the clock of @pytest.mark.mynah is real or manual, not {clock!r}", pytrace=False)
    if seed is None and clock == "manual":
        # Not of the generator that a plugin may seed.
        seed = random.SystemRandom().randrange(1 << 32)
    return clock, seed


@pytest.fixture
def mynah(
    request: pytest.FixtureRequest,
    _mynah_sessions: Callable[[str], _Session],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fixture]:
    """Devices for a test: `mynah("heart-rate.yaml")` plays one."""
    profiles = request.config.rootpath / request.config.getini("mynah_profiles")
    clock, seed = _settings(request)
    # A node's name has the path from the root, and the command is for the folder of this one.
    file, colons, name = request.node.nodeid.partition("::")
    file = os.path.relpath(request.config.rootpath / file, request.config.invocation_params.dir)
    command = ["pytest", file + colons + name, "--mynah-clock", clock, "--mynah-seed", str(seed)]

    def begun() -> Fixture:
        client, capture = _mynah_sessions(clock)
        directories = [request.path.parent, profiles, Path.cwd()]
        new = Fixture(client, directories, capture, tmp_path_factory, seed, shlex.join(command))
        new._begin(request.node.nodeid, seed if clock == "manual" else None)
        return new

    try:
        fixture = begun()
    except (ServerEnded, TimeoutError) as error:
        if request.config.getoption("--mynah-control"):
            raise
        # It has ended or hangs since the test before: this one is not to blame, and gets another.
        if isinstance(error, TimeoutError):
            warnings.warn(f"between two tests, {error}", stacklevel=1)
        fixture = begun()
    yield fixture
    fixture._end()


@pytest.fixture
def mynah_bleak(mynah: Fixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[DefaultBackend]:
    """Makes the devices of the test those of bleak: a bleak program that nobody changed uses them."""
    try:
        from . import bleak
    except ImportError as error:
        pytest.fail(f"the fixture mynah_bleak needs bleak 3: pip install 'mynah[bleak]' ({error})", False)
    if (clock := mynah.client.clock.name) != "real":
        pytest.fail(f"bleak waits in real time, and the clock of this test is {clock}: give it clock=\"real\"", False)
    monkeypatch.setenv("MYNAH_CONTROL", mynah.client.address)
    with bleak.default_backend():
        yield bleak.DefaultBackend(mynah.client)
        bleak.adapters.use(None, {"name": "bleak"})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    fixture = getattr(item, "funcargs", {}).get("mynah")
    if not report.failed or not isinstance(fixture, Fixture):
        return report
    if report.when == "call":
        ended = _ended(fixture.client)
        if ended:
            report.sections.append(("end of Mynah", ended))
            fixture.client._end_is_reported = True
        report.sections.append(("events of Mynah", _timeline(fixture.client, ended)))
        if fixture.seed is not None:
            report.sections.append(("seed of Mynah", f"{fixture.seed}; repeat with: {fixture._command}"))
        if fixture._capture is not None:
            report.sections.append(("capture of Mynah", _captured(fixture, item)))
    if isinstance(fixture.client, Mynah) and (log := fixture.client.log_since(fixture._log_start)):
        report.sections.append(("log of Mynah", log))
    return report


def _captured(fixture: Fixture, item: pytest.Item) -> str:
    """The path of a test's capture, which is written to its temporary folder, or why there is none."""
    if not isinstance(fixture._capture, Capture):
        return str(fixture._capture)
    try:
        path = fixture._folder(item) / "mynah.pcapng"
        fixture._capture.write(path)
    except OSError as error:
        return f"the capture cannot be kept: {error}"
    return str(path)


def _timeline(client: Client, ended: str | None) -> str:
    if ended and isinstance(client, Mynah):
        return "\n".join(["the last that it printed:", *client.last_events])
    try:
        return "\n".join(json.dumps(event) for event in client.events())
    except (OSError, Problem) as error:
        return f"the events cannot be read: {error}"
