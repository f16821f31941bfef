"""A device that is not ours, with the same values as mynah-interop's."""

from bumble import hci, l2cap
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from stacks.user import User

IO = PairingDelegate.IoCapability
IOS = {
    "displayOnly": IO.DISPLAY_OUTPUT_ONLY,
    "displayYesNo": IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "keyboardOnly": IO.KEYBOARD_INPUT_ONLY,
    "noInputNoOutput": IO.NO_OUTPUT_NO_INPUT,
    "keyboardDisplay": IO.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}
NAME = "Mynah interop"
# Random and static.
ADDRESS = "F0:F1:F2:F3:F4:F5"
# Under which number a channel answers with what it is sent.
CHANNEL = 0x80


def uuid(number: int) -> UUID:
    return UUID(f"F0DE00{number:02X}-0000-4000-8000-00C0FFEE0000")


class BumbleDevice:
    name = "a Bumble device"

    def __init__(self, transport, io: str = "noInputNoOutput", secure: bool = True) -> None:
        self.transport = transport
        configuration = DeviceConfiguration(name=NAME, address=hci.Address(ADDRESS))
        self.device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        self.device.keystore = MemoryKeyStore()
        self.user = User(IOS[io])
        mitm = io != "noInputNoOutput"
        identity = PairingConfig.AddressType.RANDOM
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=secure, mitm=mitm, delegate=self.user, identity_address_type=identity
        )
        self.values = {2: b"\x01", 3: bytes(each & 0xFF for each in range(300)), 5: b"\x05", 6: b"\x06", 7: b"\x07"}
        read, write = Characteristic.Properties.READ, Characteristic.Properties.WRITE
        command = Characteristic.Properties.WRITE_WITHOUT_RESPONSE
        readable, writeable = Characteristic.READABLE, Characteristic.WRITEABLE
        self.ticks = Characteristic(
            uuid(4), Characteristic.Properties.NOTIFY | Characteristic.Properties.INDICATE, readable, b""
        )
        locked = readable | Characteristic.READ_REQUIRES_ENCRYPTION
        strong = readable | Characteristic.READ_REQUIRES_AUTHENTICATION
        self.device.add_service(Service(uuid(1), [
            Characteristic(uuid(2), read | write, readable | writeable, self.value(2)),
            Characteristic(uuid(3), read | write, readable | writeable, self.value(3)),
            self.ticks,
            Characteristic(uuid(5), read, locked, self.value(5)),
            Characteristic(uuid(6), read | command, readable | writeable, self.value(6)),
            Characteristic(uuid(7), read, strong, self.value(7)),
        ]))  # fmt: skip
        self.device.create_l2cap_server(l2cap.LeCreditBasedChannelSpec(CHANNEL), self.echo)

    def echo(self, channel: l2cap.LeCreditBasedChannel) -> None:
        channel.sink = channel.write

    def value(self, number: int) -> CharacteristicValue:
        def write(connection, value: bytes) -> None:
            self.values[number] = bytes(value)

        return CharacteristicValue(read=lambda connection: self.values[number], write=write)

    async def start(self) -> None:
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode()),
        ])  # fmt: skip
        await self.device.start_advertising(
            advertising_data=bytes(data), auto_restart=True, own_address_type=hci.OwnAddressType.RANDOM,
            advertising_interval_min=20, advertising_interval_max=20,
        )  # fmt: skip

    async def shown(self) -> int:
        return await self.user.until_shown()

    async def compared(self) -> int:
        return await self.user.until_compared()

    async def notify(self, value: bytes) -> None:
        for connection in self.device.connections.values():
            await self.device.notify_subscriber(connection, self.ticks, value)

    async def indicate(self, value: bytes) -> None:
        for connection in self.device.connections.values():
            await self.device.indicate_subscriber(connection, self.ticks, value)

    async def stop(self) -> None:
        await self.transport.close()
