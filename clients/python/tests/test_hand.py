"""Phones in the test's hand: what they do with devices of the same run, and how their verbs fail."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mynah import (
    AttributeRefused,
    NotConnected,
    PhoneError,
    PhoneTimeout,
    Problem,
    WaitFailed,
)

#: A strap that sends only what a test tells it to, with faults that a test turns on.
STRAP = {
    "mynah": 1,
    "name": "Strap",
    "advertising": {"localName": "Strap", "serviceUUIDs": ["heart-rate"], "interval": "20 ms"},
    "services": [
        {
            "uuid": "battery",
            "characteristics": [{"uuid": "battery-level", "properties": ["read"], "value": {"hex": "40"}}],
        },
        {
            "uuid": "heart-rate",
            "characteristics": [
                {"uuid": "2A37", "properties": ["notify"], "value": {"hex": "0040"}},
                {"uuid": "2A38", "properties": ["read"], "value": {"hex": "01"}},
                {"uuid": "2A39", "properties": ["write", "writeWithoutResponse"], "maxLength": 1},
                {"uuid": "2A35", "properties": ["indicate"]},
            ],
        },
    ],
    "faults": [
        {"name": "mute", "on": "read", "of": "2A38", "do": "noAnswer", "off": True},
        {"name": "gone", "on": "read", "of": "2A38", "do": "disconnect", "reason": "0x15", "off": True},
        {"name": "broken", "on": "write", "error": "0xFC", "off": True},
    ],
}

#: A safe that pairs with a passkey, which it shows, and with a phone that is paired alone.
SAFE = {
    "mynah": 1,
    "name": "Safe",
    "security": {"io": "displayOnly"},
    "advertising": {"localName": "Safe", "interval": "20 ms"},
    "services": [
        {
            "uuid": "1815",
            "characteristics": [
                {
                    "uuid": "2A56",
                    "properties": ["read"],
                    "value": {"hex": "07"},
                    "permissions": {"read": "authenticated"},
                }
            ],
        }
    ],
}


@pytest.fixture
def strap(mynah):
    """The strap, and a phone that is connected to it."""
    mynah(STRAP)
    return mynah.phone("Anna").connect("Strap")


def test_a_phone_reads_a_value_with_its_fields(mynah, strap) -> None:
    level = strap.read("battery-level")
    assert level.value == b"\x40" and level.fields == {"level": 64}
    mynah.verify("value.read device=Anna characteristic=2A19 value=40", exactly=1)
    mynah.verify("read device=Strap", exactly=1)


def test_a_phone_writes_bytes_and_fields_with_and_without_response(mynah, strap) -> None:
    strap.write("2A39", b"\x01")
    strap.write("2A39", {"command": 1})
    strap.command("2A39", b"\x02")
    mynah.wait("write device=Strap value=02 withResponse=false", within=30)
    mynah.verify(order=["write value=01", "write value=01", "write value=02"])
    mynah.verify("value.written device=Anna", exactly=3)


def test_notifications_come_in_order_and_end_with_the_subscription(mynah, strap) -> None:
    device = mynah.device("Strap")
    with strap.subscribe("heart-rate-measurement") as rates:
        for rate in (72, 73, 74):
            device.set("2A37", {"heartRate": rate}, notify=True)
        assert [rates.next(within=30).fields["heartRate"] for _ in range(3)] == [72, 73, 74]
    mynah.wait("unsubscribed device=Strap", within=30)
    assert device.set("2A37", b"\x00\x50", notify=True) == 0


def test_a_value_that_does_not_come_fails_the_test_that_waits(mynah, strap) -> None:
    with strap.subscribe("2A37") as rates, pytest.raises(WaitFailed, match="value.updated"):
        rates.next(within=0)


def test_a_device_is_found_by_its_address_and_by_its_services(mynah) -> None:
    mynah(STRAP)
    mynah(SAFE)
    phone = mynah.phone()
    heard = phone.scan(services=["heart-rate"], count=1, within=30)
    assert [(each.name, each.connectable) for each in heard] == [("Strap", True)]
    assert phone.connect(heard[0].address).name == "Strap"
    assert phone.connect(services=["180D"]).address == heard[0].address
    assert phone.info()["peripherals"][0]["subscriptions"] == []


@pytest.mark.mynah(clock="manual", seed=2)
def test_a_device_that_is_not_there_is_named_with_those_that_are(mynah) -> None:
    mynah(STRAP)
    with pytest.raises(PhoneError, match='no device named "Lock" was heard; these were heard: .*Strap') as error:
        mynah.phone().connect("Lock", within="500 ms")
    assert error.value.code == "unreachable"


def test_services_are_discovered_with_their_handles(mynah, strap) -> None:
    uuids = [service["uuid"] for service in strap.services]
    assert uuids[-2:] == ["180F", "180D"]
    assert [each["uuid"] for each in strap.discover(["180F"])[0]["characteristics"]] == ["2A19"]
    assert strap.exchange_mtu() == strap.mtu == 517


def test_an_error_of_the_device_has_its_number_and_its_name(mynah, strap) -> None:
    mynah.device("Strap").fault("broken")
    with pytest.raises(AttributeRefused) as refused:
        strap.write("2A39", b"\x01")
    assert (refused.value.error, refused.value.name) == (0xFC, "writeRequestRejected")
    with pytest.raises(AttributeRefused) as refused:
        strap.read("2A39")
    assert (refused.value.error, refused.value.name) == (0x02, "readNotPermitted")
    mynah.verify("value.read device=Anna error=0x02", exactly=1)


def test_an_attribute_that_is_not_there_is_a_problem(mynah, strap) -> None:
    with pytest.raises(PhoneError) as missing:
        strap.read("2A6E")
    assert missing.value.status == 404
    with pytest.raises(PhoneError, match="battery-level") as wrong:
        strap.read("batery-level")
    assert wrong.value.status == 400


def test_a_device_disconnects_during_a_read(mynah, strap) -> None:
    mynah.device("Strap").fault("gone")
    with pytest.raises(NotConnected):
        strap.read("2A38")
    assert mynah.wait("peripheral.disconnected device=Anna", within=30)[0]["reason"] == "0x15"
    with pytest.raises(NotConnected):
        strap.read("2A38")


@pytest.mark.mynah(clock="manual", seed=3)
def test_a_read_without_an_answer_takes_its_time_of_the_run(mynah, strap) -> None:
    mynah.device("Strap").fault("mute")
    start = mynah.clock.now
    with pytest.raises(PhoneTimeout):
        strap.read("2A38", within="20 s")
    assert (mynah.clock.now - start).total_seconds() == 20


@pytest.mark.mynah(clock="manual", seed=4)
def test_the_link_ends_when_an_answer_is_overdue(mynah, strap) -> None:
    mynah.device("Strap").fault("mute")
    # An ATT transaction has 30 s, and nothing follows it on its link.
    start = mynah.clock.now
    with pytest.raises(PhoneError) as overdue:
        strap.read("2A38", within="1 min")
    assert overdue.value.code == "timedOut" and overdue.value.status == 408
    assert (mynah.clock.now - start).total_seconds() == 30


@pytest.mark.mynah(clock="manual", seed=5)
def test_a_phone_that_confirms_nothing_gets_no_second_indication(mynah) -> None:
    device = mynah(STRAP)
    strap = mynah.phone("Anna", confirm=False).connect("Strap")
    changes = strap.subscribe("2A35")
    device.set("2A35", b"\x01", notify=True)
    device.set("2A35", b"\x02", notify=True)
    assert changes.next(within="1 min").value == b"\x01"
    with pytest.raises(WaitFailed):
        changes.next(within="1 min")
    mynah.verify("confirmed device=Strap", never=True)


def test_indications_are_confirmed(mynah, strap) -> None:
    device = mynah.device("Strap")
    with strap.subscribe("2A35") as changes:
        for value in (b"\x01", b"\x02"):
            device.set("2A35", value, notify=True)
        assert [changes.next(within=30).value for _ in range(2)] == [b"\x01", b"\x02"]
    mynah.wait("confirmed device=Strap", count=2, within=30)


def test_a_lock_opens_for_a_phone_that_pairs_when_it_must(mynah) -> None:
    lock = mynah("lock.yaml")
    door = mynah.phone("Anna").connect(services=["6D796E61-0200-4C61-8000-6C6162000000"])
    door.write("6D796E61-0202-4C61-8000-6C6162000000", b"\x01")
    assert lock.variables["open"] == 1
    assert door.read("6D796E61-0201-4C61-8000-6C6162000000").value == b"\x01"
    mynah.verify(order=["peripheral.connected device=Anna", "paired device=Anna", "value.written device=Anna"])


@pytest.mark.parametrize("verb", ["pair", "read"])
def test_a_passkey_is_typed_while_the_pairing_waits(mynah, verb) -> None:
    mynah(SAFE)
    phone = mynah.phone("Anna", io="keyboardOnly")
    safe = phone.connect("Safe")
    asks = {"pair": safe.pair, "read": lambda within: safe.read("2A56", within=within)}[verb]
    pairing = threading.Thread(target=asks, kwargs={"within": "1 min"})
    pairing.start()
    passkey = mynah.wait("pairing.passkey device=Safe step=display", within=30)[0]["passkey"]
    mynah.wait("pairing.passkey device=Anna step=enter", within=30)
    phone.enter_passkey(passkey)
    pairing.join()
    assert safe.read("2A56").value == b"\x07"


def test_a_phone_without_keyboard_does_not_get_what_needs_a_passkey(mynah) -> None:
    mynah(SAFE)
    safe = mynah.phone("Anna").connect("Safe")
    with pytest.raises(PhoneError):
        safe.read("2A56")


def test_a_bond_is_forgotten(mynah) -> None:
    mynah("lock.yaml")
    phone = mynah.phone("Anna")
    door = phone.connect(services=["6D796E61-0200-4C61-8000-6C6162000000"])
    door.pair()
    assert phone.info()["peripherals"][0]["paired"]
    door.disconnect()
    door.forget()
    with pytest.raises(PhoneError, match="no bond"):
        door.forget()


def test_connection_parameters_are_changed(mynah, strap) -> None:
    new = strap.set_parameters("45 ms", latency=1, supervision_timeout="5 s")
    assert (new.interval, new.latency, new.supervision_timeout) == (45, 1, 5000)
    event = mynah.wait("parameters.changed device=Strap", within=30)[0]
    assert event["intervalMilliseconds"] == 45


def test_what_a_phone_cannot_be_is_refused(mynah) -> None:
    for settings in ({"io": "brain"}, {"address": "00:11:22:33:44:55"}, {"radio": "bluez"}):
        with pytest.raises(Problem) as problem:
            mynah.phone(**settings)
        assert problem.value.status == 400
    with pytest.raises(Problem, match="--state-dir"):
        mynah.phone(state_directory="a")
    with pytest.raises(TypeError):
        mynah.phone(colour="red")


def test_phones_end_with_their_test_and_with_their_block(mynah) -> None:
    assert mynah.phones() == []
    with mynah.phone("Anna", address="C0:11:22:33:44:55") as phone:
        assert phone.info()["address"] == "C0:11:22:33:44:55"
        assert [each.name for each in mynah.phones()] == ["Anna"]
    assert mynah.phones() == []


PROGRAM = """
import sys
from mynah import Client
phone = Client(sys.argv[1]).phone("Anna")
phone.connect("Strap")
print("connected", flush=True)
sys.stdin.read()
"""


def test_a_phone_whose_client_is_killed_ends(mynah) -> None:
    mynah(STRAP)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, mynah.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert program.stdout.readline() == b"connected\n"
    mynah.wait("central.connected device=Strap", within=30)
    program.kill()
    program.communicate()
    mynah.wait("central.disconnected device=Strap", within=30)
    # The link ends before the phone has left the list.
    other = mynah.phone("Anna")
    assert other.name in ("Anna", "Anna~2")


def test_a_hundred_phones_are_in_one_process(mynah) -> None:
    names = [f"Strap {number}" for number in range(10)]
    straps = [mynah({**STRAP, "name": name, "advertising": {"localName": name, "interval": "20 ms"}}) for name in names]
    with ThreadPoolExecutor(16) as threads:
        phones = list(threads.map(lambda number: mynah.phone(f"Phone {number}"), range(100)))
        found = list(threads.map(lambda n: phones[n].connect(names[n % 10], within="10 min"), range(100)))
        rates = list(threads.map(lambda each: each.subscribe("2A37", within="10 min"), found))
        for number, strap in enumerate(straps):
            assert strap.set("2A37", {"heartRate": 60 + number}, notify=True) == 10
        values = list(threads.map(lambda each: each.next(within="10 min").fields["heartRate"], rates))
        assert values == [60 + number % 10 for number in range(100)]
    mynah.verify("central.connected", exactly=100)


# asyncio


def test_asyncio_has_the_same_verbs(mynah) -> None:
    device = mynah(STRAP)

    async def play() -> None:
        async with await mynah.aio.phone("Anna") as phone:
            strap = await phone.connect("Strap")
            assert (await strap.read("battery-level")).fields == {"level": 64}
            async with await strap.subscribe("2A37") as rates:
                waiting = asyncio.create_task(rates.next(within=30))
                await asyncio.to_thread(device.set, "2A37", {"heartRate": 99}, notify=True)
                assert (await waiting).fields["heartRate"] == 99
            with pytest.raises(AttributeRefused):
                await strap.read("2A39")
            await strap.disconnect()
            with pytest.raises(NotConnected):
                await strap.read("battery-level")
        assert await mynah.aio.phones() == []

    asyncio.run(play())


def test_many_waits_of_asyncio_wait_at_once(mynah) -> None:
    device = mynah(STRAP)

    async def play() -> None:
        strap = await (await mynah.aio.phone()).connect("Strap")
        subscription = await strap.subscribe("2A37")
        waits = [
            asyncio.create_task(mynah.aio.wait({"event": "value.updated", "value": "0063"}, within=60))
            for _ in range(40)
        ]
        await asyncio.to_thread(device.set, "2A37", b"\x00\x63", notify=True)
        assert len(await asyncio.gather(*waits)) == 40
        assert (await subscription.next(within=30)).value == b"\x00\x63"

    asyncio.run(play())


def test_a_cancelled_task_ends_its_request(mynah) -> None:
    async def play() -> None:
        phone = await mynah.aio.phone()
        connecting = asyncio.create_task(phone.connect("Nobody", within="10 min"))
        await mynah.aio.wait("scan.started", within=30)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await mynah.aio.wait("scan.stopped", within=30)

    asyncio.run(play())
