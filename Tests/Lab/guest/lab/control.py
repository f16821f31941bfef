"""The control API of the device under test, through Mynah's Python client."""

import asyncio
import contextlib
import sys

from lab.places import CHECKOUT, WORK

sys.path.insert(0, str(CHECKOUT / "clients" / "python"))

from mynah.client import Client, Device, Problem  # noqa: E402

__all__ = ["OPTIONS", "Client", "Device", "Problem", "calmly", "fault", "held"]

ADDRESS = f"unix:{WORK}/control.sock"
OPTIONS = ("--control", ADDRESS)


def held(name: str) -> tuple[Client, Device]:
    client = Client(ADDRESS)
    return client, Device(client, name)


async def calmly(function, *arguments, **options):
    """A call of the client, which blocks, beside the phone, which is on the loop."""
    return await asyncio.to_thread(function, *arguments, **options)


@contextlib.asynccontextmanager
async def fault(device: Device, name: str):
    """The fault is on within it."""
    await calmly(device.fault, name)
    try:
        yield
    finally:
        await calmly(device.fault, name, off=True)
