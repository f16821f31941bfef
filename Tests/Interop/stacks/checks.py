"""The exchanges between two stacks, one check each."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bumble.att import ATT_Error
from bumble.core import ProtocolError

from stacks.bumble_device import CHANNEL
from stacks.patience import PATIENCE
from stacks.user import PASSKEY

SECURE_CHANNEL = CHANNEL + 1
LONG = bytes(each & 0xFF for each in range(300))


@dataclass(frozen=True)
class Method:
    """A way to pair: what each side has, and which it comes to."""

    sentence: str
    device: str
    phone: str
    secure: bool
    how: str


METHODS = [
    Method("Just Works", "noInputNoOutput", "noInputNoOutput", True, "just works"),
    Method("Just Works, legacy", "noInputNoOutput", "noInputNoOutput", False, "just works"),
    Method("a passkey that the device shows", "displayOnly", "keyboardOnly", True, "device shows"),
    Method("a passkey that the device shows, legacy", "displayOnly", "keyboardOnly", False, "device shows"),
    Method("a passkey that is typed on the device", "keyboardOnly", "displayOnly", True, "phone shows"),
    Method("a passkey that is typed on the device, legacy", "keyboardOnly", "displayOnly", False, "phone shows"),
    Method("numeric comparison", "displayYesNo", "displayYesNo", True, "compare"),
]


@dataclass(frozen=True)
class Check:
    sentence: str
    run: Callable[..., Awaitable[None]]
    io: str = "noInputNoOutput"
    secure: bool = True
    # Whether our device is a central too, which listens meanwhile.
    scans: bool = False
    # Why Bumble's device does not do it, or an empty string if it does.
    ours_only: str = ""


async def finds(device, phone) -> None:
    await phone.find()


async def discovers(device, phone) -> None:
    await meet(phone)
    found = [each.uuid.to_hex_str() for each in phone.service.characteristics]
    assert len(found) == 6, f"{found}"
    ticks = phone.characteristic(4)
    await ticks.discover_descriptors()
    assert [each.type.to_hex_str() for each in ticks.descriptors] == ["2902"], f"{ticks.descriptors}"


async def reads(device, phone) -> None:
    await meet(phone)
    assert await phone.read(2) == b"\x01"


async def reads_long(device, phone) -> None:
    await meet(phone)
    assert await phone.read(3) == LONG
    assert await phone.peer.request_mtu(185) == 185
    assert await phone.read(3) == LONG


async def writes(device, phone) -> None:
    await meet(phone)
    await phone.write(2, b"\x09\x08\x07")
    assert await phone.read(2) == b"\x09\x08\x07"


async def commands(device, phone) -> None:
    await meet(phone)
    for each in range(40):
        await phone.write(6, bytes([each]), with_response=False)
    assert await phone.read(6) == b"\x27"


async def writes_long(device, phone) -> None:
    await meet(phone)
    value = bytes(255 - (each & 0xFF) for each in range(400))
    await phone.write_long(3, value)
    assert await phone.read(3) == value


async def notifies(device, phone) -> None:
    await meet(phone)
    await phone.subscribe()
    for each in range(5):
        await device.notify(bytes([each, 7]))
        assert await phone.until_heard() == bytes([each, 7])


async def indicates(device, phone) -> None:
    await meet(phone)
    await phone.subscribe(prefer_notify=False)
    for each in range(3):
        await device.indicate(bytes([each, 8]))
        assert await phone.until_heard() == bytes([each, 8])


async def comes_back(device, phone) -> None:
    for _ in range(3):
        await meet(phone)
        assert await phone.read(2) == b"\x01"
        await phone.disconnect()


async def channels(device, phone) -> None:
    await meet(phone)
    # Bumble's device does not let go of a channel's number when it is closed.
    for _ in range(1 if hasattr(device, "user") else 2):
        channel = await phone.open_channel(CHANNEL)
        for value in (b"\x01", LONG, bytes(2048), bytes(each & 0xFF for each in range(40_000))):
            assert await channel.exchange(value) == value
        await channel.close()


async def secure_channels(device, phone) -> None:
    await meet(phone)
    try:
        await phone.open_channel(SECURE_CHANNEL)
        raise AssertionError("it was opened without encryption")
    except ProtocolError:
        pass
    phone.holds("noInputNoOutput", True)
    await asyncio.wait_for(phone.connection.pair(), PATIENCE)
    channel = await phone.open_channel(SECURE_CHANNEL)
    assert await channel.exchange(LONG) == LONG


async def asks_latency(device, phone) -> None:
    await meet(phone)
    assert await device.ask_latency("high")
    assert await phone.read(2) == b"\x01"


async def meet(phone) -> None:
    await phone.connect(await phone.find())
    await phone.discover()


def pairs(method: Method) -> Callable[..., Awaitable[None]]:
    async def run(device, phone) -> None:
        await meet(phone)
        address = phone.connection.peer_address
        try:
            await phone.read(5)
            raise AssertionError("a locked value was read without a key")
        except ATT_Error:
            pass
        user = phone.holds(method.phone, method.secure)
        pairing = asyncio.ensure_future(phone.connection.pair())
        if method.how == "device shows":
            user.typed.set_result(await device.shown())
        elif method.how == "phone shows":
            # Where the device is Bumble's, its user types what the phone shows.
            if hasattr(device, "user"):
                device.user.typed.set_result(PASSKEY)
        elif method.how == "compare":
            assert await device.compared() == await user.until_compared(), "the numbers differ"
        await asyncio.wait_for(pairing, PATIENCE)
        assert phone.connection.is_encrypted
        assert await phone.read(5) == b"\x05"
        if method.how == "just works" and not hasattr(device, "user"):
            # Bumble's server takes every key for an authenticated one.
            try:
                await phone.read(7)
                raise AssertionError("Just Works was taken for authenticated")
            except ATT_Error:
                pass
        if method.how != "just works":
            assert await phone.read(7) == b"\x07"
        await phone.subscribe()
        await phone.disconnect()
        if hasattr(device, "user") and not method.secure:
            # Bumble's peripheral would answer with the key of the other side, which its own controllers do not notice.
            return
        # With the bond, and what was subscribed to before.
        await phone.connect(address)
        await asyncio.wait_for(phone.connection.encrypt(), PATIENCE)
        await phone.discover()
        assert await phone.read(5) == b"\x05"
        if not hasattr(device, "user"):
            handle = phone.characteristic(4).handle
            phone.peer.gatt_client.notification_subscribers[handle] = {lambda value: phone.heard.put_nowait(bytes(value))}
            await device.notify(b"\x11")
            assert await phone.until_heard() == b"\x11"

    return run


CHECKS = [
    Check("a phone finds it by its name", finds),
    Check("its services, characteristics and descriptors are discovered", discovers),
    Check("a value is read", reads),
    Check("a long value is read, before and after a greater MTU", reads_long),
    Check("a value is written, and reads back", writes),
    Check("values are written without response, in order", commands),
    Check("a long value is written in prepared parts", writes_long, ours_only="its server answers no prepared writes"),
    Check("values are notified", notifies),
    Check("values are indicated and confirmed", indicates),
    Check("a channel is opened, and what goes over it comes back", channels),
    Check(
        "a channel that wants encryption is opened when they have paired", secure_channels,
        ours_only="its channels want none",
    ),
    Check("it asks how often to meet, and may", asks_latency, ours_only="it is not told to"),
    Check("it is found again after each disconnection", comes_back),
    Check(
        "it is found and read again and again while it listens itself", comes_back, scans=True,
        ours_only="it does one thing at a time",
    ),
    *(
        Check(f"they pair by {each.sentence}, and meet again encrypted", pairs(each), each.device, each.secure)
        for each in METHODS
    ),
]
