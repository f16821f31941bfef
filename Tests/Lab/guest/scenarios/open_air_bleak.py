"""A program of bleak, on an adapter of mynah air."""

import asyncio
import sys

from lab.open_air import OpenAir, only_air
from lab.places import CHECKOUT
from lab.scenario import Lab, expect, scenario

BLEAK = CHECKOUT / "Tests" / "Bleak"


async def run_program() -> str:
    """All that the program prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(BLEAK / "program"),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    return said.decode(errors="replace")


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def is_unchanged(lab: Lab) -> None:
    """a program of bleak finds, reads, writes, is notified and pairs, and prints what it prints with mynah.bleak"""
    async with only_air(lab), OpenAir(lab, BLEAK / "thermostat.yaml") as air:
        expect(await run_program(), (BLEAK / "output.txt").read_text(), "what the program prints")
        air.expect_no_errors()
