"""A device on our host: a process of mynah-interop."""

from stacks.helper import Helper
from stacks.places import Place


class OurDevice:
    name = "our host"

    def __init__(self, helper: Helper) -> None:
        self.helper = helper
        self.sent = self.confirmed = 0

    @classmethod
    async def make(cls, place: Place, io: str, secure: bool, scans: bool, faults: bool = False) -> "OurDevice":
        words = ["legacy"] * (not secure) + ["scans"] * scans + ["faults"] * faults
        address = await place.our_address()
        return cls(await Helper.start("device", address, io, *words, environment=place.environment))

    async def start(self) -> None:
        await self.helper.until("ready")

    async def shown(self) -> int:
        return int(await self.helper.until("display"))

    async def compared(self) -> int:
        return int(await self.helper.until("compare"))

    async def notify(self, value: bytes) -> None:
        self.sent += 1
        self.helper.tell(f"update {value.hex()}")
        await self.helper.until("sent", self.sent)

    async def indicate(self, value: bytes) -> None:
        self.sent += 1
        self.confirmed += 1
        self.helper.tell(f"update {value.hex()}")
        await self.helper.until("sent", self.sent)
        await self.helper.until("confirmed", self.confirmed)

    async def ask_latency(self, latency: str) -> bool:
        self.helper.tell(f"latency {latency}")
        return await self.helper.until("latency") == "true"

    async def stop(self) -> None:
        await self.helper.end()
