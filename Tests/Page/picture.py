"""The picture of the page in the README, in time that only requests move: it looks the same each time."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from browser import Browser
from instance import Instance
from mynah import Client

ROOT = Path(__file__).parent.parent.parent

#: The largest size of the picture, in bytes.
LIMIT = 150_000
#: The most pixels in which two pictures of the same page differ: edges are not always drawn alike.
NOISE = 200


def looks_like(browser: Browser, one: Path, other: Path) -> bool:
    """Whether two pictures differ in a few pixels at most."""
    if not other.exists():
        return False
    # The page itself may load no such images.
    browser.open("about:blank")
    count = browser.run(
        """
        const pixels = async (data) => {
          const image = new Image();
          image.src = `data:image/webp;base64,${data}`;
          await image.decode();
          const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
          context.drawImage(image, 0, 0);
          return new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
        };
        const [one, other] = [await pixels(arguments[0]), await pixels(arguments[1])];
        const near = (a, b) => [0, 8, 16].every((shift) => Math.abs((a >> shift & 255) - (b >> shift & 255)) < 24);
        return one.length === other.length ? one.filter((pixel, at) => !near(pixel, other[at])).length : one.length;
        """,
        *[base64.b64encode(path.read_bytes()).decode() for path in (one, other)],
    )
    return int(count) <= NOISE


def the_picture_of_the_readme_is_taken(page: Any) -> None:
    browser = page.browser
    instance = Instance(
        page.instance.program, page.instance.directory, "127.0.0.1:0", "--clock", "manual", "--profiles",
        str(ROOT / "profiles"),
    )  # fmt: skip
    try:
        client = Client(instance.address)
        client.add(ROOT / "profiles/heart-rate.yaml")
        client.add(ROOT / "profiles/phone-heart-rate-app.yaml")
        client.advance("2 min")
        browser.resize(1280, 720)
        browser.open(instance.address + "/#Heart%20rate%20monitor")
        browser.until("the page is connected", lambda: browser.text("#link") == "Live")
        words = "return document.querySelector('.plot svg')?.ariaValueText ?? ''"
        browser.until("the plots are there", lambda: browser.run(words).startswith("last 2 min: 6"))
        browser.until("the events are there", lambda: "notified" in browser.text("#events"))
        # Most runs have no such clock. Later drawings are done by then.
        browser.run(
            """
            document.getElementById('clock').style.display = 'none';
            await new Promise((resolve) => setTimeout(resolve, 500));
            """
        )
        picture = page.pictures / "readme.webp"
        browser.picture(picture)
        assert picture.stat().st_size < LIMIT, picture.stat().st_size
        if page.readme and not looks_like(browser, picture, page.readme):
            page.readme.write_bytes(picture.read_bytes())
            print(f"the picture of the page has changed: {page.readme}")
    finally:
        browser.resize(1440, 900)
        instance.stop()


TESTS = [the_picture_of_the_readme_is_taken]
