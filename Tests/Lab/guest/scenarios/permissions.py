"""Accesses that are refused to an unpaired phone and granted to one that has paired."""

import signal
import tempfile

from lab.phone import IO, PASSKEY, Phone
from lab.places import WORK
from lab.scenario import Lab, expect, expect_refusal, of, scenario

AUTHENTICATION, ENCRYPTION = 0x05, 0x0F


async def until_heard(phone: Phone, number: int) -> None:
    heard = await phone.subscribe(of(phone, number))
    expect((await phone.until_heard(heard, 1))[0], b"told", "notification")


async def expect_encrypted_granted(phone: Phone) -> None:
    expect(await phone.read(of(phone, 0x0602).handle), b"encrypted", "encrypted read")
    await phone.write(of(phone, 0x0603).handle, b"paired")
    expect(await phone.read(of(phone, 0x0603).handle), b"paired", "value after the encrypted write")
    expect(await phone.read(of(phone, 0x060A).descriptor("2901").handle), b"Hidden", "encrypted descriptor")
    await until_heard(phone, 0x0607)


async def expect_authenticated_refused(phone: Phone) -> None:
    await expect_refusal(AUTHENTICATION, phone.read(of(phone, 0x0604).handle), "authenticated read")
    await expect_refusal(AUTHENTICATION, phone.write(of(phone, 0x0605).handle, b"no"), "authenticated write")
    await expect_refusal(AUTHENTICATION, phone.read(of(phone, 0x0606).handle), "secure read")
    await expect_refusal(AUTHENTICATION, phone.write(of(phone, 0x0609).handle, b"no"), "secure write")
    await expect_refusal(AUTHENTICATION, phone.subscribe(of(phone, 0x0608)), "authenticated subscription")


async def expect_authenticated_granted(phone: Phone) -> None:
    expect(await phone.read(of(phone, 0x0604).handle), b"authenticated", "authenticated read")
    await phone.write(of(phone, 0x0605).handle, b"paired")
    expect(await phone.read(of(phone, 0x0605).handle), b"paired", "value after the authenticated write")
    expect(await phone.read(of(phone, 0x0606).handle), b"secure", "secure read")
    await phone.write(of(phone, 0x0609).handle, b"paired")
    expect(await phone.read(of(phone, 0x0609).handle), b"paired", "value after the secure write")
    await until_heard(phone, 0x0608)


@scenario("permissions.yaml", fresh=True)
async def stranger(lab: Lab) -> None:
    """a phone that has not paired reads and writes what is open and is refused the rest"""
    phone = await lab.meet()
    expect(await phone.read(of(phone, 0x0601).handle), b"open", "open read")
    await phone.write(of(phone, 0x0601).handle, b"taken")
    expect(await phone.read(of(phone, 0x0601).handle), b"taken", "value after the open write")
    unpaired = lab.capabilities.unpaired_error
    await expect_refusal(unpaired, phone.read(of(phone, 0x0602).handle), "encrypted read")
    await expect_refusal(unpaired, phone.write(of(phone, 0x0603).handle, b"no"), "encrypted write")
    await expect_refusal(unpaired, phone.read(of(phone, 0x060A).descriptor("2901").handle), "encrypted descriptor")
    await expect_refusal(unpaired, phone.subscribe(of(phone, 0x0607)), "encrypted subscription")
    await expect_authenticated_refused(phone)
    expect(await phone.read(of(phone, 0x0603).handle), b"before", "value after the refused write")


@scenario("permissions.yaml", fresh=True)
async def just_works(lab: Lab) -> None:
    """pairing without input or output grants what needs encryption, and not what needs authentication"""
    phone = await lab.meet()
    unpaired = lab.capabilities.unpaired_error
    await expect_refusal(unpaired, phone.read(of(phone, 0x0602).handle), "encrypted read before pairing")
    await phone.pair(IO.NO_OUTPUT_NO_INPUT)
    await lab.mynah.wait_for("paired", central=phone.address)
    await expect_encrypted_granted(phone)
    await expect_authenticated_refused(phone)


@scenario("permissions.yaml", fresh=True)
async def bond(lab: Lab) -> None:
    """a bonded phone that comes back is granted the same with its old key"""
    phone = await lab.meet()
    await phone.pair(IO.NO_OUTPUT_NO_INPUT)
    expect(await phone.read(of(phone, 0x0602).handle), b"encrypted", "encrypted read")
    await phone.disconnect()
    phone = await lab.meet()
    if lab.capabilities.asks_for_encryption:
        expect(phone.connection.is_encrypted, True, "encryption that the device asked for")
    else:
        await expect_refusal(ENCRYPTION, phone.read(of(phone, 0x0602).handle), "encrypted read before encryption")
        await phone.encrypt()
    await expect_encrypted_granted(phone)


