"""The system that a guest boots: a kernel, a root, and Python packages for the guest's Python."""

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from host import cache

# Imports of the guest's driver. The phone is Bumble's, dbus-fast plays the other applications on the bus, and a program of
# bleak is one.
PYTHON_PACKAGES = ["bumble==0.0.236", "dbus-fast==5.2.0", "bleak==3.1.0"]
TREE_PACKAGES = [
    "bluez", "dbus", "kmod", "libdbus-1-3", "libglib2.0-0t64", "libssl3t64", "libyaml-0-2", "linux-image-amd64", "python3",
]  # fmt: skip


class LabError(Exception):
    """Something the lab cannot do, in words for the person who started it."""


@dataclass(frozen=True)
class Generation:
    name: str
    suite: str
    brings: str


@dataclass(frozen=True)
class System:
    """A root folder, the kernel image and modules to boot it with, and the folder of Python packages."""

    root: Path
    image: Path
    modules: Path
    packages: Path


def generations() -> list[Generation]:
    table = (Path(__file__).parent.parent / "generations").read_text()
    rows = (line.split(None, 2) for line in table.splitlines() if line.strip() and not line.startswith("#"))
    return [Generation(*row) for row in rows]


def prepare(generation: Generation) -> System:
    if generation.suite == host_suite():
        kernel = host_kernel()
        return System(Path("/"), *image_and_modules(kernel), host_packages())
    tree = debootstrap(generation)
    return System(tree, *image_and_modules(tree), tree / "opt" / "lab")


def host_suite() -> str:
    try:
        release = Path("/etc/os-release").read_text()
    except OSError:
        return ""
    found = re.search(r"^VERSION_CODENAME=\"?([a-z]+)", release, re.MULTILINE)
    return found[1] if found and re.search(r"^ID=debian", release, re.MULTILINE) else ""


def image_and_modules(root: Path) -> tuple[Path, Path]:
    modules = sorted((root / "lib" / "modules").iterdir())[-1]
    return root / "boot" / f"vmlinuz-{modules.name}", modules


def host_kernel() -> Path:
    """Debian's stock kernel package, unpacked and not installed."""
    package = output("apt-cache", "depends", "linux-image-amd64")
    if not re.search(r"Depends: \S", package):
        run("apt-get", "-qq", "update")
        package = output("apt-cache", "depends", "linux-image-amd64")
    found = re.search(r"Depends: (linux-image-\S+)", package)
    if not found:
        raise LabError("apt knows no linux-image-amd64: the lab boots Debian's stock kernel")
    version = re.search(r"Candidate: (\S+)", output("apt-cache", "policy", found[1]))
    if not version:
        raise LabError(f"apt has no candidate for {found[1]}")

    def build(folder: Path) -> None:
        run("apt-get", "-qq", "download", f"{found[1]}={version[1]}", folder=folder)
        (archive,) = folder.glob("*.deb")
        run("dpkg", "-x", archive, folder)
        archive.unlink()
        (modules,) = (folder / "lib" / "modules").iterdir()
        run("depmod", "-b", folder, modules.name)

    key = f"{found[1]}_{version[1].replace(':', '.')}"
    return cache.once(key, f"fetching {found[1]} {version[1]} (70 MB, once)", build)


def host_packages() -> Path:
    python = output("/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()

    def build(folder: Path) -> None:
        install_packages(folder, python)

    return cache.once(f"python{python}-{digest(PYTHON_PACKAGES)}", "fetching Bumble, the lab's phone (once)", build)


def debootstrap(generation: Generation) -> Path:
    """A minimal tree of another suite, with its own BlueZ, kernel and Python."""
    if os.geteuid() != 0:
        raise LabError(f"making the tree of {generation.name} needs root, once: sudo make lab-all")

    def build(folder: Path) -> None:
        include = ",".join(TREE_PACKAGES)
        log = folder / "debootstrap.out"
        run("debootstrap", "--variant=minbase", f"--include={include}", generation.suite, folder, log=log)
        log.unlink()
        python = os.path.basename(os.readlink(folder / "usr" / "bin" / "python3")).removeprefix("python")
        install_packages(folder / "opt" / "lab", python)
        run("chroot", folder, "python3", "-m", "compileall", "-q", "/opt/lab", log=Path(os.devnull))
        run("chroot", folder, "apt-get", "clean")

    key = f"{generation.suite}-{digest(TREE_PACKAGES + PYTHON_PACKAGES)}"
    return cache.once(key, f"making a {generation.suite} tree ({generation.brings}; 1 GB, once)", build)


def install_packages(folder: Path, python: str) -> None:
    """For the guest's version of Python, which need not be the one that runs here."""
    pip = cache.once("pip", "making a Python environment for pip", lambda path: run("/usr/bin/python3", "-m", "venv", path))
    run(
        pip / "bin" / "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--root-user-action=ignore", "--target", folder, "--python-version", python,
        "--only-binary=:all:", *PYTHON_PACKAGES,
    )  # fmt: skip


def digest(words: list[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]


def output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def run(*command: str | Path, folder: Path | None = None, log: Path | None = None) -> None:
    """Runs a command in silence; what it said is shown where it fails."""
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )  # fmt: skip
    if log is not None:
        log.write_bytes(done.stdout)
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace").strip()
        raise LabError(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{said[-4000:]}")
