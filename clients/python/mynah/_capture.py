"""The parts of a capture that belong to single tests."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO, Iterator

_SECTION_HEADER = 0x0A0D0D0A
_INTERFACE = 1


class Capture:
    """A pcapng file that a Mynah writes, and that is read while it grows.

    A part begins where `begin` was called, or with the last section of the file if each part `is_section`.
    """

    def __init__(self, path: Path, is_section: bool = False) -> None:
        self._path = path
        self._is_section = is_section
        #: Where the part begins.
        self._start = 0
        #: Where the search for the next part begins, and the section header and the interfaces before it.
        self._position = 0
        self._headers = b""

    def begin(self) -> None:
        """Begins a part here."""
        self._start = self._path.stat().st_size

    def write(self, path: Path) -> None:
        """Writes the part that has begun, up to now, as a capture of its own; only its owner can read it."""
        with open(self._path, "rb") as source, open(path, "wb", opener=_private) as target:
            source.seek(self._position)
            if self._is_section:
                self._position = self._last_section(source)
                source.seek(self._position)
                target.writelines(block for _, block in _blocks(source))
                return
            for kind, block in _blocks(source):
                if source.tell() > self._start:
                    target.write(self._headers + block)
                    break
                self._position = source.tell()
                if kind in (_SECTION_HEADER, _INTERFACE):
                    self._headers += block
            else:
                target.write(self._headers)
            for _, block in _blocks(source):
                target.write(block)

    def _last_section(self, source: BinaryIO) -> int:
        last = start = source.tell()
        for kind, block in _blocks(source):
            if kind == _SECTION_HEADER:
                last = start
            start += len(block)
        return last


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The type and the bytes of each block; one that is not whole yet ends it."""
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<II", head)
        rest = file.read(length - 8) if length >= 12 else b""
        if len(rest) != length - 8:
            return
        yield kind, head + rest


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
