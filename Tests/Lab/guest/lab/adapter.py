"""The machine's Bluetooth adapter: a virtual controller on /dev/vhci that can be pulled out and put back."""

import os
from pathlib import Path

from bumble import hci
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport.vhci import open_vhci_transport

from lab.air import Air

ADDRESS = hci.Address("C0:DE:00:00:00:01", hci.Address.PUBLIC_DEVICE_ADDRESS)
SETS = 4


class PeripheralController(Controller):
    """A controller with as many advertising sets as real ones have."""

    def on_hci_le_read_number_of_supported_advertising_sets_command(self, command):
        answer = super().on_hci_le_read_number_of_supported_advertising_sets_command(command)
        answer.num_supported_advertising_sets = SETS
        return answer


class Adapter:
    def __init__(self, link: LocalLink, air: Air) -> None:
        self.link = link
        self.air = air
        self.transport = None
        self.controller: PeripheralController | None = None

    @property
    def address(self) -> hci.Address:
        return ADDRESS

    async def plug_in(self) -> None:
        self.transport = await open_vhci_transport(None)
        self.controller = PeripheralController("adapter", link=self.link, public_address=ADDRESS)
        # Bumble's link names the sender of a packet by this address, also where the public one is in use.
        self.controller.random_address = ADDRESS
        # The two ends of the HCI line, with the air's ear on both.
        self.transport.source.set_packet_sink(Tap(self.air, True, self.controller))
        self.controller.host = Tap(self.air, False, self.transport.sink)

    async def pull_out(self) -> None:
        assert self.controller is not None and self.transport is not None
        for connection in list(self.controller.le_connections.values()):
            connection.send_ll_control_pdu(terminate())
        for each in self.controller.advertising_sets.values():
            each.stop()
        self.controller.le_legacy_advertiser.stop()
        self.controller.host = None
        self.link.remove_controller(self.controller)
        await self.transport.close()
        self.controller = self.transport = None
        self.air.unplugged()


def terminate():
    from bumble import ll

    return ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)


class Tap:
    """Passes packets on and lets the air hear them."""

    def __init__(self, air: Air, from_kernel: bool, sink) -> None:
        self.air = air
        self.from_kernel = from_kernel
        self.sink = sink

    def on_packet(self, packet: bytes) -> None:
        self.air.record(self.from_kernel, bytes(packet))
        self.sink.on_packet(packet)


class RadioSwitch:
    """The kernel's rfkill switch of all Bluetooth adapters. See linux/rfkill.h: change all, type Bluetooth."""

    @staticmethod
    def block(blocked: bool) -> None:
        event = (0).to_bytes(4, "little") + bytes([2, 3, int(blocked), 0])
        descriptor = os.open("/dev/rfkill", os.O_WRONLY)
        try:
            os.write(descriptor, event)
        finally:
            os.close(descriptor)


def adapters() -> list[str]:
    folder = Path("/sys/class/bluetooth")
    return sorted(each.name for each in folder.iterdir() if ":" not in each.name) if folder.is_dir() else []
