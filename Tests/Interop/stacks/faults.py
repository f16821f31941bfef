"""Faults of our device, as Bumble's phone meets them."""

import asyncio
import contextlib
import time

from bumble.att import ATT_Error
from bumble.core import ProtocolError
from bumble.core import TimeoutError as TransactionTimeout
from bumble.gatt_client import GATT_REQUEST_TIMEOUT
from bumble.hci import HCI_Error

from stacks.checks import meet
from stacks.helper import Helper
from stacks.our_device import OurDevice
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host

REFUSED = 0x81
WRITE_NOT_PERMITTED = 0x03
POWER_OFF = 0x15
AUTHENTICATION_FAILURE = 0x05
PIN_OR_KEY_MISSING = 0x06
# Connection Timeout.
TIMED_OUT = 0x08


@contextlib.asynccontextmanager
async def scene(place: Place):
    device = await OurDevice.make(place, "noInputNoOutput", True, False, faults=True)
    phone = None
    try:
        await device.start()
        phone = Phone(await open_host(await place.address()))
        await phone.start()
        await meet(phone)
        yield device, phone
    finally:
        if phone is not None:
            await phone.stop()
        await device.stop()


async def turn(device: OurDevice, name: str, word: str = "on") -> None:
    device.helper.tell(f"fault {name} {word}")
    await device.helper.until(f"fault {name} {word}")


@contextlib.asynccontextmanager
async def fault(device: OurDevice, name: str):
    await turn(device, name)
    yield
    await turn(device, name, "off")


async def refusal(request) -> int:
    try:
        await request
    except (ATT_Error, ProtocolError) as error:
        return error.error_code
    raise AssertionError("it was not refused")


async def requests(place: Place) -> None:
    async with scene(place) as (device, phone):
        async with fault(device, "refused"):
            assert await refusal(phone.read(2)) == REFUSED
        async with fault(device, "changed"):
            assert await phone.read(2) == b"\xfe"
        async with fault(device, "slow"):
            start = time.monotonic()
            assert await phone.read(2) == b"\x01"
            assert time.monotonic() - start >= 2, "the answer came too early"
        async with fault(device, "lost"):
            await phone.write(2, b"\x09")
        assert await phone.read(2) == b"\x01", "the lost write was carried out"
        async with fault(device, "hidden"):
            assert await refusal(phone.peer.discover_services()) == REFUSED
        async with fault(device, "small"):
            assert await phone.peer.request_mtu(185) == 40
        async with fault(device, "closed"):
            assert await refusal(phone.subscribe()) == WRITE_NOT_PERMITTED


async def values(place: Place) -> None:
    async with scene(place) as (device, phone):
        await phone.subscribe()
        for name, expected in (("missing", b"\x01\x03"), ("twice", b"\x01\x01\x02\x03"), ("swapped", b"\x02\x01\x03")):
            async with fault(device, name):
                for value in range(1, 4):
                    await device.notify(bytes([value]))
            heard = b""
            while len(heard) < len(expected):
                heard += await phone.until_heard()
            assert heard == expected, f"{name}: {heard.hex()}"
        async with fault(device, "silent"):
            pending = asyncio.ensure_future(phone.read(2))
            await device.helper.until("applied silent")
            # The bearer is blocked, and values go on.
            await device.notify(b"\x07")
            assert await phone.until_heard() == b"\x07"
            await asyncio.sleep(3)
            assert not pending.done(), "the request was answered"
            pending.cancel()


async def silence(place: Place) -> None:
    """Core Specification, Vol 3, Part F, 3.3.3: a transaction times out after 30 s, and the bearer is used no more."""
    async with scene(place) as (device, phone):
        async with fault(device, "silent"):
            start = time.monotonic()
            try:
                await phone.read(2)
                raise AssertionError("the request was answered")
            except TransactionTimeout:
                waited = time.monotonic() - start
            assert GATT_REQUEST_TIMEOUT == 30 and waited >= 30, f"it timed out after {waited:.1f} s"
        await phone.disconnect()
        await meet(phone)
        assert await phone.read(2) == b"\x01"


async def gone(phone: Phone, write) -> int:
    """The reason for which the link ends at a write."""
    with contextlib.suppress(ATT_Error, ProtocolError, asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(write, 1)
    return await asyncio.wait_for(phone.gone, PATIENCE)


async def links(place: Place) -> None:
    async with scene(place) as (device, phone):
        async with fault(device, "gone"):
            await phone.write(2, b"\x02")
            assert await gone(phone, phone.write(2, b"\x03")) == POWER_OFF
        await meet(phone)
        assert await phone.read(2) == b"\x02", "the write that ended the link was carried out"
        async with fault(device, "away"):
            assert await gone(phone, phone.write(2, b"\x04")) == TIMED_OUT
        await meet(phone)
        async with fault(device, "reduced"):
            await phone.write(2, b"\x05")
            await phone.disconnect()
            await meet(phone)
            assert len(phone.service.characteristics) == 5
            await phone.disconnect()
        await meet(phone)
        assert len(phone.service.characteristics) == 6
        async with fault(device, "renamed"):
            await phone.write(2, b"\x06")
            await phone.disconnect()
            await phone.find("DFU")
        await meet(phone)


async def bonds(place: Place) -> None:
    async with scene(place) as (device, phone):
        address = phone.connection.peer_address
        phone.holds("noInputNoOutput", True)
        for name, reason in (("wiped", PIN_OR_KEY_MISSING), ("barred", AUTHENTICATION_FAILURE)):
            await asyncio.wait_for(phone.connection.pair(), PATIENCE)
            assert await phone.read(5) == b"\x05"
            await phone.disconnect()
            async with fault(device, name):
                await phone.connect(address)
                met = None
                try:
                    await asyncio.wait_for(phone.connection.encrypt(), PATIENCE)
                except HCI_Error as error:
                    met = error.error_code
                except (ProtocolError, asyncio.CancelledError, TimeoutError):
                    pass
                if name == "barred":
                    met = await asyncio.wait_for(phone.gone, PATIENCE)
                else:
                    await phone.disconnect()
                assert met == reason, f"{name}: {met}"
            # It forgets the bond, and pairs again.
            await phone.device.keystore.delete_all()
            await phone.connect(address)
            await phone.discover()
        await asyncio.wait_for(phone.connection.pair(), PATIENCE)
        assert await phone.read(5) == b"\x05"
        await phone.disconnect()
        await phone.connect(address)
        await asyncio.wait_for(phone.connection.encrypt(), PATIENCE)
        await phone.discover()
        assert await phone.read(5) == b"\x05"


SILENCE = "a request without an answer times out for the phone after 30 s, and a new link is served"

# Each with the reason why it is left out on rootcanal, or an empty string if it is not.
SCENES = [
    ("faults change the answers to requests", requests, ""),
    ("faults lose, repeat and reorder values, and leave a request without an answer", values, ""),
    ("faults end links, and change what is found", links, "its links have no supervision timeout"),
    (
        "bonds are lost in both ways, and a new pairing is accepted", bonds,
        "it reports 0x05 instead of 0x06 to a central whose key is refused",
    ),
]
