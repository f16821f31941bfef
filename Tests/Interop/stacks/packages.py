"""Bumble, as the lab has it, rootcanal, the Android emulator's controllers, and smpclient, an MCUmgr client."""

import platform
import stat
from pathlib import Path

from host import cache, system

# The last whose program runs with the C library of Debian 12.
ROOTCANAL = "rootcanal==1.9.0"

# With a Bumble of its own.
SMPCLIENT = "smpclient[all]==7.3.0"


def folder() -> Path:
    return system.host_packages()


def install(target: Path, *words: str) -> None:
    pip = cache.once(
        "pip", "making a Python environment for pip", lambda path: system.run("/usr/bin/python3", "-m", "venv", path)
    )
    system.run(
        pip / "bin" / "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--root-user-action=ignore", "--target", target, *words,
    )  # fmt: skip


def smpclient() -> Path:
    """The folder of its packages, for a process of its own."""
    key = f"smpclient-{system.digest([SMPCLIENT])}"
    return cache.once(key, "fetching smpclient (once)", lambda target: install(target, SMPCLIENT))


def rootcanal() -> Path | None:
    """The program; none where its makers build none for this machine."""
    if platform.machine() != "x86_64":
        return None

    def build(target: Path) -> None:
        install(target, "--no-deps", ROOTCANAL)
        program = target / "rootcanal" / "bin" / "linux-x86_64" / "rootcanal"
        program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    made = cache.once(f"rootcanal-{system.digest([ROOTCANAL])}", "fetching rootcanal (once)", build)
    return made / "rootcanal" / "bin" / "linux-x86_64" / "rootcanal"
