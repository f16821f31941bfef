"""The plots of numbers, in time that only requests move."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from browser import Browser
from instance import Instance
from mynah import Client
from selenium.webdriver.common.keys import Keys

STRAP: dict[str, Any] = {
    "mynah": 1,
    "name": "Strap",
    "advertising": {"serviceUUIDs": ["heart-rate"]},
    "services": [
        {
            "uuid": "heart-rate",
            "characteristics": [
                {
                    "uuid": "heart-rate-measurement",
                    "properties": ["notify"],
                    "value": {"fields": {"heartRate": {"generate": "sine", "min": 60, "max": 100, "period": "1 min"}}},
                    "every": "100 ms",
                }
            ],
        },
        {
            "uuid": "battery",
            "characteristics": [{"uuid": "battery-level", "properties": ["read"], "value": {"hex": "32"}}],
        },
    ],
}

#: An app that subscribes: in manual time a run has an air of its own.
APP: dict[str, Any] = {
    "mynah": 1,
    "name": "App",
    "app": {"backgroundModes": ["bluetooth-central"]},
    "central": {
        "scan": {"services": ["heart-rate"]},
        "peripherals": [
            {
                "name": "Its strap",
                "match": {"services": ["heart-rate"]},
                "subscribe": ["heart-rate/heart-rate-measurement"],
            }
        ],
    },
}

RATE = "Heart Rate Measurement: heartRate over time"
LEVEL = "Battery Level: level over time"


class Plots:
    """The page of a run in manual time."""

    def __init__(self, page: Any) -> None:
        self.browser: Browser = page.browser
        self.instance = Instance(page.instance.program, page.instance.directory, "127.0.0.1:0", "--clock", "manual")
        self.client = Client(self.instance.address)

    def __enter__(self) -> Plots:
        for profile in (STRAP, APP):
            self.client.add(profile)
        self.browser.open(self.instance.address + "/#Strap")
        self.browser.until("the page is connected", lambda: self.browser.text("#link") == "Live")
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.resize(1440, 900)
        self.instance.stop()

    def shown(self, name: str) -> bool:
        return bool(self.browser.run("return Boolean(document.querySelector(arguments[0])?.checkVisibility())", css(name)))

    def words(self, name: str) -> str:
        """The words of a screen reader."""
        script = "return document.querySelector(arguments[0])?.getAttribute('aria-valuetext') ?? ''"
        return str(self.browser.run(script, css(name)))

    def steps(self, name: str) -> int:
        """The parts of the line."""
        script = "return document.querySelector(arguments[0] + ' .line').getAttribute('d').split('H').length"
        return int(self.browser.run(script, css(name)))


def css(name: str) -> str:
    return f'[aria-label="{name}"]'


def a_number_that_changes_is_drawn_and_read(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        client.advance("3 min")
        browser.until("all is drawn", lambda: plots.words(RATE).startswith("last 2 min: 60 to 100, now "))
        # One that has not changed has none, but for the room that it would take.
        assert not plots.shown(LEVEL)
        image = browser.named(RATE)
        latest = plots.words(RATE)

        def read() -> tuple[int, datetime]:
            found = re.fullmatch(r"(?:\d+ to )?(\d+) bpm at (..:..:..)", plots.words(RATE))
            assert found, plots.words(RATE)
            assert browser.text(".reading:not([hidden])") == plots.words(RATE)
            time = datetime.strptime(found[2], "%H:%M:%S").replace(tzinfo=timezone.utc)
            return int(found[1]), time

        now = client.clock.now
        image.send_keys(Keys.HOME)
        value, time = read()
        assert 60 <= value <= 100
        wanted = (now - timedelta(minutes=2)).time()
        # A step is half a second.
        assert abs(time - datetime.combine(time.date(), wanted, timezone.utc)) <= timedelta(seconds=1), (time, now)
        image.send_keys(Keys.ARROW_RIGHT * 20)
        assert read()[1] - time == timedelta(seconds=10)
        image.send_keys(Keys.END)
        assert read()[1] - time >= timedelta(seconds=119)
        image.send_keys(Keys.ESCAPE)
        assert plots.words(RATE) == latest and not browser.all(".reading:not([hidden])")


def a_slider_draws_what_it_sets(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        slider = browser.named("Battery Level: level, %, slider")
        assert not plots.shown(LEVEL)
        slider.send_keys(Keys.HOME)
        browser.until("it is drawn", lambda: plots.words(LEVEL) == "last 2 min: 0 to 50, now 0 %")
        assert plots.shown(LEVEL)
        # The line goes on while the time does, and ends at the value.
        client.advance("90 s")
        assert plots.steps(LEVEL) >= 2
        client.advance("40 s")
        browser.until("50 is out of sight", lambda: plots.words(LEVEL) == "last 2 min: 0, now 0 %")
        assert plots.shown(LEVEL)
        browser.named("Time of the plots").send_keys("last 10")
        browser.until("it is there again", lambda: plots.words(LEVEL) == "last 10 min: 0 to 50, now 0 %")
        client.reset()
        browser.until("a new history begins", lambda: not plots.shown(LEVEL))


def a_plot_takes_no_more_memory_than_its_steps(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        client.advance("3 min")
        browser.until("all is drawn", lambda: plots.words(RATE).startswith("last 2 min: 60 to 100, now "))
        # There were 1,200 values.
        assert 100 < plots.steps(RATE) <= 242, plots.steps(RATE)


def the_history_comes_back_with_the_device(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        client.advance("2 min")
        browser.until("all is drawn", lambda: plots.words(RATE).startswith("last 2 min: 60 to 100, now "))
        words = plots.words(RATE)
        tabs = {tab.text: tab for tab in browser.all("#devices button")}
        tabs["App"].click()
        browser.until("the app is shown", lambda: not browser.all(css(RATE)))
        tabs["Strap"].click()
        browser.until("it is drawn as before", lambda: plots.words(RATE) == words)


def plots_fit_a_phone_and_both_schemes(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        client.advance("2 min")
        browser.until("it is drawn", lambda: plots.words(RATE).startswith("last 2 min: 60 to 100"))
        looks = set()
        for width, scheme in ((1440, "light"), (390, "light"), (390, "dark")):
            browser.resize(width, 900, scheme)
            look = browser.run(
                """
                const image = document.querySelector(arguments[0]);
                const {stroke} = getComputedStyle(image.querySelector('.line'));
                const {width, height} = image.getBoundingClientRect();
                return [stroke, getComputedStyle(image).backgroundColor, width, height,
                  document.documentElement.scrollWidth - innerWidth];
                """,
                css(RATE),
            )
            assert look[0] != look[1] and look[2] >= 150 and look[3] >= 40 and look[4] <= 0, look
            looks.add(look[0])
        for width in (1440, 1280, 1241, 1000, 761, 390, 320):
            browser.resize(width, 900)
            wide = browser.run(
                """
                await new Promise(requestAnimationFrame);
                return [...document.querySelectorAll('section')].filter((part) => part.checkVisibility())
                  .filter((part) => [...part.querySelectorAll('*')].some((item) => item.checkVisibility()
                    && item.closest('.row, .bounds') === null
                    && item.getBoundingClientRect().right > part.getBoundingClientRect().right))
                  .map((part) => part.ariaLabel);
                """
            )
            assert not wide, f"{width} pixels are too few for {wide}"
        assert len(looks) == 2, looks
        browser.picture(page.pictures / "plots.png")


def nothing_is_asked_for_while_nothing_happens(page: Any) -> None:
    with Plots(page) as plots:
        browser, client = plots.browser, plots.client
        client.advance("2 min")
        browser.until("it is drawn", lambda: plots.words(RATE).startswith("last 2 min: 60 to 100"))
        browser.until("it is read", lambda: client.clock.now.strftime("%H:%M:%S") in browser.text("#now"))
        asked = browser.run(
            """
            await new Promise((resolve) => setTimeout(resolve, 300));
            const fetch = window.fetch;
            let count = 0;
            window.fetch = (...all) => { count += 1; return fetch(...all); };
            await new Promise((resolve) => setTimeout(resolve, 1500));
            window.fetch = fetch;
            return count;
            """
        )
        assert asked == 0, asked


def the_line_goes_on_without_requests(page: Any) -> None:
    instance = Instance(page.instance.program, page.instance.directory)
    browser: Browser = page.browser
    try:
        Client(instance.address).add(STRAP)
        browser.open(instance.address + "/")
        browser.named("Battery Level: level, %, slider").send_keys(Keys.HOME)
        words = f"return document.querySelector('{css(LEVEL)}').getAttribute('aria-valuetext')"
        browser.until("it is drawn", lambda: "0 to 50" in (browser.run(words) or ""))
        browser.until("nothing is sent", lambda: not browser.all(".attribute.edited"))
        # In real time the line moves to the left, and nothing is asked for to draw that.
        moved = browser.run(
            """
            await new Promise((resolve) => setTimeout(resolve, 600));
            const line = document.querySelector(arguments[0] + ' .line');
            const before = line.getAttribute('d');
            const fetch = window.fetch;
            let count = 0;
            window.fetch = (...all) => { count += 1; return fetch(...all); };
            for (let turn = 0; turn < 600 && line.getAttribute('d') === before; turn += 1) {
              await new Promise((resolve) => setTimeout(resolve, 100));
            }
            window.fetch = fetch;
            return [line.getAttribute('d') !== before, count];
            """,
            css(LEVEL),
        )
        assert moved == [True, 0], moved
    finally:
        instance.stop()


TESTS = [
    a_number_that_changes_is_drawn_and_read,
    a_slider_draws_what_it_sets,
    a_plot_takes_no_more_memory_than_its_steps,
    the_history_comes_back_with_the_device,
    plots_fit_a_phone_and_both_schemes,
    nothing_is_asked_for_while_nothing_happens,
    the_line_goes_on_without_requests,
]
