"""Periodic advertising: ours as a host that is not ours receives it, and another's as our scan shows it."""

import asyncio
import json
import os

from bumble import hci
from bumble.device import (
    AdvertisingEventProperties,
    AdvertisingParameters,
    Device,
    DeviceConfiguration,
    PeriodicAdvertisingParameters,
)

from stacks.advertising import structure
from stacks.patience import PATIENCE
from stacks.places import Ours, Place, Rootcanal, open_host
from stacks.program import Program

RECEIVED = "a host synchronizes to its periodic advertising, and gets each value of it"
HEARD = "a scan synchronizes to the periodic advertising of a Bumble device"
# Bumble's own controllers have no periodic advertising.
PLACES = {Ours.name, Rootcanal.name}
PROFILE = """
mynah: 1
name: Train
advertising:
  - {name: plain, interval: 20 ms, connectable: false}
  - name: train
    interval: 20 ms
    connectable: false
    extended: {data: 2M}
    address: random
    every: 300 ms
    periodic:
      interval: 50 ms
      value:
        serviceData: {181A: {hex: 010203}}
        manufacturerData: {0x0499: {layout: [{n: uint8}], fields: {n: {generate: counter}}}}
"""


async def is_received(place: Place) -> None:
    async with Program(place, PROFILE) as run:
        started = next(each for each in run.events if each["event"] == "advertising.started")
        train = next(each for each in [started, *started["sets"]] if each["set"] == "train")
        assert train["periodicIntervalMilliseconds"] == 50, train
        transport = await open_host(await place.address())
        try:
            configuration = DeviceConfiguration(name="scanner", address=hci.Address("F5:F4:F3:F2:F1:F0"))
            device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
            await device.power_on()
            found: asyncio.Future = asyncio.get_running_loop().create_future()

            def take(report) -> None:
                if report.periodic_advertising_interval and not found.done():
                    found.set_result(report)

            device.host.on("advertising_report", take)
            await device.start_scanning(active=False)
            report = await asyncio.wait_for(found, PATIENCE)
            assert report.periodic_advertising_interval == 40, f"{report.periodic_advertising_interval} units of 1.25 ms"
            assert report.address.to_string(False) == train["address"], f"from {report.address}"
            sync = await device.create_periodic_advertising_sync(report.address, report.advertising_sid)
            values: asyncio.Queue[bytes] = asyncio.Queue()
            sync.on("periodic_advertisement", lambda each: values.put_nowait(bytes(each.data_bytes)))
            counted: list[int] = []
            async with asyncio.timeout(PATIENCE):
                while len(counted) < 4:
                    value = await values.get()
                    expected = structure(0xFF, b"\x99\x04" + value[4:5]) + structure(0x16, b"\x1a\x18\x01\x02\x03")
                    assert value == expected, f"{value.hex()}, not {expected.hex()}"
                    if value[4] not in counted:
                        counted.append(value[4])
            assert counted == [(counted[0] + index) % 256 for index in range(4)], counted
            assert sync.periodic_advertising_interval == 50, sync.periodic_advertising_interval
        finally:
            await transport.close()


async def is_heard(place: Place) -> None:
    data = structure(0xFF, b"\x99\x04\x07") + structure(9, b"Other train")
    transport = await open_host(await place.address())
    try:
        configuration = DeviceConfiguration(name="train", address=hci.Address("F5:F4:F3:F2:F1:F0"))
        device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        await device.power_on()
        advertising = await device.create_advertising_set(
            advertising_parameters=AdvertisingParameters(
                advertising_event_properties=AdvertisingEventProperties(is_connectable=False, is_scannable=False),
                primary_advertising_interval_min=20, primary_advertising_interval_max=20,
                own_address_type=hci.OwnAddressType.RANDOM, advertising_sid=9),
            random_address=device.random_address, advertising_data=structure(9, b"Other"),
            periodic_advertising_parameters=PeriodicAdvertisingParameters(
                periodic_advertising_interval_min=100, periodic_advertising_interval_max=100),
            periodic_advertising_data=data,
        )  # fmt: skip
        await advertising.start_periodic()
        address = (await place.address()).replace("tcp-client", "hci:tcp-client")
        scan = await asyncio.create_subprocess_exec(
            str(Program.path), "scan", "--radio", address, "--periodic", "--format", "json", stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"})  # fmt: skip
        assert scan.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    heard = json.loads(await scan.stdout.readline())
                    if heard.get("periodicData"):
                        break
        finally:
            scan.terminate()
            await scan.wait()
        assert heard["periodicData"] == data.hex().upper(), heard
        assert (heard["set"], heard["periodicIntervalMilliseconds"]) == (9, 100), heard
        assert heard["address"] == device.random_address.to_string(False), heard
    finally:
        await transport.close()
