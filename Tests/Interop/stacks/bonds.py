"""The built program loses a bond for a fault of its profile, for good, and a phone that had bonded recovers."""

import asyncio
import tempfile
from pathlib import Path

from bumble.device import Peer
from bumble.hci import HCI_Error

from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host
from stacks.program import Program

SENTENCE = "a bond is lost in both ways, on disk too, and a phone recovers after it forgets the device and pairs again"

PROFILE = """
mynah: 1
name: Forgetful
advertising: {{localName: Forgetful, interval: 20 ms}}
services:
  - uuid: FFE0
    characteristics:
      - {{uuid: FFE1, properties: [read], permissions: {{read: encrypted}}, value: {{hex: 01}}}}
      - {{uuid: FFE2, properties: [read, write], value: {{hex: 00}}}}
faults:
  - {{name: wiped, on: write, of: FFE2, do: loseBond, how: {how}}}
"""

AUTHENTICATION_FAILURE = 0x05
PIN_OR_KEY_MISSING = 0x06


class Bonded(Phone):
    async def meet(self) -> None:
        await self.connect(await self.find("Forgetful"))
        self.peer = Peer(self.connection)
        await self.peer.discover_services()
        self.found = {}
        for service in self.peer.services:
            await service.discover_characteristics()
            self.found |= {each.uuid.to_hex_str().upper(): each for each in service.characteristics}

    async def read(self, name: str) -> bytes:
        return bytes(await self.found[name].read_value())

    async def refusal(self) -> int:
        """The error of the encryption, or the reason for which the link ends in its place."""
        encryption = asyncio.ensure_future(self.connection.encrypt())
        await asyncio.wait({encryption, self.gone}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not self.gone.done():
            try:
                await encryption
            except HCI_Error as error:
                return error.error_code
            raise AssertionError("the phone could encrypt")
        encryption.cancel()
        await asyncio.gather(encryption, return_exceptions=True)
        return self.gone.result()


async def are_lost(place: Place) -> None:
    for how, reason in (("reject", PIN_OR_KEY_MISSING), ("disconnect", AUTHENTICATION_FAILURE)):
        with tempfile.TemporaryDirectory(prefix="mynah-bonds-") as directory:
            await recovers(place, PROFILE.format(how=how), directory, reason)


async def recovers(place: Place, profile: str, directory: str, reason: int) -> None:
    phone = Bonded(await open_host(await place.address()))
    await phone.start()
    phone.holds("noInputNoOutput", True)
    try:
        async with Program(place, profile, "--state-dir", directory):
            await phone.meet()
            await asyncio.wait_for(phone.connection.pair(), PATIENCE)
            assert await phone.read("FFE1") == b"\x01"
            await is_stored(phone, directory, True)
            await phone.found["FFE2"].write_value(b"\x01", with_response=True)
            await is_stored(phone, directory, False)
            await phone.disconnect()
            await phone.meet()
            assert (met := await phone.refusal()) == reason, f"{met:#04x}"
            if not phone.gone.done():
                await phone.disconnect()
            await phone.device.keystore.delete_all()
            await phone.meet()
            await asyncio.wait_for(phone.connection.pair(), PATIENCE)
            assert await phone.read("FFE1") == b"\x01"
            await phone.disconnect()
            await phone.meet()
            await asyncio.wait_for(phone.connection.encrypt(), PATIENCE)
            assert await phone.read("FFE1") == b"\x01"
            await phone.disconnect()
    finally:
        await phone.stop()


async def is_stored(phone: Phone, directory: str, wanted: bool) -> None:
    """Until a file of the directory has the phone's address, or none has."""
    address = str(phone.device.random_address).split("/")[0].encode()
    async with asyncio.timeout(PATIENCE):
        while any(address in each.read_bytes() for each in Path(directory).rglob("*") if each.is_file()) != wanted:
            await asyncio.sleep(0.05)
