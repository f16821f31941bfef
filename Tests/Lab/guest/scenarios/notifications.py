"""Notifications and indications, counted and compared on the phone's side."""

from lab.scenario import Lab, expect, expect_that, of, scenario


def sent(lab: Lab, since: int, characteristic: str) -> list[str]:
    return [each["value"] for each in lab.mynah.all("notified", since) if each["characteristic"].upper() == characteristic]


async def until_sent(lab: Lab, since: int, characteristic: str, count: int) -> list[str]:
    """The events of the first values; a phone can have received one whose event has not been read yet."""
    return await lab.mynah.signal.until(
        lambda: found if len(found := sent(lab, since, characteristic)) >= count else None, f"{count} events notified"
    )


@scenario("notifications.yaml", options=("--seed", "7"), fresh=True)
async def two_hundred(lab: Lab) -> None:
    """200 notifications arrive complete and in order"""
    phone = await lab.meet()
    before = lab.mynah.mark
    heard = await phone.subscribe(phone.characteristic("2A37"))
    values = [each.hex().upper() for each in await phone.until_heard(heard, 200)]
    said = await until_sent(lab, before, "2A37", len(values))
    expect(values, said[: len(values)], "what the phone heard, beside what was sent")
    expect_that(len(set(values)) > 20, f"only {len(set(values))} different values in 200: nothing moves")
    beats = [each[1] for each in heard]
    expect_that(all(each[0] == 0 for each in heard), "a Heart Rate Measurement of 8 bits starts with the flags 00")
    expect_that(40 <= min(beats) and max(beats) <= 220, f"beats from {min(beats)} to {max(beats)} leave 40 to 220")


@scenario("notifications.yaml", options=("--seed", "7"))
async def nothing_unasked(lab: Lab) -> None:
    """a phone without a subscription receives nothing, and one that unsubscribes receives nothing more"""
    phone = await lab.meet()
    heard = await phone.subscribe(phone.characteristic("2A37"))
    await phone.until_heard(heard, 5)
    await phone.unsubscribe(phone.characteristic("2A37"))
    # Values on their way come before the answer to the next request.
    await phone.read(of(phone, 0x0403).handle)
    count, listener = len(heard), await phone.subscribe(of(phone, 0x0404))
    await phone.until_heard(listener, 3)
    expect(len(heard), count, "notifications after unsubscribing")


@scenario("notifications.yaml", options=("--seed", "7"))
async def written_value_goes_out(lab: Lab) -> None:
    """a written value is what is sent from then on"""
    phone = await lab.meet()
    heard = await phone.subscribe(of(phone, 0x0404))
    await phone.until_heard(heard, 2)
    await phone.write(of(phone, 0x0404).handle, b"after")
    await phone.signal.until(lambda: b"after" in heard, "the written value")
    where = heard.index(b"after")
    expect([set(heard[:where]), set(heard[where:])], [{b"before"}, {b"after"}], "values before and after the write")


@scenario("notifications.yaml", options=("--seed", "7"), fresh=True)
async def indications(lab: Lab) -> None:
    """indications arrive one after the other and their confirmations are told"""
    phone = await lab.meet()
    before = lab.mynah.mark
    heard = await phone.subscribe(of(phone, 0x0401), indications=True)
    await phone.until_heard(heard, 20)
    said = await until_sent(lab, before, of(phone, 0x0401).uuid, len(heard))
    expect([each.hex().upper() for each in heard], said[: len(heard)], "what the phone heard, beside what was sent")
    await lab.mynah.wait_for_all("confirmed", 20, before)


@scenario("notifications.yaml", options=("--seed", "7"), fresh=True)
async def too_long_is_cut(lab: Lab) -> None:
    """a value longer than MTU-3 goes out cut to that, with one warning"""
    phone = await lab.meet()
    # The MTU is known from a request, if not from the exchange.
    await phone.read(of(phone, 0x0403).handle)
    before = lab.mynah.mark
    heard = await phone.subscribe(of(phone, 0x0402))
    await phone.until_heard(heard, 3)
    expect(set(heard), {b"01234567890123456789"}, "notifications of a value of 100 bytes at MTU 23")
    warnings = [each["code"] for each in lab.mynah.all("warning", before)]
    expect(warnings, ["valueTooLong"], "warnings")


@scenario("notifications.yaml", options=("--seed", "7"), fresh=True)
async def long_with_enough_mtu(lab: Lab) -> None:
    """the same value goes out whole when the MTU is great enough"""
    phone = await lab.meet()
    await phone.exchange_mtu(200)
    await phone.read(of(phone, 0x0403).handle)
    before = lab.mynah.mark
    heard = await phone.subscribe(of(phone, 0x0402))
    await phone.until_heard(heard, 3)
    expect({len(each) for each in heard}, {100}, "lengths of the notifications")
    expect(lab.mynah.all("error", before), [], "errors")


@scenario("notifications.yaml", options=("--seed", "7"), fresh=True, needs=("unknown_mtu",))
async def long_with_unknown_mtu(lab: Lab) -> None:
    """a value above 20 bytes brings one warning where no MTU is known, and one of 20 bytes brings none"""
    phone = await lab.meet()
    before = lab.mynah.mark
    short = await phone.subscribe(of(phone, 0x0405))
    await phone.until_heard(short, 3)
    expect(lab.mynah.all("warning", before), [], "warnings for 20 bytes")
    heard = await phone.subscribe(of(phone, 0x0402))
    await phone.until_heard(heard, 3)
    warnings = await lab.mynah.wait_for_all("warning", 1, before)
    expect(len(warnings), 1, "count of warnings for 100 bytes, sent at least three times")
