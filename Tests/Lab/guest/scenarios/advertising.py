"""The advertising data, in bytes."""

from lab.air import structures
from lab.scenario import Lab, Skipped, expect, expect_that, scenario

# As bluetoothd composes it: service UUIDs, manufacturer data, service data, appearance, raw data, Flags last.
ADVERT = "05030D180F18" "06FF5900010203" "04160F1864" "03194103" "02240A" "020106"
NAME = "0A09" + b"Mynah Lab".hex().upper()
# As Mynah composes it: the Flags first, and the name in the scan response where it does not fit.
OWN_ADVERT = "020106" "05030D180F18" "06FF5900010203" "04160F1864" "03194103" "02240A"


def advert(lab: Lab) -> str:
    return OWN_ADVERT if lab.capabilities.exact_advert else ADVERT


@scenario("advertising.yaml")
async def exact_bytes(lab: Lab) -> None:
    """the advert and the scan response are the profile's, byte for byte, in the radio's order"""
    on_air = await lab.air.until_advertised()
    expect(on_air.data.hex().upper(), advert(lab), "advertising data")
    expect(on_air.scan_response.hex().upper(), NAME, "scan response data")


@scenario("advertising.yaml")
async def told_as_it_is(lab: Lab) -> None:
    """the event advertising.started gives the very bytes that are on the air"""
    started = await lab.mynah.wait_for("advertising.started")
    on_air = await lab.air.until_advertised()
    told = started.get("advertising", started)
    expect(told.get("data"), on_air.data.hex().upper(), "data of the event")
    expect(told.get("scanResponse"), on_air.scan_response.hex().upper(), "scanResponse of the event")


@scenario("advertising.yaml")
async def connectable(lab: Lab) -> None:
    """the advert is connectable and scannable, and a phone hears its bytes and connects"""
    on_air = await lab.air.until_advertised()
    expect_that(on_air.connectable, f"event properties {on_air.properties:#06x} are not connectable")
    expect_that(on_air.scannable, f"event properties {on_air.properties:#06x} are not scannable")
    heard = await lab.phone.find(lab.adapter.address)
    expect(heard.hex().upper(), advert(lab), "advertising data that the phone heard")
    await lab.phone.connect(lab.adapter.address)


@scenario("advertising.yaml")
async def interval(lab: Lab) -> None:
    """the interval is the one that was asked for where bluetoothd takes it"""
    on_air = await lab.air.until_advertised()
    expect(on_air.interval_milliseconds, (100.0, 100.0), "advertising interval in ms")
    expect(lab.mynah.all("warning"), [], "warnings")


@scenario("everything.yaml")
async def long_uuid(lab: Lab) -> None:
    """a 128-bit UUID is beside a 16-bit one, each in its own list"""
    on_air = await lab.air.until_advertised()
    lists = [(0x03, "0D18"), (0x07, "00000062616C0080614C0001616E796D".upper())]
    wanted = [(0x01, "06"), *lists] if lab.capabilities.exact_advert else [*lists, (0x01, "06")]
    found = [(kind, payload.hex().upper()) for kind, payload in structures(on_air.data)]
    expect(found, [(kind, payload) for kind, payload in wanted], "AD structures")


@scenario("sets.yaml", fresh=True, needs=("exact_advert", "own_addresses"))
async def several_sets(lab: Lab) -> None:
    """each advertising set has its own properties, interval and bytes, legacy and extended, and a phone hears them"""
    await lab.air.signal.until(lambda: len(lab.air.advertised) == 3, "three sets on the air", 20)
    found = [(each.properties, each.interval_milliseconds, each.data.hex().upper()) for each in lab.air.advertised]
    wanted = [
        (0x13, (50.0, 50.0), "02011A" "05030F180D18" "050953657473"),
        (0x10, (100.0, 125.0), "06FF4C00021507"),
        (0x00, (50.0, 50.0), "2BFFFFFF" + "AB" * 40),
    ]
    expect(found, wanted, "properties, interval in ms and data of each set")
    heard = await lab.phone.find(lab.adapter.address)
    expect(heard.hex().upper(), wanted[0][2], "advertising data that the phone heard")


