"""HID over GATT: bluetoothd is the host, and the kernel has the keyboard."""

import contextlib

from bumble import hci
from lab.adapter import SocketAdapter
from lab.air import Air
from lab.control import OPTIONS, calmly, held
from lab.host import Bluetoothctl, InputDevice
from lab.mynah import Mynah
from lab.places import CHECKOUT
from lab.scenario import Lab, expect, scenario

ADDRESS = "C0:DE:00:00:00:02"
NAME = "Mynah Keyboard"
# linux/input-event-codes.h.
SHIFT, H, I, ONE, ENTER = 42, 35, 23, 2, 28
CAPS_LOCK = 1


@contextlib.asynccontextmanager
async def keyboard(lab: Lab):
    """The shipped keyboard, on a controller of its own beside the adapter of bluetoothd."""
    adapter = SocketAdapter(
        lab.adapter.link, Air(lab.results / "keyboard.btsnoop"), hci.Address(ADDRESS, hci.Address.PUBLIC_DEVICE_ADDRESS)
    )
    await adapter.plug_in()
    mynah = Mynah(adapter.radio, lab.results)
    try:
        await mynah.start(CHECKOUT / "profiles" / "hid-keyboard.yaml", *OPTIONS)
        yield mynah
    finally:
        await mynah.stop()
        await adapter.pull_out()


# A peripheral's configuration would keep bluetoothd from discovering a device's services.
@scenario(needs=("daemon",), daemon="stock", limit=300)
async def keys(lab: Lab) -> None:
    """bluetoothctl pairs with a keyboard, its keys arrive in /dev/input, and the host sets its LED"""
    async with keyboard(lab) as mynah, Bluetoothctl(lab.results / "bluetoothctl.log") as host:
        await host.tell("scan on", ADDRESS)
        await host.tell("scan off", "Discovery stopped")
        # The kernel has scanned with a random address, by which Bumble's link would name the sender of each packet.
        lab.adapter.controller.random_address = lab.adapter.address
        await host.tell(f"pair {ADDRESS}", "Pairing successful")
        device = await InputDevice.named(NAME)
        try:
            await mynah.wait_for("subscribed", within=60, characteristic="2A4D")
            _, typist = held("hid-keyboard")
            expect(await calmly(typist.type, "Hi!\n"), 4, "keys")
            wanted = [
                (SHIFT, 1), (H, 1), (SHIFT, 0), (H, 0), (I, 1), (I, 0), (SHIFT, 1), (ONE, 1), (SHIFT, 0), (ONE, 0),
                (ENTER, 1), (ENTER, 0),
            ]  # fmt: skip
            await device.signal.until(lambda: len(device.keys) >= len(wanted), "the keys", 30)
            expect(device.keys, wanted, "the keys of the kernel")
            device.light(CAPS_LOCK, True)
            written = await mynah.wait_for("write", characteristic="2A4D")
            expect(written["fields"]["capsLock"], True, "the LED in the event")
        finally:
            device.close()
        await host.tell(f"remove {ADDRESS}", "Device has been removed")
