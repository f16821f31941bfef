"""The same exchange between two Bumble devices on one link in one process: reads one at a time, then notifications.

bumble.py READS NOTIFICATIONS"""

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


def packages() -> str:
    """Where the lab keeps Bumble, fetched where it is missing."""
    sys.path.insert(0, str(LAB))
    from host import system

    return str(system.host_packages())


if __name__ == "__main__":
    sys.path.insert(0, packages())
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
