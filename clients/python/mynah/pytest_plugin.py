"""The pytest fixture `mynah`.

    def test_alarm(mynah):
        strap = mynah("heart-rate.yaml")
        strap.set("2A37", b"\\x00\\xc8", notify=True)
        mynah.wait("write of=180D/2A39 value=01")

One Mynah serves all tests of a session. A test begins with a reset and a mark of its name, and what it adds
is taken off the air when it ends. A test that fails gets its events in the report.
"""

from __future__ import annotations

import json
import os
from http.client import HTTPException
from pathlib import Path
from typing import Any, Iterator, Mapping

import pytest

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

    def __init__(self, client: Client, directories: list[Path]) -> None:
        #: The client of the Mynah that plays the devices.
        self.client = client
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
def _mynah_client(request: pytest.FixtureRequest) -> Iterator[Client]:
    option = request.config.getoption
    if address := option("--mynah-control"):
        yield Client(address)
        return
    with Mynah(radio=option("--mynah-radio"), program=option("--mynah")) as process:
        yield process


@pytest.fixture
def mynah(request: pytest.FixtureRequest, _mynah_client: Client) -> Iterator[Fixture]:
    """Devices for a test: `mynah("heart-rate.yaml")` plays one."""
    profiles = request.config.rootpath / request.config.getini("mynah_profiles")
    fixture = Fixture(_mynah_client, [request.path.parent, profiles, Path.cwd()])
    _mynah_client.reset()
    _mynah_client.mark(request.node.nodeid)
    yield fixture
    fixture._end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    fixture = getattr(item, "funcargs", {}).get("mynah")
    if report.when == "call" and report.failed and isinstance(fixture, Fixture):
        report.sections.append(("events of Mynah", _timeline(fixture.client)))
    return report


def _timeline(client: Client) -> str:
    try:
        return "\n".join(json.dumps(event) for event in client.events())
    except (OSError, ValueError, HTTPException, Problem) as error:
        return f"the events cannot be read: {error}"
