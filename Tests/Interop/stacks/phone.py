"""A phone that is not ours: Bumble's central, with Bumble's own GATT client."""

import asyncio

from bumble import att, hci, l2cap
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig

from stacks.bumble_device import IOS, NAME, uuid
from stacks.patience import PATIENCE
from stacks.user import User


class Channel:
    """An L2CAP channel, and what came over it."""

    def __init__(self, channel: l2cap.LeCreditBasedChannel) -> None:
        self.channel = channel
        self.came: asyncio.Queue[bytes] = asyncio.Queue()
        channel.sink = self.came.put_nowait

    async def exchange(self, value: bytes) -> bytes:
        """The answers to a PDU; Bumble may combine them as it likes."""
        self.channel.write(value)
        answer = b""
        while len(answer) < len(value):
            answer += await asyncio.wait_for(self.came.get(), PATIENCE)
        return answer

    async def close(self) -> None:
        await asyncio.wait_for(self.channel.disconnect(), PATIENCE)


class Phone:
    def __init__(self, transport, address: hci.Address | None = None) -> None:
        self.transport = transport
        configuration = DeviceConfiguration(name="phone", address=address or hci.Address("F5:F4:F3:F2:F1:F0"))
        self.device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        self.device.keystore = MemoryKeyStore()
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def start(self) -> None:
        await self.device.power_on()

    async def find(self, wanted: str = NAME) -> hci.Address:
        found: asyncio.Future[hci.Address] = asyncio.get_running_loop().create_future()

        def on_advertisement(advertisement) -> None:
            name = advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME)
            if name == wanted and not found.done():
                found.set_result(advertisement.address)

        self.device.on("advertisement", on_advertisement)
        await self.device.start_scanning(active=True)
        try:
            return await asyncio.wait_for(found, PATIENCE)
        finally:
            await self.device.stop_scanning()
            self.device.remove_listener("advertisement", on_advertisement)

    async def connect(self, address: hci.Address) -> None:
        self.connection = await self.device.connect(address, timeout=PATIENCE)
        self.peer = Peer(self.connection)
        self.gone = asyncio.get_running_loop().create_future()
        gone = self.gone
        self.connection.on("disconnection", lambda reason: gone.done() or gone.set_result(reason))

    async def discover(self) -> None:
        await self.peer.discover_services()
        (self.service,) = self.peer.get_services_by_uuid(uuid(1))
        await self.service.discover_characteristics()

    def characteristic(self, number: int):
        (found,) = self.service.get_characteristics_by_uuid(uuid(number))
        return found

    async def read(self, number: int) -> bytes:
        return bytes(await self.characteristic(number).read_value())

    async def write(self, number: int, value: bytes, with_response: bool = True) -> None:
        await self.characteristic(number).write_value(value, with_response=with_response)

    async def write_long(self, number: int, value: bytes) -> None:
        """In prepared parts, which Bumble's client leaves to its user. Core Specification, Vol 3, Part G, 4.9.4."""
        handle, size = self.characteristic(number).handle, self.peer.gatt_client.mtu - 5
        for offset in range(0, len(value), size):
            part = value[offset : offset + size]
            answer = await self.request(att.ATT_Prepare_Write_Request(
                attribute_handle=handle, value_offset=offset, part_attribute_value=part))  # fmt: skip
            assert bytes(answer.part_attribute_value) == part, "the part came back otherwise"
        await self.request(att.ATT_Execute_Write_Request(flags=1))

    async def request(self, pdu):
        answer = await self.peer.gatt_client.send_request(pdu)
        assert answer.op_code != att.Opcode.ATT_ERROR_RESPONSE, f"refused: {answer}"
        return answer

    async def subscribe(self, prefer_notify: bool = True) -> None:
        ticks = self.characteristic(4)
        await ticks.discover_descriptors()
        await ticks.subscribe(lambda value: self.heard.put_nowait(bytes(value)), prefer_notify=prefer_notify)

    async def open_channel(self, psm: int) -> "Channel":
        return Channel(await self.connection.create_l2cap_channel(l2cap.LeCreditBasedChannelSpec(psm)))

    async def until_heard(self) -> bytes:
        return await asyncio.wait_for(self.heard.get(), PATIENCE)

    def holds(self, io: str, secure: bool) -> User:
        """The phone's user, with the IO capability."""
        user = User(IOS[io])
        mitm = io != "noInputNoOutput"
        # It is known by the address that it has on the air, not by its controller's.
        identity = PairingConfig.AddressType.RANDOM
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=secure, mitm=mitm, delegate=user, identity_address_type=identity
        )
        return user

    async def disconnect(self) -> None:
        await self.connection.disconnect()
        await asyncio.wait_for(self.gone, PATIENCE)

    async def stop(self) -> None:
        await self.transport.close()
