"""The state of an app's managers is kept, and restored in the next run."""

import signal
import tempfile
from pathlib import Path

from lab.places import WORK
from lab.scenario import Lab, expect, expect_that, scenario
from scenarios.app_life import CONTROL, LIST, NAME, RATE, STATIC, until_heard_as


@scenario(fresh=True)
async def killed(lab: Lab) -> None:
    """after kill -9 the next run restores services, advert and subscriber, and a phone finds all of it again"""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        await lab.play("app.yaml", "--state-dir", directory)
        phone = await lab.meet()
        heard = await phone.subscribe(phone.characteristic(RATE))
        await phone.until_heard(heard, 3)
        # A subscription is written soon after it is answered, and the event is told when it has been.
        await lab.mynah.wait_for("subscribed")
        await lab.mynah.stop(signal.SIGKILL)
        await lab.phone.forget()
        if lab.capabilities.falls_silent:
            await lab.air.until_silent()
        await lab.play("app.yaml", "--state-dir", directory)
        told = [each["event"] for each in lab.mynah.events if each["event"].startswith(("app.", "state."))]
        wanted = ["app.launched", "app.restored", "app.foreground", "state.changed"]
        expect(told, wanted, "events of the next run")
        launched, restored = lab.mynah.all("app.launched")[0], lab.mynah.all("app.restored")[0]
        expect(launched["restoreIdentifiers"], [], "identifiers of a launch by the user")
        expect(restored["services"], ["180D"], "restored services")
        expect([each["characteristic"] for each in restored["subscribers"]], [RATE], "restored subscribers")
        expect([each["live"] for each in restored["subscribers"]], [False], "whether they are live")
        await until_heard_as(lab, [NAME, LIST])
        phone = await lab.meet()
        expect(await phone.read(phone.characteristic(STATIC).handle), b"\x01", "static value")
        expect(await phone.read(phone.characteristic(CONTROL).handle), b"\x00", "dynamic value")
        heard = await phone.subscribe(phone.characteristic(RATE))
        await phone.until_heard(heard, 3)
        await lab.mynah.stop()


@scenario(fresh=True)
async def kept_and_forgotten(lab: Lab) -> None:
    """SIGTERM keeps what can be restored, SIGINT forgets it"""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        for end, is_kept in ((signal.SIGTERM, True), (signal.SIGINT, False)):
            await lab.play("app.yaml", "--state-dir", directory)
            expect(await lab.mynah.stop(end), 0, "exit status")
            files = [each.name for each in Path(directory).iterdir() if each.name != "lock"]
            expect_that(bool(files) == is_kept, f"after signal {end:d} the directory holds {files}")
