"""Runs in virtual time, which are the same on every machine; a guest's processor has no FMA."""

import asyncio
import json

from lab.places import BINARY, CHECKOUT, RESULTS
from lab.scenario import Lab, expect, scenario


@scenario(daemon=None, limit=600)
async def the_same_everywhere(lab: Lab) -> None:
    """seeds have the same events and the same packets as outside of this machine"""
    wanted = json.loads((RESULTS / "order.json").read_text())["digests"]
    program = str(CHECKOUT / "Tests" / "Simulation" / "run")
    process = await asyncio.create_subprocess_exec(
        "/usr/bin/python3", program, "--mynah", BINARY, "--seeds", str(len(wanted)), "--minutes", "1", "--digests",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    expect(output.decode().splitlines(), wanted, "seeds, and the digests of their events and captures")
