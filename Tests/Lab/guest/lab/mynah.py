"""The device under test: `mynah run`, its exit status and its events."""

import asyncio
import json
import os
import pty
import signal
from pathlib import Path

from lab.events import Signal
from lab.places import BINARY
from lab.services import end

# How long a program may take to start, in seconds, on a machine whose host has other work.
PATIENCE = 90


class Mynah:
    """One running device. Its events bring scenarios into step; what is judged is what the phone gets."""

    def __init__(self, radio: str, results: Path) -> None:
        self.radio = radio
        self.results = results
        self.process: asyncio.subprocess.Process | None = None
        self.events: list[dict] = []
        self.errors = ""
        self.signal = Signal()
        self.readers: list[asyncio.Task] = []
        self.keyboard: int | None = None

    async def start(
        self, profile: str | Path, *options: str, user: str | None = None, environment: dict[str, str] | None = None,
        ready: bool = True,
    ) -> None:  # fmt: skip
        command = [BINARY, "run", str(profile), "--radio", self.radio, "--events", "json", *options]
        if self.radio.startswith("hci:"):
            # The lab knows the device by the adapter's address, also where it is a phone.
            command += ["--address", "identity"]
        await self.launch(command, user, environment)
        if ready:
            await self.wait_for("ready", within=PATIENCE)

    async def open_air(self, *options: str) -> dict:
        """Plays no device: gives other hosts controllers on the virtual radio. Returns the event `ready`."""
        await self.launch([BINARY, "air", "--events", "json", *options])
        return await self.wait_for("ready", within=PATIENCE)

    async def launch(
        self, command: list[str], user: str | None = None, environment: dict[str, str] | None = None
    ) -> None:
        self.note(f"--- {' '.join(command)}")
        # A terminal to press keys on; events go to the pipe all the same.
        self.keyboard, terminal = pty.openpty()
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=terminal, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            user=user, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        os.close(terminal)
        self.readers = [asyncio.create_task(self.read_events()), asyncio.create_task(self.read_errors())]

    async def press(self, key: str, event: str, **fields) -> dict:
        """Presses a key of the app's life, and waits for what comes of it."""
        assert self.keyboard is not None
        before = self.mark
        os.write(self.keyboard, key.encode())
        return await self.wait_for(event, before, **fields)

    async def read_events(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.note(line.decode(errors="replace").rstrip())
            self.events.append(json.loads(line))
            self.signal.happened()
        self.signal.happened()

    async def read_errors(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.note("stderr: " + line.decode(errors="replace").rstrip())
            self.errors += line.decode(errors="replace")

    def note(self, line: str) -> None:
        with open(self.results / "mynah.log", "a") as log:
            log.write(line + "\n")

    def all(self, event: str, since: int = 0, **fields) -> list[dict]:
        """The events of that name so far whose fields are these; `since` counts events, see `mark`."""
        return [each for each in self.events[since:] if matches(each, event, fields)]

    @property
    def mark(self) -> int:
        return len(self.events)

    async def wait_for(self, event: str, since: int = 0, within: float = 30, **fields) -> dict:
        def found():
            for each in self.events[since:]:
                if matches(each, event, fields):
                    return each
            if self.process is not None and self.process.returncode is not None:
                raise AssertionError(f"mynah ended with {self.process.returncode} before {event}: {self.errors.strip()}")
            return None

        wanted = f"mynah's event {event} {fields or ''}".rstrip()
        watcher = asyncio.create_task(self.tell_of_the_end())
        try:
            return await self.signal.until(found, wanted, within)
        finally:
            watcher.cancel()

    async def wait_for_all(self, event: str, count: int, since: int = 0, **fields) -> list[dict]:
        """Waits until so many events were told: the phone may have its answer before the event can be read."""
        await self.signal.until(
            lambda: len(self.all(event, since, **fields)) >= count, f"{count} events {event} of mynah", within=30
        )
        return self.all(event, since, **fields)

    async def tell_of_the_end(self) -> None:
        if self.process is not None:
            await self.process.wait()
            self.signal.happened()

    async def ended(self, within: float = 30) -> int:
        """The exit status of a run that ends by itself."""
        assert self.process is not None
        try:
            status = await asyncio.wait_for(self.process.wait(), within)
        except TimeoutError:
            raise AssertionError(f"mynah still runs after {within:g} s") from None
        await asyncio.gather(*self.readers)
        return status

    async def stop(self, how: int = signal.SIGTERM) -> int | None:
        status = await end(self.process, how, within=20)
        await asyncio.gather(*self.readers, return_exceptions=True)
        self.process = None
        if self.keyboard is not None:
            os.close(self.keyboard)
            self.keyboard = None
        return status

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None


def matches(event: dict, name: str, fields: dict) -> bool:
    return event.get("event") == name and all(event.get(key) == value for key, value in fields.items())
