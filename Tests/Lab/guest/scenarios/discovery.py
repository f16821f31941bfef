"""The attribute table as a phone finds it."""

from lab.phone import Phone
from lab.scenario import Lab, expect, expect_refusal, of, scenario, uuid

# bluetoothd's own: GAP and GATT, and in its stock configuration a PnP ID.
OWN = {"1800", "1801"}


def table(phone: Phone, own: set[str] = OWN) -> dict:
    return {
        service.uuid: {
            "primary": service.primary,
            "includes": sorted(service.includes),
            "characteristics": {
                each.uuid: [each.properties, sorted(descriptor.uuid for descriptor in each.descriptors)]
                for each in service.characteristics
            },
        }
        for service in phone.services
        if service.uuid not in own
    }


EVERYTHING = {
    "180D": {
        "primary": True,
        "includes": ["180F", uuid(0x0500)],
        "characteristics": {"2A37": [["notify"], ["2902"]], "2A38": [["read"], []], "2A39": [["write"], []]},
    },
    "180F": {
        "primary": True, "includes": [], "characteristics": {"2A19": [["read", "notify"], ["2902"]]},
    },
    uuid(0x0100): {
        "primary": True,
        "includes": [],
        "characteristics": {
            uuid(0x0101): [["broadcast", "read"], []],
            uuid(0x0102): [["writeWithoutResponse"], []],
            uuid(0x0103): [["indicate"], ["2902"]],
            uuid(0x0104): [["read", "authenticatedSignedWrites"], []],
            uuid(0x0105): [["read", "write", "extendedProperties"], ["2900"]],
            uuid(0x0106): [
                ["read", "writeWithoutResponse", "write", "notify", "indicate", "extendedProperties"],
                ["2900", "2901", "2902", "2904", uuid(0x0107)],
            ],
        },
    },
    uuid(0x0500): {"primary": False, "includes": [], "characteristics": {uuid(0x0501): [["read"], []]}},
}  # fmt: skip


@scenario("everything.yaml")
async def exactly_the_profile(lab: Lab) -> None:
    """discovery finds the profile's services, includes, characteristics, properties and descriptors, and no others"""
    phone = await lab.meet()
    expect(table(phone), EVERYTHING, "attribute table")


@scenario("everything.yaml")
async def extended_properties(lab: Lab) -> None:
    """reliable write and writable auxiliaries show in the extended properties descriptors"""
    phone = await lab.meet()
    expect(await phone.read(of(phone, 0x0105).descriptor("2900").handle), b"\x01\x00", "extended properties of 0105")
    expect(await phone.read(of(phone, 0x0106).descriptor("2900").handle), b"\x02\x00", "extended properties of 0106")


@scenario("everything.yaml")
async def values(lab: Lab) -> None:
    """static values, descriptors and a secondary service's value read as the profile has them"""
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic("2A38").handle), b"\x01", "Body Sensor Location")
    expect(await phone.read(of(phone, 0x0101).handle), b"broadcast", "text value")
    expect(await phone.read(of(phone, 0x0501).handle), b"secondary", "value in the secondary service")
    descriptors = of(phone, 0x0106)
    expect(await phone.read(descriptors.descriptor("2901").handle), b"Name", "user description")
    format = await phone.read(descriptors.descriptor("2904").handle)
    expect(format.hex(), "19000027010000", "presentation format")
    expect(await phone.read(descriptors.descriptor(uuid(0x0107)).handle), b"Mynah", "base64 value")


@scenario("everything.yaml", fresh=True)
async def writable_descriptor(lab: Lab) -> None:
    """a writable user description takes a value, reads it back, and refuses one that is too long"""
    phone = await lab.meet()
    handle = of(phone, 0x0106).descriptor("2901").handle
    await phone.write(handle, b"Pulse")
    expect(await phone.read(handle), b"Pulse", "written user description")
    await phone.exchange_mtu(100)
    await expect_refusal(0x0D, phone.write(handle, bytes(21)), "a description of 21 bytes where 20 fit")


@scenario("everything.yaml")
async def device_name(lab: Lab) -> None:
    """the GAP device name is the profile's, while it plays"""
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic("2A00").handle), b"Mynah Lab", "GAP device name")


@scenario("everything.yaml", daemon="stock", needs=("daemon",))
async def stock_table(lab: Lab) -> None:
    """the stock configuration shows the same services beside bluetoothd's own PnP ID"""
    phone = await lab.meet()
    expect(table(phone, OWN | {"180A"}), EVERYTHING, "attribute table")
