"""Reactions: what a write or a subscription sets off, as the phone meets it."""

import asyncio

from lab.scenario import Lab, expect, expect_refusal, expect_that, of, scenario

COMMANDS, ANSWERS, POWER = 0x0901, 0x0902, 0x0903


@scenario("reactions.yaml")
async def answers(lab: Lab) -> None:
    """a write is answered with values after its response, sets a variable, and a value that reads it is sent"""
    phone = await lab.meet()
    answers, power = await phone.subscribe(of(phone, ANSWERS)), await phone.subscribe(of(phone, POWER))
    expect(await phone.until_heard(power, 1), [b"\x96\x00"], "value at the subscription")
    start = asyncio.get_running_loop().time()
    await phone.write(of(phone, COMMANDS).handle, b"\x01\xfa\x00")
    expect(await phone.until_heard(answers, 2), [b"\x80\x01\x01", b"later"], "answers")
    expect_that(asyncio.get_running_loop().time() - start >= 0.25, "the second answer came too early")
    expect(await phone.until_heard(power, 2), [b"\x96\x00", b"\xfa\x00"], "values of the variable")
    expect(await phone.read(of(phone, POWER).handle), b"\xfa\x00", "value of the variable, read")
    await expect_refusal(0x80, phone.write(of(phone, COMMANDS).handle, b"\x01\x2d\x01"), "write above the limit")
    expect(await phone.read(of(phone, POWER).handle), b"\xfa\x00", "value after the refused write")
    expect(await phone.read(of(phone, COMMANDS).handle), b"\x00", "a write that is answered or refused is not stored")
    await phone.write(of(phone, COMMANDS).handle, b"\x07")
    expect(await phone.read(of(phone, COMMANDS).handle), b"\x07", "a write that no rule takes")


@scenario("reactions.yaml")
async def links(lab: Lab) -> None:
    """a write ends the link, and one takes the device off the air until another brings it back"""
    phone = await lab.meet()
    expect(await phone.until_ended_by(phone.write(of(phone, COMMANDS).handle, b"\x02")), 0x13, "reason")
    await lab.meet()
    await phone.write(of(phone, COMMANDS).handle, b"\x03\x01\x02")
    second = lab.second
    await lab.air.until_silent()
    expect(await lab.instances(), 0, "advertisements")
    await phone.write(of(phone, COMMANDS).handle, b"\x04")
    await second.find(lab.adapter.address)
