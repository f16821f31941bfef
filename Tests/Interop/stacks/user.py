"""The user of a Bumble device or phone: enters the passkey that is shown, and confirms equal numbers."""

import asyncio

from bumble.pairing import PairingDelegate

from stacks.patience import PATIENCE

# The passkey that is shown if the other side's user has to enter it.
PASSKEY = 123456


class User(PairingDelegate):
    def __init__(self, io: PairingDelegate.IoCapability) -> None:
        super().__init__(io)
        loop = asyncio.get_running_loop()
        self.shown: asyncio.Future[int] = loop.create_future()
        self.compared: asyncio.Future[int] = loop.create_future()
        self.typed: asyncio.Future[int] = loop.create_future()

    async def compare_numbers(self, number: int, digits: int) -> bool:
        if not self.compared.done():
            self.compared.set_result(number)
        return True

    async def get_number(self) -> int | None:
        return await self.typed

    async def generate_passkey(self) -> int:
        return PASSKEY

    async def display_number(self, number: int, digits: int) -> None:
        if not self.shown.done():
            self.shown.set_result(number)

    async def until_shown(self) -> int:
        return await asyncio.wait_for(asyncio.shield(self.shown), PATIENCE)

    async def until_compared(self) -> int:
        return await asyncio.wait_for(asyncio.shield(self.compared), PATIENCE)
