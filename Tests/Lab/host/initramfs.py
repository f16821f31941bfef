"""The few modules that reach the root over 9p, and the script that switches to it, as a cpio archive."""

import lzma
import os
import re
import shutil
from pathlib import Path

from host.system import LabError, System

WANTED = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]


def build(system: System, init: Path) -> bytes:
    busybox = shutil.which("busybox", path="/usr/bin:/bin")
    if not busybox:
        raise LabError("busybox is missing (package busybox-static)")
    archive = Archive()
    for folder in ["bin", "dev", "proc", "sys", "modules", "lower", "upper", "root"]:
        archive.add(folder, 0o040755)
    archive.add("bin/busybox", 0o100755, Path(busybox).read_bytes())
    archive.add("init", 0o100755, init.read_bytes())
    order = [name.split("/")[-1].split(".")[0] + ".ko" for name in module_order(system.modules)]
    for path, name in zip(module_order(system.modules), order, strict=True):
        archive.add(f"modules/{name}", 0o100644, module(system.modules / path))
    archive.add("modules/order", 0o100644, "\n".join(order).encode() + b"\n")
    return archive.finish()


def module_order(folder: Path) -> list[str]:
    """The modules with what they depend on, dependencies first; what the kernel has built in needs no file."""
    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, dependencies = line.partition(":")
        needs[path] = dependencies.split()
    by_name = {re.sub(r"\.ko.*$", "", os.path.basename(path)).replace("-", "_"): path for path in needs}
    order: list[str] = []
    for name in WANTED:
        if (path := by_name.get(name)) is None:
            continue
        # modules.dep lists every dependency, the nearest first.
        for each in [*reversed(needs[path]), path]:
            if each not in order:
                order.append(each)
    return order


def module(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix != ".ko":
        raise LabError(f"cannot unpack the module {path}")
    return data


class Archive:
    """A cpio archive of the kind that kernels read ("newc")."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.count = 0

    def add(self, name: str, mode: int, data: bytes = b"") -> None:
        self.count += 1
        encoded = name.encode() + b"\0"
        fields = [self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self.parts += [padded(header + encoded), padded(data)]

    def finish(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
