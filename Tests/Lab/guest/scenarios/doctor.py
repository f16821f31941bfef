"""`mynah doctor` finds what stops or degrades a run, and a run works after its remedy."""

import asyncio
import contextlib
import json
import shlex
from pathlib import Path

from lab.adapter import SETS, RadioSwitch
from lab.other import other_application
from lab.places import BINARY, CHECKOUT
from lab.scenario import Lab, expect, expect_that, scenario
from scenarios.bad_input import POLICY, power, reload_bus

CONFIGURATION = Path("/etc/bluetooth/main.conf")
BATTERY = CHECKOUT / "profiles" / "battery.yaml"


class Report:
    """The report of the doctor, as JSON."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.verdict = json.loads(text)["verdict"]
        self.checks = {each["id"]: each for each in json.loads(text)["checks"]}

    def remedy(self, name: str, verdict: str) -> str:
        """The remedy of a check, which has this verdict."""
        check = self.checks[name]
        expect(check["verdict"], verdict, f"the verdict of {check}")
        expect_that(check["remedy"], f"{name} has no remedy: {check}")
        return check["remedy"]

    def expect_fine(self, *names: str) -> None:
        for name in names:
            expect(self.checks[name]["verdict"], "fine", f"the verdict of {self.checks[name]}")


async def ask(lab: Lab, *arguments: str, user: str | None = None, radio: str = "bluez") -> Report:
    command = [BINARY, "doctor", "--format", "json", "--radio", radio, *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, user=user)
    text, _ = await asyncio.wait_for(process.communicate(), 90)
    lab.mynah.note(f"--- {' '.join(command)}\n{text.decode()}")
    assert process.returncode is not None
    report = Report(process.returncode, text.decode())
    expect(report.status, {"fine": 0, "stop": 1, "loss": 2}[report.verdict], "exit status")
    return report


async def change(remedy: str) -> None:
    """Carries out the part of a remedy that changes main.conf; there is no systemd in the guest."""
    command, _, rest = remedy.partition(" && ")
    expect(rest, "systemctl restart bluetooth", "the end of the remedy")
    process = await asyncio.create_subprocess_shell(command)
    expect(await process.wait(), 0, f"the status of {command}")


async def restart(lab: Lab, mode: str, *arguments: str) -> None:
    await lab.services.stop_bluetoothd()
    await lab.services.start_bluetoothd(mode, *arguments)


async def plays(lab: Lab, profile: str | Path = "heart-rate.yaml") -> None:
    """A run works now."""
    await lab.play(profile)
    await lab.mynah.wait_for("advertising.started")
    await lab.mynah.stop()


@contextlib.asynccontextmanager
async def machine(lab: Lab):
    """A machine of its own: the guest's root may be a container's, and its bluetoothd has the usual settings again."""
    Path("/.dockerenv").unlink(missing_ok=True)
    before = CONFIGURATION.read_bytes()
    try:
        yield
    finally:
        CONFIGURATION.write_bytes(before)
        await lab.mynah.stop()
        await lab.services.stop_bluetoothd()


@scenario(needs=("daemon",))
async def nothing(lab: Lab) -> None:
    """with nothing that stops a run"""
    Path("/.dockerenv").unlink(missing_ok=True)
    before = await lab.services.settings()
    report = await ask(lab)
    report.expect_fine(
        "kernel", "container", "rfkill", "bus", "busPolicy", "daemon", "adapter", "lowEnergy", "peripheralRole",
        "advertisingSets", "otherAdvertisers", "experimental", "reverseDiscovery", "attributeChannels", "exchangeMTU", "privacy",
    )  # fmt: skip
    expect(report.verdict, "fine", "verdict")
    expect(await lab.services.settings(), before, "settings of the adapter")
    expect(await lab.instances(), 0, "advertising sets in use")
    # It needs no privileges.
    report = await ask(lab, user="nobody")
    report.expect_fine("lowEnergy", "reverseDiscovery", "attributeChannels")
    expect(report.verdict, "fine", "verdict for a user without privileges")


@scenario(needs=("daemon",), daemon=None)
async def stopped_daemon(lab: Lab) -> None:
    """with a bluetoothd that is stopped"""
    async with machine(lab):
        await lab.services.stop_bluetoothd()
        remedy = (await ask(lab)).remedy("daemon", "stop")
        expect_that(remedy.endswith("systemctl start bluetooth"), remedy)
        await lab.services.start_bluetoothd("stock")
        await lab.services.until_adapter()
        (await ask(lab)).expect_fine("daemon")
        await plays(lab)


@scenario(needs=("daemon",))
async def no_adapter(lab: Lab) -> None:
    """without an adapter"""
    Path("/.dockerenv").unlink(missing_ok=True)
    await lab.adapter.pull_out()
    try:
        remedy = (await ask(lab)).remedy("adapter", "stop")
        expect_that(remedy.startswith("plug one in"), remedy)
    finally:
        await lab.adapter.plug_in()
        await lab.services.until_adapter()
    (await ask(lab)).expect_fine("adapter")
    await plays(lab)


@scenario(needs=("daemon",))
async def blocked(lab: Lab) -> None:
    """with an adapter that rfkill blocks"""
    RadioSwitch.block(True)
    try:
        await lab.services.until(lambda objects: not power(objects), "the end of the adapter's power", 20)
        remedy = (await ask(lab)).remedy("rfkill", "stop")
        expect_that(remedy.endswith("rfkill unblock bluetooth") and "sudo" not in remedy, remedy)
    finally:
        # As rfkill(8) does, which the guest does not have.
        RadioSwitch.block(False)
        await lab.services.until_powered()
    (await ask(lab)).expect_fine("rfkill")
    await plays(lab)


@scenario(needs=("daemon",), daemon=None)
async def classic_only(lab: Lab) -> None:
    """with a bluetoothd whose main.conf allows BR/EDR only"""
    async with machine(lab):
        text = CONFIGURATION.read_text().replace("#ControllerMode = dual", "ControllerMode = bredr")
        CONFIGURATION.write_text(text)
        await restart(lab, "stock")
        # It passes over the lab's adapter, which has LE alone.
        await lab.services.until(lambda objects: "/org/bluez" in objects, "an answer of bluetoothd's", 30)
        mynah = await lab.play("heart-rate.yaml", ready=False)
        expect_that(await mynah.ended() == 1, "a run works although there is no LE")
        await change((await ask(lab)).remedy("lowEnergy", "stop"))
        await restart(lab, "stock")
        await lab.services.until_adapter()
        (await ask(lab)).expect_fine("lowEnergy", "adapter")
        await plays(lab)


@scenario(needs=("daemon",))
async def every_set_taken(lab: Lab) -> None:
    """when another application holds every advertising set"""
    async with other_application(lab.services) as other:
        for _ in range(SETS):
            await other.hold()
            report = await ask(lab)
            report.remedy("otherAdvertisers", "loss")
        remedy = report.remedy("advertisingSets", "stop")
        expect_that(remedy.startswith("end one of them"), remedy)
        await other.release()
        (await ask(lab)).expect_fine("advertisingSets")
        await plays(lab)


@scenario(needs=("daemon",))
async def refused_by_policy(lab: Lab) -> None:
    """as a user to whom the bus denies bluetoothd"""
    path = Path("/etc/dbus-1/system.d/zz-lab.conf")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POLICY)
    try:
        await reload_bus(lab)
        remedy = (await ask(lab, user="nobody")).remedy("busPolicy", "stop")
        expect_that("as root" in remedy, remedy)
        # As root.
        (await ask(lab)).expect_fine("busPolicy")
        await plays(lab)
    finally:
        path.unlink()
        await reload_bus(lab)


@scenario(needs=("daemon",), daemon=None)
async def not_experimental(lab: Lab) -> None:
    """with a bluetoothd without --experimental, whose intervals are its own before 5.77"""
    async with machine(lab):
        await restart(lab, "stock")
        await lab.services.until_adapter()
        report = await ask(lab, str(BATTERY))
        if lab.capabilities.stock_interval:
            report.expect_fine("experimental")
            return
        await change(report.remedy("experimental", "loss"))
        await restart(lab, "stock")
        await lab.services.until_adapter()
        (await ask(lab, str(BATTERY))).expect_fine("experimental", "profile")
        await plays(lab, BATTERY)
        expect(lab.mynah.all("warning", code="intervalIgnored"), [], "warnings about the interval")


@scenario(needs=("daemon",), daemon=None)
async def costly_settings(lab: Lab) -> None:
    """with settings of main.conf that cost something, as a stock bluetoothd has some"""
    async with machine(lab):
        text = CONFIGURATION.read_text().replace("#Privacy = off", "Privacy = device")
        CONFIGURATION.write_text(text.replace("#ExchangeMTU = 517", "ExchangeMTU = 100"))
        await restart(lab, "stock")
        await lab.services.until_adapter()
        report = await ask(lab)
        costly = ["reverseDiscovery", "exchangeMTU", "privacy"]
        if report.checks["attributeChannels"]["verdict"] != "fine":
            costly.append("attributeChannels")
        for name in costly:
            await change(report.remedy(name, "loss"))
        await restart(lab, "stock")
        await lab.services.until_adapter()
        (await ask(lab)).expect_fine(*costly)
        await plays(lab)


@scenario(needs=("daemon",), daemon=None)
async def broken_settings(lab: Lab) -> None:
    """with a syntax error in main.conf, for which bluetoothd ignores the file"""
    async with machine(lab):
        text = CONFIGURATION.read_text().replace("#ReverseServiceDiscovery = true", "ReverseServiceDiscovery = false")
        CONFIGURATION.write_text(text.replace("[GATT]", "[GATT]\nExchangeMTU = 100\nno setting"))
        await restart(lab, "stock")
        await lab.services.until_powered()
        report = await ask(lab)
        report.expect_fine("exchangeMTU")
        report.remedy("reverseDiscovery", "loss")
        await change(report.remedy("mainConfiguration", "loss"))
        await restart(lab, "stock")
        await lab.services.until_adapter()
        report = await ask(lab)
        report.expect_fine("mainConfiguration", "reverseDiscovery")
        report.remedy("exchangeMTU", "loss")
        await plays(lab)


@scenario(needs=("daemon",), daemon=None)
async def clashing_plugin(lab: Lab) -> None:
    """with plugins of bluetoothd that publish a service of the profile"""
    head = "mynah: 1\nname: Volume\ndevice: {name: Volume}\nadvertising: {serviceUUIDs: [180F]}\nservices:\n"
    services = "".join(f"  - {{uuid: {uuid}, characteristics: [{{uuid: 2A19, properties: [read], value: {{hex: 64}}}}]}}\n"
                       for uuid in ("1844", "180A", "180F"))  # fmt: skip
    profile = lab.written("volume.yaml", head + services)
    async with machine(lab):
        await restart(lab, "stock", "-E")
        await lab.services.until_adapter()
        report = await ask(lab, str(profile))
        device, _, plugin = report.remedy("services", "loss").partition("; and ")
        expect_that("1844" in report.checks["services"]["found"], report.checks["services"]["found"])
        await change(device)
        words = shlex.split(plugin.replace("'", ""))
        expect(words[:2], ["add", "-P"], "the remedy")
        await restart(lab, "stock", "-E", "-P", words[2])
        await lab.services.until_adapter()
        (await ask(lab, str(profile))).expect_fine("services")
        await plays(lab, profile)


@scenario()
async def taken_whole(lab: Lab) -> None:
    """for an adapter or a controller that is taken whole"""
    if lab.capabilities.daemon:
        remedy = (await ask(lab, radio="hci:user:0")).remedy("controller", "stop")
        expect_that(remedy.startswith("bluetoothctl power off"), remedy)
        await lab.services.power(False)
        try:
            (await ask(lab, radio="hci:user:0")).expect_fine("controller", "kernel", "rfkill", "lowEnergy")
        finally:
            await lab.services.power(True)
            await lab.services.until_adapter()
    elif lab.adapter.radio.startswith("hci:user:"):
        (await ask(lab, radio=lab.adapter.radio)).expect_fine("controller", "kernel", "rfkill", "lowEnergy")
        remedy = (await ask(lab, radio=lab.adapter.radio, user="nobody")).remedy("controller", "stop")
        expect_that(remedy.startswith("run with sudo"), remedy)
        await plays(lab)
    else:
        (await ask(lab, radio=lab.adapter.radio)).expect_fine("controller")
        await lab.adapter.pull_out()
        try:
            remedy = (await ask(lab, radio=lab.adapter.radio)).remedy("controller", "stop")
            expect(remedy, "start the controller first", "remedy")
        finally:
            await lab.adapter.plug_in()
        await plays(lab)
