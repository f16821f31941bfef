"""The errors that a profile orders, and those of the attribute protocol itself."""

import asyncio
from pathlib import Path

from lab.places import BINARY
from lab.scenario import Lab, expect, expect_refusal, expect_that, of, scenario
from lab.services import end


@scenario("errors.yaml")
async def reads(lab: Lab) -> None:
    """each of the 32 application errors from 0x80 to 0x9F answers a read, as ordered"""
    phone = await lab.meet()
    for code in range(0x80, 0xA0):
        await expect_refusal(code, phone.read(of(phone, 0x0300 | code).handle), f"read of the one that orders {code:#04x}")


@scenario("errors.yaml")
async def writes(lab: Lab) -> None:
    """each of the 32 application errors from 0x80 to 0x9F answers a write, as ordered"""
    phone = await lab.meet()
    for code in range(0x80, 0xA0):
        handle = of(phone, 0x0300 | 0x11F - code).handle
        await expect_refusal(code, phone.write(handle, b"\x01"), f"write to the one that orders {code:#04x}")


@scenario("errors.yaml")
async def refused_writes_change_nothing(lab: Lab) -> None:
    """a refused write leaves the value as it was"""
    phone = await lab.meet()
    handle = of(phone, 0x0301).handle
    await expect_refusal(0x9F, phone.write(handle, b"other"), "write")
    expect(await phone.read(handle), b"fine", "value after the refused write")


@scenario("everything.yaml")
async def properties_are_kept(lab: Lab) -> None:
    """reading what is only writable, and writing what is only readable, is not permitted"""
    phone = await lab.meet()
    await expect_refusal(0x02, phone.read(phone.characteristic("2A39").handle), "read of a characteristic without read")
    await expect_refusal(0x03, phone.write(phone.characteristic("2A38").handle, b"\x02"), "write to one without write")


@scenario("everything.yaml")
async def unknown_handle(lab: Lab) -> None:
    """a handle that nobody has is invalid, and the link lives on"""
    phone = await lab.meet()
    await expect_refusal(0x01, phone.read(0xFFF0), "read of the handle 0xFFF0")
    expect(await phone.read(phone.characteristic("2A38").handle), b"\x01", "value afterwards")


@scenario(fresh=True, needs=("daemon",))
async def slow_handler(lab: Lab) -> None:
    """a handler that takes two seconds still answers, and one that never answers is an error before bluetoothd gives up"""
    slow = Path(BINARY).with_name("mynah-lab-slow")
    device = await asyncio.create_subprocess_exec(slow, stdout=asyncio.subprocess.PIPE)
    try:
        assert device.stdout is not None
        expect((await asyncio.wait_for(device.stdout.readline(), 30)).strip(), b"ready", "first line of the slow device")
        phone = await lab.meet()
        expect(await phone.read(phone.characteristic("2A38").handle), b"\x2a", "value that came late")
        start = asyncio.get_running_loop().time()
        await expect_refusal(0x0E, phone.read(phone.characteristic("2A39").handle), "value that never comes")
        seconds = asyncio.get_running_loop().time() - start
        expect_that(4 <= seconds < 10, f"the error came after {seconds:.1f} s")
        expect(await phone.read(phone.characteristic("2A38").handle), b"\x2a", "value after the error")
    finally:
        await end(device)
