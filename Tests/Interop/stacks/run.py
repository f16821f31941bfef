"""Runs the checks, and says how each ended."""

import asyncio
import logging
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import partial

from stacks import advertising, app, bonds, central, faults, imports, iphone, measurements, netsim, open_air, packages
from stacks import periodic, program, records, updates
from stacks.bumble_device import BumbleDevice
from stacks.checks import CHECKS, Check
from stacks.helper import Helper
from stacks.netsim import Netsim
from stacks.our_device import OurDevice
from stacks.patience import LIMIT
from stacks.phone import Phone
from stacks.places import Bumbles, Ours, Place, Rootcanal, open_host

SIDE_BY_SIDE = 6


async def meeting(place: Place, check: Check, ours: bool) -> None:
    device = (
        await OurDevice.make(place, check.io, check.secure, check.scans)
        if ours
        else BumbleDevice(await open_host(await place.address()), check.io, check.secure)
    )
    phone = None
    try:
        await device.start()
        phone = Phone(await open_host(await place.address()))
        await phone.start()
        await check.run(device, phone)
    finally:
        if phone is not None:
            await phone.stop()
        await device.stop()


async def attempt(place: Place, body) -> str | None:
    """None, or what went wrong."""
    try:
        await place.open()
        try:
            await asyncio.wait_for(body(), LIMIT)
        finally:
            await place.close()
    except (Exception, asyncio.CancelledError):
        # Bumble cancels what waits for a link that ends.
        return traceback.format_exc()
    return None


async def everything(only: str, names_alone: bool) -> int:
    left_out = []
    plan: list[tuple[str, type[Place], Callable[..., Awaitable[None]]]] = []
    # The longest, which does nothing but wait, begins first.
    plan.append((f"our host on {Ours.name}: {faults.SILENCE}", Ours, faults.silence))
    for check in CHECKS:
        if check.ours_only:
            left_out.append(f"a Bumble device on our controllers: {check.sentence}: {check.ours_only}")
        else:
            body = partial(meeting, check=check, ours=False)
            plan.append((f"a Bumble device on our controllers: {check.sentence}", Ours, body))
    left_out.append(
        "a Bumble device on our controllers: it is met again encrypted after legacy pairing: "
        "it answers with the key of the other side"
    )
    places = [Ours, Bumbles, Rootcanal, Netsim]
    if packages.rootcanal() is None:
        places = [Ours, Bumbles]
        left_out.append("our host on rootcanal and netsim: their makers build no program for this machine")
    for kind in places:
        plan += [
            (f"our host on {kind.name}: {check.sentence}", kind, partial(meeting, check=check, ours=True))
            for check in CHECKS
        ]
        plan.append((f"our central on {kind.name}: it looks at a Bumble device", kind, central.looks))
        plan.append((f"our program on {kind.name}: {app.SENTENCE}", kind, app.lives))
        if kind.name in advertising.ROOM:
            plan.append((f"our program on {kind.name}: {advertising.SENTENCE}", kind, advertising.is_heard))
        if kind.name in periodic.PLACES:
            plan.append((f"our program on {kind.name}: {periodic.RECEIVED}", kind, periodic.is_received))
            plan.append((f"our program on {kind.name}: {periodic.HEARD}", kind, periodic.is_heard))
    for sentence, scene, obstacle in faults.SCENES:
        plan.append((f"our host on {Ours.name}: {sentence}", Ours, scene))
        if obstacle:
            left_out.append(f"our host on {Rootcanal.name}: {sentence}: {obstacle}")
        elif Rootcanal in places:
            plan.append((f"our host on {Rootcanal.name}: {sentence}", Rootcanal, scene))
    for kind in [Ours, Bumbles]:
        plan.append((f"our program on {kind.name}: {program.SILENT}", kind, program.confirms_nothing))
        plan.append((f"our program on {kind.name}: {program.LONG}", kind, program.asks_for_thousands))
        plan.append((f"our program on {kind.name}: {records.SENTENCE}", kind, records.are_paged))
        plan.append((f"our program on {kind.name}: {measurements.SENTENCE}", kind, measurements.are_collected))
        plan.append((f"our program on {kind.name}: {bonds.SENTENCE}", kind, bonds.are_lost))
        plan += [(f"our program on {kind.name}: {sentence}", kind, scene) for sentence, scene in updates.SCENES]
        plan.append((f"our program on {kind.name}: {iphone.AS_CENTRAL}", kind, iphone.is_used))
        plan.append((f"our program on {kind.name}: {iphone.AS_PERIPHERAL}", kind, iphone.serves_its_peripheral))
    plan.append((f"a Bumble phone on {open_air.OpenAir.name}: {open_air.SENTENCE}", open_air.OpenAir, open_air.is_used))
    plan += [(f"our import on {Ours.name}: {sentence}", Ours, scene) for sentence, scene in imports.SCENES]
    if Rootcanal in places:
        plan.append((f"our program on {Rootcanal.name}: {program.KILLED}", Rootcanal, program.comes_back))
    for sentence, scene, obstacle in netsim.SCENES if Netsim in places else []:
        name = f"our program on netsim: {sentence}"
        if obstacle is not None and obstacle[0]():
            left_out.append(f"{name}: {obstacle[1]}")
        else:
            plan.append((name, Netsim, scene))
    chosen = [each for each in plan if only in each[0]]
    if names_alone:
        for name, *_ in chosen:
            print(name)
        return 0
    # They wait for each other and for radio time, seldom for the processor.
    turn = asyncio.Semaphore(SIDE_BY_SIDE)

    async def judge(name: str, kind: type[Place], body: Callable[..., Awaitable[None]]) -> bool:
        async with turn:
            place = kind()
            trouble = await attempt(place, partial(body, place))
        if trouble is not None:
            print(f"FAILED {name}\n{trouble}", flush=True)
        return trouble is None

    ended = await asyncio.gather(*(judge(*each) for each in chosen))
    passed, failed = ended.count(True), ended.count(False)
    for each in left_out:
        if only in each:
            print(f"left out: {each}")
    print(f"interop: {passed} passed, {failed} failed, {len(left_out)} left out")
    return 1 if failed or not passed else 0


def main(options) -> int:
    logging.basicConfig(level=logging.CRITICAL, stream=sys.stderr)
    Helper.path = options.helper.resolve()
    Netsim.program = open_air.OpenAir.program = program.Program.path = options.mynah.resolve()
    if not options.list:
        # Now, since a download stops all checks and counts as part of their time.
        packages.smpclient()
    start = time.monotonic()
    status = asyncio.run(everything(options.only, options.list))
    if not options.list:
        print(f"interop: {time.monotonic() - start:.0f} s")
    return status
