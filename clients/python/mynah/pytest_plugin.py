"""The pytest fixture `mynah`.

    def test_alarm(mynah):
        strap = mynah("heart-rate.yaml")
        strap.set("2A37", b"\\x00\\xc8", notify=True)
        mynah.wait("write of=180D/2A39 value=01")

One Mynah serves all tests of a session. A test begins with a reset and a mark of its name, and what it adds
is taken off the air when it ends. A test that fails gets its events in the report, and a capture in its
temporary folder.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from http.client import HTTPException
from pathlib import Path
from typing import Any, Iterator, Mapping

import pytest

from ._capture import Capture
from .client import Client, Device, Problem
from .process import Mynah


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mynah")
    group.addoption("--mynah", metavar="PROGRAM", help="the program (default: MYNAH, or mynah on the path)")
    group.addoption("--mynah-radio", metavar="RADIO", default="virtual", help="the radio (default: virtual)")
    group.addoption(
        "--mynah-control", metavar="ADDRESS", help="use the Mynah that runs at this address; start none"
    )
    parser.addini("mynah_profiles", "the directory of profiles, from the root of the tests", default=".")


class Fixture:
    """The fixture `mynah` of a test: call it with a profile to get a device; the rest is a `Client`'s."""

    def __init__(
        self,
        client: Client,
        directories: list[Path],
        capture: Capture | str | None,
        folders: pytest.TempPathFactory,
    ) -> None:
        #: The client of the Mynah that plays the devices.
        self.client = client
        self._capture = capture
        self._folders = folders
        self._directories = directories
        self._added: list[Device] = []

    def __call__(
        self, profile: str | os.PathLike[str] | Mapping[str, Any], seed: int | None = None
    ) -> Device:
        """The device of a profile: a file, which is looked for beside the test first, or an object.

        It is added, and taken off the air after the test.
        """
        source = profile if isinstance(profile, Mapping) else self._path(profile)
        device = self.client.add(source, seed)
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

    def _end(self) -> None:
        # The phone goes before the devices that it is connected to.
        while self._added:
            try:
                self._added.pop().remove()
            except Problem as problem:
                # The test has removed it.
                if problem.status != 404:
                    raise


@pytest.fixture(scope="session")
def _mynah_session(request: pytest.FixtureRequest) -> Iterator[tuple[Client, Capture | str | None]]:
    """The Mynah of all tests, and its capture.

    Instead of the capture, text says why there is none, and `None` is for a Mynah that was started elsewhere.
    """
    option = request.config.getoption
    if address := option("--mynah-control"):
        yield Client(address), None
        return
    radio, program = option("--mynah-radio"), option("--mynah")
    if radio.partition(":")[0] not in ("virtual", "netsim", "hci"):
        with Mynah(radio=radio, program=program) as process:
            yield process, f"the radio {radio} is not recorded; BlueZ is by: btmon -w FILE"
        return
    with tempfile.TemporaryDirectory(prefix="mynah-") as directory:
        file = Path(directory) / "session.pcapng"
        with Mynah(radio=radio, program=program, options=["--capture", str(file)]) as process:
            yield process, Capture(file)


@pytest.fixture
def mynah(
    request: pytest.FixtureRequest,
    _mynah_session: tuple[Client, Capture | str | None],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fixture]:
    """Devices for a test: `mynah("heart-rate.yaml")` plays one."""
    profiles = request.config.rootpath / request.config.getini("mynah_profiles")
    client, capture = _mynah_session
    fixture = Fixture(client, [request.path.parent, profiles, Path.cwd()], capture, tmp_path_factory)
    client.reset()
    client.mark(request.node.nodeid)
    if isinstance(capture, Capture):
        capture.begin()
    yield fixture
    fixture._end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    fixture = getattr(item, "funcargs", {}).get("mynah")
    if report.when == "call" and report.failed and isinstance(fixture, Fixture):
        report.sections.append(("events of Mynah", _timeline(fixture.client)))
        if fixture._capture is not None:
            report.sections.append(("capture of Mynah", _captured(fixture, item)))
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


def _timeline(client: Client) -> str:
    try:
        return "\n".join(json.dumps(event) for event in client.events())
    except (OSError, ValueError, HTTPException, Problem) as error:
        return f"the events cannot be read: {error}"