@scenario(fresh=True, needs=("keeps_subscriptions",))
async def kept_bond(lab: Lab) -> None:
    """a device that is started anew knows a bonded phone by its key, and what it had subscribed to"""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        await lab.play("permissions.yaml", "--state-dir", directory)
        phone = await lab.meet()
        await phone.pair(IO.NO_OUTPUT_NO_INPUT)
        await until_heard(phone, 0x0607)
        # A subscription is written soon after it is answered, and the event is told when it has been.
        await lab.mynah.wait_for("subscribed", central=phone.address)
        await lab.mynah.stop(signal.SIGKILL)
        await phone.disconnect()
        await lab.play("permissions.yaml", "--state-dir", directory)
        phone = await lab.meet()
        heard = phone.listen(of(phone, 0x0607))
        if not phone.connection.is_encrypted:
            expect(heard, [], "notifications before encryption")
            await phone.encrypt()
        expect((await phone.until_heard(heard, 1))[0], b"told", "notification that was subscribed to before")
        expect(await phone.read(of(phone, 0x0602).handle), b"encrypted", "encrypted read")
        expect(len(lab.mynah.all("paired")), 0, "count of paired in the second run")
        await lab.mynah.stop()


def with_security(lab: Lab, name: str, security: str):
    return lab.variant("permissions.yaml", f"{name}.yaml", "{io: noInputNoOutput}", security)


@scenario(fresh=True)
async def device_displays(lab: Lab) -> None:
    """displayOnly: the device shows a passkey, the phone's user types it, and all is granted"""
    await lab.play(with_security(lab, "display-only", "{io: displayOnly}"))
    phone = await lab.meet()
    pairing = phone.start_pairing(IO.KEYBOARD_INPUT_ONLY)
    shown = await lab.mynah.wait_for("pairing.passkey", central=phone.address)
    phone.user.typed.set_result(int(shown["passkey"]))
    await pairing
    await expect_encrypted_granted(phone)
    await expect_authenticated_granted(phone)


@scenario(fresh=True)
async def wrong_passkey(lab: Lab) -> None:
    """a wrong passkey pairs nothing and grants nothing"""
    await lab.play(with_security(lab, "display-only", "{io: displayOnly}"))
    phone = await lab.meet()
    pairing = phone.start_pairing(IO.KEYBOARD_INPUT_ONLY)
    shown = await lab.mynah.wait_for("pairing.passkey", central=phone.address)
    phone.user.typed.set_result((int(shown["passkey"]) + 1) % 1_000_000)
    try:
        await pairing
        raise AssertionError("the device paired with a wrong passkey")
    except Exception as error:
        if isinstance(error, AssertionError):
            raise
    await expect_refusal(lab.capabilities.unpaired_error, phone.read(of(phone, 0x0602).handle), "encrypted read")


@scenario(fresh=True)
async def numbers_compared(lab: Lab) -> None:
    """displayYesNo: both show the same six digits, both agree, and all is granted"""
    await lab.play(with_security(lab, "display-yes-no", "{io: displayYesNo}"))
    phone = await lab.meet()
    await phone.pair(IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
    shown = await lab.mynah.wait_for("pairing.passkey", central=phone.address)
    expect(int(shown["passkey"]), phone.user.compared, "number on the device, beside the phone's")
    await expect_authenticated_granted(phone)


@scenario(fresh=True)
async def device_types(lab: Lab) -> None:
    """keyboardOnly: the phone shows a passkey, the profile's is typed on the device, and all is granted"""
    await lab.play(with_security(lab, "keyboard-only", f"{{io: keyboardOnly, passkey: {PASSKEY}}}"))
    phone = await lab.meet()
    await phone.pair(IO.DISPLAY_OUTPUT_ONLY)
    await lab.mynah.wait_for("pairing.passkey", central=phone.address)
    await expect_authenticated_granted(phone)


@scenario(fresh=True)
async def device_types_and_displays(lab: Lab) -> None:
    """keyboardDisplay: the device types where the phone only shows, and shows where the phone only types"""
    await lab.play(with_security(lab, "keyboard-display", f"{{io: keyboardDisplay, passkey: {PASSKEY}}}"))
    first = await lab.meet(lab.phone)
    await first.pair(IO.DISPLAY_OUTPUT_ONLY)
    await expect_authenticated_granted(first)
    before = lab.mynah.mark
    second = await lab.meet(lab.second)
    pairing = second.start_pairing(IO.KEYBOARD_INPUT_ONLY)
    shown = await lab.mynah.wait_for("pairing.passkey", before, central=second.address)
    second.user.typed.set_result(int(shown["passkey"]))
    await pairing
    await expect_authenticated_granted(second)
