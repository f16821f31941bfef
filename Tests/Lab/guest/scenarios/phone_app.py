"""Mynah as the phone: an app that is a central, and an accessory that is not ours."""

import tempfile

from bumble import hci
from bumble.controller import Controller
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, Service
from bumble.host import Host
from bumble.transport.common import AsyncPipeSink
from lab.places import WORK
from lab.scenario import Lab, expect, scenario

APP = """
mynah: 1
name: App
app: {backgroundModes: [bluetooth-central]}
central:
  restoreIdentifier: com.example.app
  scan: {services: [180D]}
  peripherals: [{name: Strap, read: [180D/2A38], subscribe: [180D/2A37]}]
"""


class Strap:
    """A heart-rate strap, Bumble's."""

    def __init__(self, lab: Lab) -> None:
        self.controller = Controller("strap", link=lab.adapter.link)
        configuration = DeviceConfiguration(name="strap", address=hci.Address("F0:00:00:00:00:33"))
        self.device = Device(config=configuration, host=Host(self.controller, AsyncPipeSink(self.controller)))
        self.rate = Characteristic(UUID("2A37"), Characteristic.Properties.NOTIFY, Characteristic.READABLE, b"")
        location = Characteristic(UUID("2A38"), Characteristic.Properties.READ, Characteristic.READABLE, b"\x01")
        self.device.add_service(Service(UUID("180D"), [self.rate, location]))

    async def start(self) -> None:
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID("180D"))),
        ])  # fmt: skip
        await self.device.start_advertising(
            advertising_data=bytes(data), auto_restart=True, own_address_type=hci.OwnAddressType.RANDOM,
            advertising_interval_min=20, advertising_interval_max=20,
        )  # fmt: skip

    async def send(self, value: bytes) -> None:
        for connection in self.device.connections.values():
            await self.device.notify_subscriber(connection, self.rate, value)

    async def leave(self) -> None:
        for connection in list(self.device.connections.values()):
            await connection.disconnect()

    async def stop(self, lab: Lab) -> None:
        await self.device.stop_advertising()
        await self.leave()
        lab.adapter.link.remove_controller(self.controller)


@scenario(fresh=True, needs=("connects",))
async def lives(lab: Lab) -> None:
    """an app finds a strap, hears it, is woken by it, loses it, has it back, and is relaunched by its value"""
    strap = Strap(lab)
    await strap.start()
    try:
        with tempfile.TemporaryDirectory(dir=WORK) as directory:
            mynah = await lab.play(lab.written("phone-app.yaml", APP), "--state-dir", directory)
            await mynah.wait_for("peripheral.discovered", **{"as": "Strap"})
            await mynah.wait_for("value.read", value="01")
            await mynah.wait_for("notification.changed", on=True)
            await strap.send(b"\x00\x48")
            await mynah.wait_for("value.updated", value="0048")

            await mynah.press("s", "app.suspended")
            await strap.send(b"\x00\x49")
            await mynah.wait_for("app.woken", by="notified")
            await mynah.wait_for("value.updated", value="0049")

            await mynah.press("s", "app.suspended")
            before = mynah.mark
            await strap.leave()
            await mynah.wait_for("app.woken", before, by="disconnected")
            await mynah.wait_for("peripheral.disconnected", before)
            await mynah.wait_for("peripheral.connected", before)
            await mynah.wait_for("notification.changed", before, on=True)

            await mynah.press("t", "app.terminated")
            before = mynah.mark
            await strap.send(b"\x00\x50")
            await mynah.wait_for("value.updated", before, value="0050")
            wanted = ["app.launched", "app.restored", "state.changed", "app.woken", "value.updated"]
            found = [each["event"] for each in mynah.events[before:] if each["event"] in wanted]
            expect(found, wanted, "events of the relaunch")
            await mynah.stop()
    finally:
        await strap.stop(lab)