# Of several.yaml: properties, interval in ms and data of each set.
BEACON = (0x10, (100.0, 125.0), "06FF4C00021507")
EXTENDED = (0x00, (50.0, 50.0), "0716D2FC4002C409")


async def three_sets(lab: Lab) -> set[bytes]:
    """Waits until the three sets of several.yaml are on the air; gives their data."""
    wanted = [(0x13, (50.0, 50.0), "020106" "03030F18" "08095365766572616C"), BEACON, EXTENDED]
    if not lab.capabilities.exact_advert:
        # The kernel adds Flags to a set without any, because BR/EDR is off.
        others = [(properties, interval, "020104" + data) for properties, interval, data in (BEACON, EXTENDED)]
        wanted = [(0x13, (50.0, 50.0), "03030F18" "020106"), *others]
    await lab.air.signal.until(lambda: len(lab.air.advertised) == 3, "three sets on the air", 30)
    found = [(each.properties, each.interval_milliseconds, each.data.hex().upper()) for each in lab.air.advertised]
    expect(sorted(found), sorted(wanted), "properties, interval in ms and data of each set")
    return {bytes.fromhex(data) for _, _, data in found}


@scenario("several.yaml", fresh=True)
async def sets_with_one_address(lab: Lab) -> None:
    """three sets without addresses of their own are on the air, also beside a link, and a phone hears each of them"""
    sets = await three_sets(lab)
    await lab.phone.hear(sets)
    await lab.phone.find(lab.adapter.address)
    await lab.phone.connect(lab.adapter.address)
    sets = await three_sets(lab)
    await lab.second.hear(sets)
    expect(await lab.mynah.stop(), 0, "exit status")
    await lab.air.until_silent()


@scenario("several.yaml", fresh=True, needs=("daemon",))
async def sets_after_a_restart(lab: Lab) -> None:
    """three sets are on the air again after bluetoothd was restarted, and a phone hears each of them"""
    mode = lab.services.mode
    await three_sets(lab)
    await lab.services.stop_bluetoothd()
    await lab.mynah.wait_for("radio.lost")
    await lab.services.start_bluetoothd(mode)
    await lab.mynah.wait_for("radio.recovered")
    await lab.phone.hear(await three_sets(lab))


@scenario("advertising.yaml", fresh=True)
async def off_the_air(lab: Lab) -> None:
    """SIGTERM takes the advert off the air, and the exit status is 0"""
    await lab.air.until_advertised()
    status = await lab.mynah.stop()
    expect(status, 0, "exit status")
    await lab.air.until_silent()
    expect(await lab.instances(), 0, "active instances")


@scenario(fresh=True)
async def silent_without_advertising(lab: Lab) -> None:
    """a profile without advertising is ready and silent"""
    await lab.play(lab.written("silent.yaml", SILENT))
    expect(lab.air.advertised, [], "adverts on the air")


SILENT = """
mynah: 1
name: Silent
device: {name: Silent}
services:
  - uuid: battery
    characteristics:
      - {uuid: 2A19, properties: [read], value: {hex: 64}}
"""


@scenario("advertising.yaml", daemon="stock", fresh=True, needs=("daemon",))
async def stock_interval(lab: Lab) -> None:
    """a bluetoothd that ignores the interval leaves the advert on the air, with a warning that says so"""
    if lab.capabilities.stock_interval:
        raise Skipped("the radio honours the interval in the stock configuration too")
    on_air = await lab.air.until_advertised()
    expect(on_air.interval_milliseconds, (1280.0, 1280.0), "advertising interval in ms")
    warning = await lab.mynah.wait_for("warning")
    expect_that("interval" in str(warning).lower(), f"the warning does not speak of the interval: {warning}")


@scenario("advertising.yaml", daemon="stock", needs=("daemon",))
async def stock_bytes(lab: Lab) -> None:
    """the stock configuration puts the same bytes on the air"""
    on_air = await lab.air.until_advertised()
    expect(on_air.data.hex().upper(), advert(lab), "advertising data")
    expect(on_air.scan_response.hex().upper(), NAME, "scan response data")
