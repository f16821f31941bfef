"""The same profile through bluetoothd and through Mynah's own host, with bluetoothd as the phone of both."""

import json

from lab.mynah import Mynah
from lab.open_air import OpenAir, only_air
from lab.scenario import PROFILES, Lab, Skipped, expect, order, scenario
from lab.survey import Survey

SECOND = "C0:DE:AA:00:00:11"
PROFILE = PROFILES / "compared.yaml"
# The version of bluetoothd that DIFFERENCES are those of.
GENERATION = "bookworm"


def sig(number: str) -> str:
    return f"0000{number}-0000-1000-8000-00805f9b34fb"


# Answers that differ, and of which nothing more is known.
EACH_ITS_OWN = ("a value", "another one")
GATT, FEATURES, HASH, SERVER = sig("1801"), sig("2b29"), sig("2b2a"), sig("2b3a")
# The answers that differ, and why: the answer of Mynah's own host, and bluetoothd's. All others have the same bytes.
DIFFERENCES: dict[str, tuple[object, object]] = {
    # bluetoothd advertises with the adapter's public address, and a device of Mynah has a static random one.
    "advertised AddressType": ("random", "public"),
    # bluetoothd has Enhanced ATT, and offers it to clients: bit 0 of Server Supported Features, and bit 1 of the Client
    # Supported Features that its client writes if the server has it.
    f"{GATT} {FEATURES} read": ("05", "07"),
    f"{GATT} {FEATURES} after b'\\x01' read": ("05", "07"),
    f"{GATT} {SERVER} read": ("00", "01"),
    # The features are one byte; Mynah's host ignores bytes that it does not know, as the specification wants.
    f"{GATT} {FEATURES} write b'one more than 20 byte'": (None, "org.bluez.Error.InvalidArguments: Invalid Length"),
    # The hash covers GAP, GATT and all handles, and bluetoothd orders its services in another way. It ignores the offset
    # of a read of it.
    f"{GATT} {HASH} read": EACH_ITS_OWN,
    f"{GATT} {HASH} read at 3": EACH_ITS_OWN,
}


@scenario(daemon=None, fresh=True, limit=600, needs=("daemon",))
async def compared(lab: Lab) -> None:
    """a profile is the same to a phone by bluetoothd on a second adapter and by our own host, but for what BlueZ changes"""
    if order()["generation"] != GENERATION:
        raise Skipped(f"the differences are listed for the BlueZ of {GENERATION}")
    # Some 300 requests, one after the other.
    async with only_air(lab), OpenAir(lab, PROFILE, interval=40) as air:
        # The second adapter is that of another process on the same air.
        second, bluez = Mynah("", lab.results), Mynah("bluez", lab.results)
        try:
            ready = await second.open_air("--vhci", "--address", SECOND)
            (adapter,) = ready["adapters"]
            path = f"/org/bluez/{adapter}"

            def powered(objects: dict) -> bool:
                return path in objects and objects[path]["org.bluez.Adapter1"]["Powered"].value

            await lab.services.until(powered, f"power of {adapter}", 90)
            own = await Survey(lab, air.adapter, air.device.all("ready")[0]["address"]).take()
            await air.device.stop()
            await bluez.start(PROFILE, "--adapter", adapter)
            theirs = await Survey(lab, air.adapter, SECOND).take()
        finally:
            await bluez.stop()
            status = await second.stop()
        expect(status, 0, "the exit status of the second mynah air")
        (lab.results / "compared.json").write_text(json.dumps({"own": own, "bluez": theirs}, indent=1))
        expect_the_differences(own, theirs)


def expect_the_differences(own: dict[str, object], theirs: dict[str, object]) -> None:
    """Expects that the answers differ where `DIFFERENCES` says, and nowhere else."""
    expect(sorted(theirs), sorted(own), "the requests that were answered")
    for name, (ours, other) in DIFFERENCES.items():
        if (ours, other) != EACH_ITS_OWN:
            expect((own[name], theirs[name]), (ours, other), f"{name}, of our host and of bluetoothd")
    found = sorted(name for name in own if own[name] != theirs[name])
    expect({name: (own[name], theirs[name]) for name in found if name not in DIFFERENCES}, {}, "answers that differ")
    expect(found, sorted(DIFFERENCES), "the names of the answers that differ")
