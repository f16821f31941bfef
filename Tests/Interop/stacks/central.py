"""Our central looks at a device that is Bumble's."""

from stacks.bumble_device import ADDRESS, BumbleDevice
from stacks.helper import Helper
from stacks.places import Place, open_host

EXPECTED = {
    "mtu": None, "characteristics": "6", "long": bytes(each & 0xFF for each in range(300)).hex().upper(),
    "command": "0402", "notification": "11", "indication": "22", "again": "05",
}  # fmt: skip


async def looks(place: Place) -> None:
    device = BumbleDevice(await open_host(await place.address()))
    await device.start()
    helper = await Helper.start("phone", await place.our_address(), ADDRESS, environment=place.environment)
    try:
        await helper.until("subscribed notification")
        await device.notify(b"\x11")
        await helper.until("subscribed indication")
        await device.indicate(b"\x22")
        await helper.until("done")
        for word, value in EXPECTED.items():
            said = await helper.until(word)
            assert value is None or said == value, f"{word}: {said}"
        assert [await helper.until("echo", each) for each in (1, 2, 3)] == ["true"] * 3
        assert await helper.until("value", 1) == "01" and await helper.until("value", 2) == "090807"
        assert await helper.until("locked", 1) == "refused" and await helper.until("locked", 2) == "05"
    finally:
        await helper.end()
        await device.stop()
