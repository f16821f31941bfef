"""A browser without a window, and what the tests of the page ask it."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any, Callable

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement

#: How long to wait for something that a busy machine delays.
PATIENCE = 120.0


class Browser:
    """Debian's Chromium."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--force-prefers-reduced-motion",
        ):  # fmt: skip
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(PATIENCE)
        #: The addresses of all requests so far.
        self.requests: list[str] = []
        self.resize(1440, 900)

    def close(self) -> None:
        self.driver.quit()

    def resize(self, width: int, height: int, scheme: str = "light") -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, address: str) -> None:
        self.driver.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script, which may await."""
        answer = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; (async (...arguments) => {" + script + "})(...arguments)"
            ".then((value) => done({value}), (error) => done({error: String(error)}));",
            *arguments,
        )
        assert "error" not in answer, answer["error"]
        return answer.get("value")

    def all(self, selector: str) -> list[WebElement]:
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> WebElement:
        """The only element of a selector, when it is there and can be seen."""
        self.until(f"{selector} is there", lambda: [item.is_displayed() for item in self.all(selector)] == [True])
        return self.all(selector)[0]

    def named(self, name: str) -> WebElement:
        """The only control with a label."""
        return self.one(f"[aria-label={json.dumps(name)}]")

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def until(self, what: str, condition: Callable[[], Any]) -> Any:
        """Waits until something holds; returns what it gave."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                value = condition()
            except Exception as error:  # an element that was just replaced
                value, what = None, f"{what} ({error})" if time.monotonic() > end else what
            if value:
                return value
            assert time.monotonic() < end, f"waited in vain: {what}"
            time.sleep(0.05)

    def picture(self, path: Path) -> None:
        """Takes a picture, of the kind that the name ends with: PNG, or WebP, which is smaller."""
        kind = {"format": path.suffix[1:]} | ({"quality": 90} if path.suffix == ".webp" else {})
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", **kind)["data"]))

    def complaints(self) -> list[str]:
        """The messages of the browser's console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def take_requests(self) -> list[str]:
        """The addresses of all requests so far."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                parameters = message["params"]
                self.requests.append(parameters.get("request", parameters)["url"])
        return self.requests
