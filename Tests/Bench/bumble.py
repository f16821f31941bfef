"""The same exchange between two Bumble devices on one link in one process: reads one at a time, then notifications.

bumble.py READS NOTIFICATIONS

Or devices that advertise each second on one link: what a minute of them costs.

bumble.py crowd DEVICES SECONDS"""

import asyncio
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
LAB = Path(__file__).resolve().parent.parent / "Lab"


async def main(reads: int, notifications: int) -> None:
    from bumble import att, hci
    from bumble.controller import Controller
    from bumble.device import Device, DeviceConfiguration
    from bumble.gatt import Characteristic, CharacteristicValue, Service
    from bumble.host import Host
    from bumble.link import LocalLink
    from bumble.transport.common import AsyncPipeSink

    link = LocalLink()

    def device(name: str, address: str) -> Device:
        controller = Controller(name, link=link)
        host = Host(controller, AsyncPipeSink(controller))
        return Device(config=DeviceConfiguration(name=name, address=hci.Address(address)), host=host)

    peripheral, central = device("Bench", "F0:00:00:00:00:01"), device("Phone", "F0:00:00:00:00:02")
    value = Characteristic(
        "2A37", Characteristic.Properties.READ | Characteristic.Properties.NOTIFY, Characteristic.READABLE,
        CharacteristicValue(read=lambda connection: bytes([1, 2, 3, 4])),
    )  # fmt: skip
    peripheral.add_service(Service("180D", [value]))
    await peripheral.power_on()
    await central.power_on()
    await peripheral.start_advertising(auto_restart=False)
    connection = await central.connect(peripheral.random_address)
    client = connection.gatt_client
    await client.request_mtu(247)

    began = time.monotonic()
    for _ in range(reads):
        await client.send_request(att.ATT_Read_Request(attribute_handle=value.handle))
    print(f"reads_per_s {reads / (time.monotonic() - began):.0f}")

    heard, done = 0, asyncio.get_running_loop().create_future()

    def on_value(_: bytes) -> None:
        nonlocal heard
        heard += 1
        if heard == notifications:
            done.set_result(None)

    client.notification_subscribers[value.handle] = {on_value}
    request = att.ATT_Write_Request(attribute_handle=value.handle + 1, attribute_value=b"\x01\x00")
    await client.send_request(request)
    back = next(iter(peripheral.connections.values()))
    began = time.monotonic()
    for number in range(notifications):
        await peripheral.notify_subscriber(back, value, number.to_bytes(4, "little"))
    await done
    print(f"notifications_per_s {notifications / (time.monotonic() - began):.0f}")


async def crowd(devices: int, seconds: float) -> None:
    from bumble import hci
    from bumble.controller import Controller
    from bumble.device import Device, DeviceConfiguration
    from bumble.host import Host
    from bumble.link import LocalLink
    from bumble.transport.common import AsyncPipeSink

    heard = 0

    class CountingController(Controller):
        def on_ll_advertising_pdu(self, *arguments: object) -> None:
            nonlocal heard
            heard += 1
            super().on_ll_advertising_pdu(*arguments)

    link = LocalLink()
    starts = []
    for number in range(devices):
        controller = CountingController(f"Tag {number}", link=link)
        address = hci.Address(f"F0:00:00:00:{number >> 8:02X}:{number & 255:02X}")
        config = DeviceConfiguration(name="Tag", address=address)
        device = Device(config=config, host=Host(controller, AsyncPipeSink(controller)))
        await device.power_on()
        starts.append(device.start_advertising(advertising_interval_min=1000, advertising_interval_max=1000))
    starting = [asyncio.create_task(each) for each in starts]
    # From the first packet on: so many tasks take long to start.
    while heard == 0:
        await asyncio.sleep(0.01)
    heard = 0
    began, until = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.sleep(0.1)
    cost = (time.process_time() - began) / heard
    for each in starting:
        each.cancel()
    # A link gives each packet to each other controller. A crowd that its loop cannot serve in time sends fewer.
    minute = cost * devices * (devices - 1) * 60
    print(f"as many of Bumble's controllers: {minute:.0f} s, from {heard} packets at {cost * 1e6:.2f} us")


def packages() -> str:
    """Where the lab keeps Bumble, fetched where it is missing."""
    sys.path.insert(0, str(LAB))
    from host import system

    return str(system.host_packages())


if __name__ == "__main__":
    sys.path.insert(0, packages())
    if sys.argv[1] == "crowd":
        asyncio.run(crowd(int(sys.argv[2]), float(sys.argv[3])))
    else:
        asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
