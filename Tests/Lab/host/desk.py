"""This machine itself, in the place of a virtual one: the scenarios' driver as a process of its own."""

import os
import subprocess
import tempfile
from pathlib import Path

from host import system
from host.system import LabError


def drive(checkout: Path, mynah: Path, results: Path, limit: float) -> int:
    """Runs the driver, which writes to standard output, and gives its exit status."""
    with tempfile.TemporaryDirectory(prefix="mynah-lab-") as work:
        environment = {
            **os.environ,
            "LAB_CHECKOUT": str(checkout), "LAB_MYNAH": str(mynah), "LAB_RESULTS": str(results), "LAB_WORK": work,
            "PYTHONPATH": str(system.host_packages()), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
            # Keeps other devices on this user's air away from the scenarios.
            "MYNAH_AIR": f"{work}/air",
        }  # fmt: skip
        driver = subprocess.Popen(
            ["/usr/bin/python3", checkout / "Tests" / "Lab" / "guest" / "main.py"],
            env=environment, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            return driver.wait(limit)
        except subprocess.TimeoutExpired:
            raise LabError(f"the scenarios were not done after {limit:.0f} s; see {results}") from None
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, 9)
                driver.wait()


def digests(checkout: Path, mynah: Path) -> list[str]:
    """Some seeds of runs in virtual time, each with the digests of its events and packets on this machine."""
    program = checkout / "Tests" / "Simulation" / "run"
    command = [program, "--mynah", mynah, "--seeds", "3", "--minutes", "1", "--digests"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
