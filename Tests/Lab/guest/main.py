"""The guest's driver: brings the machine's Bluetooth up for each radio, runs the scenarios, and says how each ended."""

import asyncio
import contextlib
import importlib
import logging
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bumble.link import LocalLink  # noqa: E402

from lab import capabilities, scenario  # noqa: E402
from lab.adapter import Adapter, SocketAdapter  # noqa: E402
from lab.air import Air  # noqa: E402
from lab.daemonless import Daemonless  # noqa: E402
from lab.mynah import Mynah  # noqa: E402
from lab.phone import Phone  # noqa: E402
from lab.places import LOGS, RESULTS  # noqa: E402
from lab.quick import quicken  # noqa: E402
from lab.scenario import Lab, Scenario, Skipped, order  # noqa: E402
from lab.services import Services  # noqa: E402

TOPICS = [
    "advertising", "discovery", "long_values", "errors", "notifications", "two_phones", "permissions", "survival",
    "bad_input", "app_life", "app_restored", "phone_app", "control", "behaviors", "hid", "reactions", "faults",
    "doctor", "simulation", "open_air", "open_air_compared", "open_air_bleak", "open_air_article",
]  # fmt: skip

# So many failures in a row are one failure, which more scenarios would only repeat.
HOPELESS = 10


# Which radio a driver of one radio plays.
RADIO = "LAB_RADIO"


def main() -> int:
    """Each radio has a process of its own, so that no daemon, adapter or bond of one is there for the next."""
    if radio := os.environ.get(RADIO):
        try:
            return asyncio.run(drive(radio))
        finally:
            keep_logs(radio)
    failed = 0
    for radio in order()["radios"]:
        print(f"radio {radio}:", flush=True)
        failed += subprocess.run([sys.executable, __file__], env={**os.environ, RADIO: radio}).returncode != 0
    return 1 if failed else 0


def keep_logs(radio: str) -> None:
    shutil.copytree(LOGS, RESULTS / radio.replace(":", "-"), dirs_exist_ok=True)


async def drive(radio: str) -> int:
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    logging.basicConfig(filename=LOGS / "bumble.log", level=logging.WARNING)
    quicken()
    # Before there is an adapter, whose kernel does not wait for a controller that is busy with this.
    for topic in TOPICS:
        importlib.import_module(f"scenarios.{topic}")
    lab = await bring_up(radio)
    try:
        return await play(lab, radio)
    finally:
        await lab.mynah.stop()
        await lab.services.end()


async def play(lab: Lab, radio: str) -> int:
    if order()["demo"]:
        from demo import demonstrate

        return await demonstrate(lab, RESULTS / "demo.yaml")
    runner = Runner(lab, radio)
    only = order()["only"]
    chosen = [each for each in scenario.REGISTERED if only in f"{each.topic}: {each.sentence}"]
    # Neighbours want the same bluetoothd, so that it is seldom restarted; the order within is the files'.
    chosen.sort(key=lambda each: ["experimental", "stock", None].index(each.daemon))
    for each in chosen:
        if runner.in_a_row >= HOPELESS:
            runner.give_up(len(chosen) - runner.failed - runner.passed - runner.skipped)
            break
        await runner.run(each)
    return runner.close()


async def bring_up(radio: str) -> Lab:
    air = Air(LOGS / "hci.btsnoop")
    link = LocalLink()
    adapter = SocketAdapter(link, air) if radio == "socket" else Adapter(link, air, radio)
    services = Services(LOGS) if radio == "bluez" else Daemonless(adapter, air)
    await services.start_bus()
    await adapter.plug_in()
    if radio != "socket":
        await adapter.until_set_up()
    phones = [Phone("first phone", "F0:00:00:00:00:11", link), Phone("second phone", "F0:00:00:00:00:22", link)]
    for phone in phones:
        await phone.device.power_on()
    can = await capabilities.of_bluez() if radio == "bluez" else capabilities.of_host(radio)
    return Lab(LOGS, air, adapter, services, *phones, can, Mynah(adapter.radio, LOGS))


class Runner:
    def __init__(self, lab: Lab, radio: str) -> None:
        self.lab = lab
        self.radio = radio
        self.playing: tuple | None = None
        self.passed = self.failed = self.skipped = self.in_a_row = 0

    async def run(self, each: Scenario) -> None:
        start = time.monotonic()
        self.mark(f"=== {each.topic}: {each.sentence}")
        try:
            each.check(self.lab.capabilities)
            await asyncio.wait_for(self.prepare(each), 120)
            await asyncio.wait_for(each.run(self.lab), each.limit)
            self.lab.services.check()
            await self.tidy()
        except Skipped as skipped:
            self.skipped += 1
            self.say("skip", each, start, str(skipped))
        except Exception as error:
            self.failed += 1
            self.in_a_row += 1
            text = str(error) or ("not done in time" if isinstance(error, TimeoutError) else repr(error))
            self.say("FAILED", each, start, f"{place(error)}: {text}")
            self.mark(traceback.format_exc())
            keep_logs(self.radio)
            await self.start_afresh()
        else:
            self.passed += 1
            self.in_a_row = 0
            self.say("ok", each, start)
        if each.fresh or each.profile is None:
            await self.lab.mynah.stop()
            self.playing = None

    async def prepare(self, each: Scenario) -> None:
        lab, wanted = self.lab, (each.profile, each.options, each.daemon)
        if not lab.services.suits(each.daemon):
            await lab.mynah.stop()
            self.playing = None
            await lab.services.make_ready_for(each.daemon)
        if each.profile is None or self.playing != wanted or each.fresh or not lab.mynah.running:
            await lab.mynah.stop()
            if each.profile is not None:
                await lab.play(each.profile, *each.options)
        self.playing = wanted if each.profile is not None else ("nothing",)

    async def tidy(self) -> None:
        """Phones leave and nobody remembers a bond, so that scenarios do not lean on each other."""
        lab = self.lab
        bonded = any(phone.bonded for phone in (lab.phone, lab.second))
        for phone in (lab.phone, lab.second):
            await asyncio.wait_for(phone.forget(), 30)
        await lab.services.until_alone()
        if bonded:
            await lab.services.forget_devices()

    async def start_afresh(self) -> None:
        """After a failure nothing is as it should be: the device and bluetoothd are started again."""
        lab = self.lab
        await lab.mynah.stop()
        self.playing = None
        for phone in (lab.phone, lab.second):
            with contextlib.suppress(Exception):
                await asyncio.wait_for(phone.forget(), 30)
        await lab.services.start_afresh()

    def mark(self, line: str) -> None:
        """Scenarios' borders in the logs of those who do not know of them."""
        for name in ("mynah.log", "bluetoothd.log"):
            with open(LOGS / name, "a") as log:
                log.write(line + "\n")

    def say(self, outcome: str, each: Scenario, start: float, text: str = "") -> None:
        seconds = time.monotonic() - start
        print(f"{outcome:6} {each.topic}: {each.sentence} ({seconds:.1f} s)", flush=True)
        if text:
            print("       " + text.replace("\n", "\n       "), flush=True)

    def give_up(self, left: int) -> None:
        print(f"{HOPELESS} scenarios failed in a row; {left} more were not run and count as failed", flush=True)
        self.failed += left

    def close(self) -> int:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        return 1 if self.failed or not self.passed else 0


def place(error: BaseException) -> str:
    """The line of the scenario file that did not hold."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/scenarios/" in frame.filename] or frames[-1:]
    return ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in inside) or "?"


if __name__ == "__main__":
    sys.exit(main())
