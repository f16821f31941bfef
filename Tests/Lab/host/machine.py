"""The virtual machine: one QEMU process, ended by its process id when its time is up."""

import os
import platform
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from host import initramfs
from host.system import LabError, System


def boot(system: System, shares: dict[str, Path], results: Path, limit: float, steady: bool = False) -> int:
    """Boots, passes on what the guest says, and gives the driver's exit status."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise LabError("qemu-system-x86_64 is missing (package qemu-system-x86)")
    if platform.machine() != "x86_64":
        raise LabError(f"the lab's machine is x86_64 and runs this machine's binary, which is {platform.machine()}")
    with tempfile.NamedTemporaryFile(prefix="mynah-lab-", suffix=".img") as archive:
        archive.write(initramfs.build(system, Path(__file__).parent.parent / "guest" / "init"))
        archive.flush()
        command = arguments(qemu, system, shares, results, Path(archive.name), steady)
        return watch(command, results, limit)


def arguments(
    qemu: str, system: System, shares: dict[str, Path], results: Path, archive: Path, steady: bool
) -> list[str]:
    # Pure emulation: KVM hangs on nested hosts, and a few minutes are short enough without it. A processor without AVX
    # and AES instructions takes a quarter less time: emulated one by one, they are slower than the code without them.
    speed = ["-accel", "tcg,thread=multi", "-smp", "2"]
    # The clock of the machine counts its instructions, at 250 million a second: a host that is busy with other work
    # slows the clock as well, and no timeout of the guest is too short. Processors take turns then, so there is one.
    if steady:
        speed = ["-accel", "tcg,thread=single", "-icount", "shift=2,sleep=on", "-smp", "1"]
    command = [
        qemu, *speed, "-machine", "q35", "-cpu", "qemu64", "-m", "1536",
        "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-net", "none",
        "-kernel", str(system.image), "-initrd", str(archive),
        "-append", "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off apparmor=0 nokaslr",
        "-serial", f"file:{results / 'console.log'}", "-serial", "stdio",
    ]  # fmt: skip
    readonly = {"root": system.root, "packages": system.packages, "modules": system.modules, **shares}
    for tag, path in readonly.items():
        command += ["-virtfs", virtfs(tag, path) + ",readonly=on"]
    return [*command, "-virtfs", virtfs("results", results)]


def virtfs(tag: str, path: Path) -> str:
    escaped = str(path).replace(",", ",,")
    return f"local,path={escaped},mount_tag={tag},security_model=none,multidevs=remap"


def watch(command: list[str], results: Path, limit: float) -> int:
    deadline = time.monotonic() + limit
    with open(results / "qemu.log", "wb") as errors:
        machine = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    assert machine.stdout is not None
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(machine.stdout, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                if not selector.select(left):
                    continue
                if not (data := os.read(machine.stdout.fileno(), 65536)):
                    break
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            else:
                raise LabError(f"the machine was not done after {limit:.0f} s; see {results}")
        machine.wait(timeout=20)
    finally:
        if machine.poll() is None:
            machine.kill()
            machine.wait()
    try:
        return int((results / "status").read_text())
    except (OSError, ValueError):
        raise LabError(f"the machine ended without a result; see {results}/console.log and qemu.log") from None
