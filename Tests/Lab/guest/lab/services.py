"""The guest's message bus and bluetoothd, started and ended as a scenario wants them."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from lab.events import Signal, TimedOut
from lab.places import WORK

BLUETOOTHD = next(
    (each for each in ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"] if os.path.exists(each)), ""
)
HCI0 = "/org/bluez/hci0"

# bluetoothd's configuration for a peripheral; the stock file is used for all other settings.
QUIET = """
[General]
ControllerMode = le
DeviceID = false
ReverseServiceDiscovery = false
JustWorksRepairing = always
[GATT]
Channels = 1
"""


class BusError(Exception):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name


class Services:
    def __init__(self, results: Path) -> None:
        self.results = results
        self.bus_daemon: asyncio.subprocess.Process | None = None
        self.bluetoothd: asyncio.subprocess.Process | None = None
        self.mode = ""
        self.bus: MessageBus | None = None
        self.signal = Signal()

    # The bus

    async def start_bus(self) -> None:
        Path("/run/dbus").mkdir(exist_ok=True)
        with open(self.results / "dbus-daemon.log", "ab") as log:
            self.bus_daemon = await asyncio.create_subprocess_exec(
                "dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address",
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=log,
            )  # fmt: skip
        assert self.bus_daemon.stdout is not None
        await self.bus_daemon.stdout.readline()
        self.bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        self.bus.add_message_handler(lambda message: self.on_message(message))
        await self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
                        "s", ["type='signal',sender='org.bluez'"])  # fmt: skip

    async def stop_bus(self) -> None:
        if self.bus is not None:
            self.bus.disconnect()
            self.bus = None
        await end(self.bus_daemon)
        self.bus_daemon = None

    async def end(self) -> None:
        """Leaves the machine as if neither had run."""
        await self.stop_bluetoothd()
        self.drop_bonds()
        await self.stop_bus()

    def on_message(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL:
            self.signal.happened()

    async def call(self, destination: str, path: str, interface: str, member: str, signature: str = "", body=()):
        assert self.bus is not None
        message = Message(destination=destination, path=path, interface=interface, member=member,
                          signature=signature, body=list(body))  # fmt: skip
        reply = await asyncio.wait_for(self.bus.call(message), 60)
        assert reply is not None
        if reply.message_type is MessageType.ERROR:
            raise BusError(reply.error_name or "", str(reply.body[0]) if reply.body else "")
        return reply.body[0] if reply.body else None

    # bluetoothd

    def suits(self, mode: str | None) -> bool:
        """Whether bluetoothd runs as a scenario wants it; None: the scenario says itself."""
        return mode is not None and mode == self.mode and not self.died

    async def make_ready_for(self, mode: str | None) -> None:
        if mode is None:
            return
        await self.stop_bluetoothd()
        await self.start_bluetoothd(mode)
        await self.until_adapter()

    async def instances(self) -> int:
        return await self.get("org.bluez.LEAdvertisingManager1", "ActiveInstances")

    async def start_afresh(self) -> None:
        """After a failure nothing is as it should be."""
        await self.stop_bluetoothd()
        self.drop_bonds()

    async def start_bluetoothd(self, mode: str, *more: str) -> None:
        """`stock`: as Debian starts it; `experimental`: with -E and a peripheral's configuration; `more`: its arguments."""
        arguments = [BLUETOOTHD, "-n", "-d", *more]
        if mode == "experimental":
            configuration = WORK / "main.conf"
            configuration.write_text(QUIET)
            # -E brings audio services of bluetoothd's own, which these plugins make.
            arguments += ["-E", "-f", str(configuration), "-P", "vcp,mcp,bap,bass,csip,micp,ccp,tmap,gmap,asha,ranging"]
        with open(self.results / "bluetoothd.log", "ab") as log:
            log.write(f"--- {' '.join(arguments)}\n".encode())
            log.flush()
            self.bluetoothd = await asyncio.create_subprocess_exec(
                *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.mode = mode

    async def stop_bluetoothd(self, how: int = signal.SIGTERM) -> None:
        process, self.bluetoothd, self.mode = self.bluetoothd, None, ""
        await end(process, how)

    @property
    def died(self) -> bool:
        return self.bluetoothd is not None and self.bluetoothd.returncode is not None

    def check(self) -> None:
        """bluetoothd ends only where a scenario ends it."""
        if self.died:
            raise AssertionError(f"bluetoothd has died with {self.bluetoothd.returncode}")

    @staticmethod
    def drop_bonds() -> None:
        """Deletes the bonds with phones that bluetoothd has stored, while it does not run."""
        for folder in Path("/var/lib/bluetooth").glob("*/*:*:*"):
            shutil.rmtree(folder)

    async def managed(self) -> dict:
        objects = await self.call("org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        assert isinstance(objects, dict)
        return objects

    async def until_adapter(self, within: float = 30) -> None:
        """Waits until bluetoothd has powered the adapter and offers both managers."""

        def ready(objects: dict) -> bool:
            interfaces = objects.get(HCI0, {})
            return "org.bluez.LEAdvertisingManager1" in interfaces and interfaces["org.bluez.Adapter1"]["Powered"].value

        await self.until(ready, "a powered adapter of bluetoothd's", within)

    async def until_alone(self, within: float = 20) -> None:
        """Waits until bluetoothd knows, and has told, that every phone has left."""
        if self.bluetoothd is None or self.bluetoothd.returncode is not None:
            return

        def alone(objects: dict) -> bool:
            devices = [faces["org.bluez.Device1"] for faces in objects.values() if "org.bluez.Device1" in faces]
            return not any(each["Connected"].value for each in devices)

        await self.until(alone, "bluetoothd's notice that every phone has left", within)

    async def until(self, condition, what: str, within: float) -> None:
        """Looks at bluetoothd's objects each time it has told of a change."""
        deadline = asyncio.get_running_loop().time() + within
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            again = asyncio.get_running_loop().create_future()
            waiter = (lambda: True, again)
            self.signal.waiters.add(waiter)
            try:
                if condition(await self.managed()):
                    return
            except BusError:
                pass  # There is no bluetoothd yet.
            finally:
                self.signal.waiters.discard(waiter)
            await asyncio.wait([again], timeout=min(left, 0.2))
        raise TimedOut(f"{what}: not within {within:g} s")

    async def get(self, interface: str, name: str, path: str = HCI0):
        value = await self.call("org.bluez", path, "org.freedesktop.DBus.Properties", "Get", "ss", [interface, name])
        return value.value if isinstance(value, Variant) else value

    async def set(self, name: str, value: Variant, path: str = HCI0) -> None:
        body = ["org.bluez.Adapter1", name, value]
        await self.call("org.bluez", path, "org.freedesktop.DBus.Properties", "Set", "ssv", body)

    async def power(self, on: bool) -> None:
        await self.set("Powered", Variant("b", on))

    async def until_powered(self) -> None:
        """Some daemons power an adapter by themselves, others leave that to the user: after rfkill, or without settings."""
        try:
            await self.until_adapter(3)
        except TimedOut:
            await self.power(True)
            await self.until_adapter()

    async def forget_devices(self) -> None:
        """Drops every central that bluetoothd still knows, and its bond."""
        if self.bluetoothd is None:
            return
        try:
            devices = [path for path, faces in (await self.managed()).items() if "org.bluez.Device1" in faces]
            for path in devices:
                await self.call("org.bluez", HCI0, "org.bluez.Adapter1", "RemoveDevice", "o", [path])
        except BusError:
            pass

    async def settings(self) -> dict[str, object]:
        """The adapter's properties that must be restored."""
        names = ["Alias", "Powered", "Discoverable", "Pairable"]
        return {name: await self.get("org.bluez.Adapter1", name) for name in names}


async def end(process: asyncio.subprocess.Process | None, how: int = signal.SIGTERM, within: float = 30) -> int | None:
    if process is None:
        return None
    if process.returncode is None:
        process.send_signal(how)
        try:
            await asyncio.wait_for(process.wait(), within)
        except TimeoutError:
            process.kill()
            await process.wait()
    return process.returncode
