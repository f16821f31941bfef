"""Reads and writes that are longer than one packet."""

from lab.scenario import Lab, Skipped, expect, expect_refusal, of, scenario

LONG = "".join(f"{place:04}" for place in range(0, 512, 4)).encode()


@scenario("values.yaml")
async def read_at_23(lab: Lab) -> None:
    """a 512-byte value is read in full at the smallest MTU of 23"""
    phone = await lab.meet()
    expect(phone.mtu, 23, "MTU")
    expect(await phone.read_long(of(phone, 0x0201).handle), LONG, "value in 22-byte parts")


@scenario("values.yaml")
async def read_at_other_sizes(lab: Lab) -> None:
    """after an MTU exchange the 512-byte value comes in fewer parts"""
    phone = await lab.meet()
    expect(await phone.exchange_mtu(247), 247, "MTU")
    expect(await phone.read(of(phone, 0x0201).handle), LONG[:246], "first part")
    expect(await phone.read_long(of(phone, 0x0201).handle), LONG, "whole value")


@scenario("values.yaml")
async def offsets(lab: Lab) -> None:
    """a read at an offset gives the value from there, nothing at its end, and an error beyond it"""
    phone = await lab.meet()
    handle = of(phone, 0x0201).handle
    for offset in (1, 4, 22, 100, 500, 511):
        expect(await phone.read_blob(handle, offset), LONG[offset:][:22], f"22 bytes at {offset}")
    expect(await phone.read_blob(handle, 512), b"", "bytes at the end")
    await expect_refusal(0x07, phone.read_blob(handle, 513), "read beyond the end")


@scenario("values.yaml")
async def short_values(lab: Lab) -> None:
    """an empty value, and one that fills a packet exactly, are read as they are"""
    phone = await lab.meet()
    expect(await phone.read_long(of(phone, 0x0207).handle), b"", "empty value")
    expect(await phone.read_long(of(phone, 0x0208).handle), b"exactly 22 bytes long.", "value of MTU-1 bytes")


@scenario("values.yaml", fresh=True)
async def write_and_read_back(lab: Lab) -> None:
    """a written value reads back, from the phone that wrote it and from the next one"""
    phone = await lab.meet()
    await phone.write(of(phone, 0x0206).handle, b"seen by both")
    expect(await phone.read(of(phone, 0x0206).handle), b"seen by both", "value for the one who wrote")
    await phone.disconnect()
    second = await lab.meet(lab.second)
    expect(await second.read(of(second, 0x0206).handle), b"seen by both", "value for the next phone")


@scenario("values.yaml", fresh=True)
async def longest_write(lab: Lab) -> None:
    """a write of maxLength is taken in one request, and one byte more is refused with 0x0D"""
    phone = await lab.meet()
    await phone.exchange_mtu(517)
    value = bytes(index % 251 for index in range(510))
    await phone.write(of(phone, 0x0202).handle, value)
    expect(await phone.read_long(of(phone, 0x0202).handle), value, "value of 510 bytes")
    await expect_refusal(0x0D, phone.write(of(phone, 0x0202).handle, value + b"\xff"), "write of 511 bytes")
    await phone.write(of(phone, 0x0203).handle, value[:20])
    await expect_refusal(0x0D, phone.write(of(phone, 0x0203).handle, value[:21]), "write of 21 bytes where 20 fit")
    expect(await phone.read(of(phone, 0x0203).handle), value[:20], "value after the refused write")


@scenario("values.yaml", fresh=True)
async def write_of_512(lab: Lab) -> None:
    """a write of 512 bytes, the longest that an attribute can be, is taken"""
    if lab.capabilities.longest_write < 512:
        raise Skipped(f"the radio's longest write is {lab.capabilities.longest_write} bytes")
    phone = await lab.meet()
    await phone.exchange_mtu(517)
    await phone.write(of(phone, 0x0206).handle, LONG)
    expect(await phone.read_long(of(phone, 0x0206).handle), LONG, "value of 512 bytes")


@scenario("values.yaml", fresh=True)
async def prepared_write(lab: Lab) -> None:
    """a long write in prepared parts is stored whole, and only when it is executed"""
    phone = await lab.meet()
    await phone.exchange_mtu(100)
    length = min(510, lab.capabilities.longest_prepared_write)
    handle, value = of(phone, 0x0202).handle, bytes(index % 253 for index in range(length))
    for offset in range(0, length, 95):
        part = value[offset : offset + 95]
        expect(await phone.prepare(handle, offset, part), part, f"repeated part at {offset}")
    expect(await phone.read_long(handle), b"short", "value before the execution")
    await phone.execute()
    expect(await phone.read_long(handle), value, "value after the execution")


@scenario("values.yaml", fresh=True)
async def cancelled_write(lab: Lab) -> None:
    """cancelled prepared writes change nothing"""
    phone = await lab.meet()
    handle = of(phone, 0x0205).handle
    await phone.prepare(handle, 0, b"never")
    await phone.execute(write=False)
    expect(await phone.read(handle), b"0123456789", "value")


@scenario("values.yaml", fresh=True)
async def write_in_the_middle(lab: Lab) -> None:
    """a prepared write at an offset keeps the bytes before the offset and replaces the rest"""
    phone = await lab.meet()
    handle = of(phone, 0x0205).handle
    await phone.prepare(handle, 4, b"abcdef")
    await phone.execute()
    expect(await phone.read(handle), b"0123abcdef", "value")


@scenario("values.yaml", fresh=True)
async def prepared_beyond(lab: Lab) -> None:
    """prepared writes past maxLength, or past the end of the value, are refused and change nothing"""
    phone = await lab.meet()
    handle = of(phone, 0x0203).handle
    for offset in (0, 15):
        await phone.prepare(handle, offset, b"x" * 15)
    await expect_refusal(0x0D, phone.execute(), "execution of 30 bytes where 20 fit")
    expect(await phone.read(handle), b"", "value")
    await phone.prepare(handle, 5, b"gap")
    await expect_refusal(0x07, phone.execute(), "execution after a gap")
    expect(await phone.read(handle), b"", "value after the gap")


@scenario("values.yaml", fresh=True)
async def write_without_response(lab: Lab) -> None:
    """a write without response arrives without an answer"""
    phone = await lab.meet()
    handle, before = of(phone, 0x0204).handle, lab.mynah.mark
    await phone.command(handle, b"no answer")
    # The device's own event says when it came; the phone's read says what it did.
    await lab.mynah.wait_for("write", since=before)
    expect(await phone.read(handle), b"no answer", "value")


@scenario("values.yaml", fresh=True)
async def commands_in_order(lab: Lab) -> None:
    """fifty writes without response in a row all arrive, in order"""
    phone = await lab.meet()
    handle, before = of(phone, 0x0204).handle, lab.mynah.mark
    for number in range(50):
        await phone.command(handle, bytes([number]))
    await lab.mynah.wait_for("write", since=before, value="31")
    expect([each["value"] for each in lab.mynah.all("write", before)], [f"{each:02X}" for each in range(50)], "writes")
    expect(await phone.read(handle), b"\x31", "value")
