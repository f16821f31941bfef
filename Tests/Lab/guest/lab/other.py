"""Another application that advertises through bluetoothd."""

import contextlib
from collections.abc import AsyncIterator

from dbus_fast import Message, MessageType, Variant

from lab.services import HCI0, Services

MANAGER = (HCI0, "org.bluez.LEAdvertisingManager1")
ANSWERED = {"Type": Variant("s", "peripheral"), "ManufacturerData": Variant("a{qv}", {0xFFFF: Variant("ay", b"\1")})}


class OtherApplication:
    """It holds advertising sets of the adapter."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.held: list[str] = []

    async def hold(self) -> None:
        """Takes one more advertising set."""
        path = f"/holder/{len(self.held)}"
        await self.services.call("org.bluez", *MANAGER, "RegisterAdvertisement", "oa{sv}", [path, {}])
        self.held.append(path)

    async def release(self) -> None:
        """Gives up the set that it took last."""
        await self.services.call("org.bluez", *MANAGER, "UnregisterAdvertisement", "o", [self.held.pop()])


def answer(message: Message) -> Message | None:
    """The answer to bluetoothd's question about an advertisement."""
    if message.message_type is MessageType.METHOD_CALL and message.path.startswith("/holder/"):
        if message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [ANSWERED])
        return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", message.member)
    return None


@contextlib.asynccontextmanager
async def other_application(services: Services) -> AsyncIterator[OtherApplication]:
    """Another application, which gives up what it holds in the end."""
    application = OtherApplication(services)
    services.bus.add_message_handler(answer)
    try:
        yield application
    finally:
        services.bus.remove_message_handler(answer)
        while application.held:
            await application.release()
