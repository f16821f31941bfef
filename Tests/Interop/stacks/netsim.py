"""rootcanal as an Android emulator runs it: netsim publishes its ports in a file, and each connection is a controller."""

import asyncio
import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from bumble.device import Peer

from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Rootcanal, listening, open_host

# Where the first instance of netsim speaks H4.
FIRST_PORT = 6402
PROFILE = Path(__file__).resolve().parents[3] / "profiles" / "heart-rate.yaml"


class Netsim(Rootcanal):
    """Our side finds it by the file; the other side, as the emulator's guest, takes a connection of its own."""

    name = "netsim"
    # The built mynah.
    program: Path

    async def open(self) -> None:
        await super().open()
        self.directories = [tempfile.TemporaryDirectory(prefix="mynah-netsim-") for _ in range(2)]
        self.instance = self.port - FIRST_PORT + 1
        # Bound and not listening: nobody answers there, and nobody else can come to.
        self.closed = [socket.socket() for _ in range(2)]
        first, second = (Path(each.name) for each in self.directories)
        for each in self.closed:
            each.bind(("127.0.0.1", 0))
            self.publish(first, each.getsockname()[1] - FIRST_PORT + 1)
        (first / f"netsim_{self.instance}.ini").write_text("not a file of netsim's\n")
        self.publish(second, self.instance)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NETSIM_")},
            "XDG_RUNTIME_DIR": str(first), "TMPDIR": str(second),
            # No D-Bus, so that `auto` does not take an adapter of this machine.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus", "MYNAH_AIR": str(first / "air"),
        }  # fmt: skip

    def publish(self, directory: Path, instance: int) -> None:
        # As netsimd 0.3.50 writes it.
        name = "netsim.ini" if instance == 1 else f"netsim_{instance}.ini"
        (directory / name).write_text(f"grpc.port={self.port}\nweb.port=7681\n")

    async def our_address(self) -> str:
        # By number: an emulator that runs on this machine is left alone.
        return f"netsim:instance={self.instance}"

    async def close(self) -> None:
        await super().close()
        for each in self.closed:
            each.close()
        for each in self.directories:
            each.cleanup()


class Run:
    """A process of `mynah run`, and its events."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.events: list[dict] = []

    @classmethod
    async def start(cls, program: Path, environment: dict[str, str], profile: Path, *options: str) -> "Run":
        return cls(await asyncio.create_subprocess_exec(
            str(program), "run", "--events", "json", *options, str(profile), stdout=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL, env=environment,
        ))  # fmt: skip

    async def until(self, wanted: Callable[[dict], bool]) -> dict:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            async for line in self.process.stdout:
                self.events.append(json.loads(line))
                if wanted(self.events[-1]):
                    return self.events[-1]
        raise AssertionError(f"the run ended; it said {self.events}")

    async def end(self) -> None:
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
        await asyncio.wait_for(self.process.communicate(), PATIENCE)
        assert self.process.returncode == 0, f"it ended with {self.process.returncode}"


async def start(place: Netsim, *options: str, **environment: str) -> Run:
    return await Run.start(place.program, {**place.environment, **environment}, PROFILE, *options)


async def guest_reads(place: Netsim) -> None:
    """The guest connects to the device and reads a value."""
    phone = Phone(await open_host(await place.address()))
    await phone.start()
    try:
        await phone.connect(await phone.find("Mynah HRM"))
        peer = Peer(phone.connection)
        await peer.discover_services()
        (service,) = [each for each in peer.services if each.uuid.to_hex_str() == "180D"]
        await service.discover_characteristics()
        (location,) = [each for each in service.characteristics if each.uuid.to_hex_str() == "2A38"]
        assert bytes(await location.read_value()) == b"\x01"
        await phone.disconnect()
    finally:
        await phone.stop()


async def plays(place: Netsim, *options: str, **environment: str) -> Run:
    run = await start(place, *options, **environment)
    try:
        ready = await run.until(lambda event: event["event"] == "ready")
        where = f"(netsim instance {place.instance}, 127.0.0.1:{place.port})"
        assert where in ready["radio"], f"{ready}"
        await guest_reads(place)
    finally:
        await run.end()
    return run


async def by_its_file(place: Netsim) -> None:
    run = await plays(place, "--radio", "netsim")
    assert not [each for each in run.events if each["event"] == "warning"], f"{run.events}"


async def by_auto(place: Netsim) -> None:
    run = await plays(place, NETSIM_INSTANCE=str(place.instance))
    assert run.events[0]["code"] == "netsimRadio", f"{run.events[0]}"


async def stale(place: Netsim) -> None:
    """A file whose port is closed is no emulator."""
    dead = place.closed[0].getsockname()[1]
    run = await start(place, NETSIM_INSTANCE=str(dead - FIRST_PORT + 1))
    try:
        ready = await run.until(lambda event: event["event"] == "ready")
        assert ready["radio"] == "virtual radio", f"{ready}"
        assert f"does not listen on 127.0.0.1:{dead}" in run.events[0]["message"], f"{run.events[0]}"
    finally:
        await run.end()


async def later(place: Netsim) -> None:
    """The emulator starts after the run, which waits for it."""
    port = place.port
    await Rootcanal.close(place)
    run = await start(place, "--radio", f"netsim:instance={place.instance}")
    try:
        waiting = await run.until(lambda event: event.get("code") == "waitingForEmulator")
        assert f"127.0.0.1:{port}" in waiting["message"], f"{waiting}"
        await place.start_again(port)
        await run.until(lambda event: event["event"] == "ready")
        await guest_reads(place)
    finally:
        await run.end()


def has_adapter() -> bool:
    """An adapter comes first to `auto`, and is mended rather than replaced."""
    return any(Path("/sys/class/bluetooth").glob("hci*"))


def has_emulator() -> bool:
    """The first instance that is alive is taken, and that would be the one that runs here."""
    return listening(FIRST_PORT)


ADAPTER = (has_adapter, "this machine has an adapter")
EMULATOR = (has_emulator, f"something listens on {FIRST_PORT}, as an Android emulator would")
# Each with what would make it mean nothing.
SCENES = [
    ("`mynah run --radio netsim` finds it beside stale files, and the guest reads", by_its_file, EMULATOR),
    ("`mynah run` takes it by itself, and the guest reads", by_auto, ADAPTER),
    ("`mynah run` passes over a file whose port is closed", stale, ADAPTER),
    ("`mynah run --radio netsim` waits for one that starts later, and the guest reads", later, None),
]
