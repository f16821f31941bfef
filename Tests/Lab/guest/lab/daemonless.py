"""In the place of bus and bluetoothd, for a radio that needs neither."""

from lab.adapter import Adapter
from lab.air import Air


class Daemonless:
    """The calls to bluetoothd that scenarios make on any radio; other calls need `capabilities.daemon`."""

    mode = ""

    def __init__(self, adapter: Adapter, air: Air) -> None:
        self.adapter = adapter
        self.air = air

    async def start_bus(self) -> None:
        pass

    async def end(self) -> None:
        pass

    def suits(self, mode: str | None) -> bool:
        return True

    async def until_adapter(self) -> None:
        pass

    def check(self) -> None:
        pass

    async def until_alone(self) -> None:
        """Waits until the controller has no link left."""

        def alone() -> bool:
            controller = self.adapter.controller
            return controller is None or not controller.le_connections

        await self.air.signal.until(alone, "the end of every link", 20)

    async def forget_devices(self) -> None:
        """Bonds are mynah's own, and end with the run that a scenario of pairing has to itself."""

    async def instances(self) -> int:
        return len(self.air.advertised)

    async def start_afresh(self) -> None:
        pass
