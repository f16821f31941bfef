"""Captures that are damaged: flipped bits, a cut end, packets in another order, repeated or missing."""

import random
import struct
from collections.abc import Iterator

# The size of a file's head, and where a record's own head has its size and how much else there is.
FORMS = {"log": (16, ">I", 0, 24), "pcap": (24, "<I", 8, 16)}


def records(content: bytes, form: str) -> tuple[bytes, list[bytes]]:
    """The file's head and its records."""
    if form == "pcapng":
        out, at = [], 0
        while at + 12 <= len(content):
            size = struct.unpack("<I", content[at + 4 : at + 8])[0]
            out.append(content[at : at + size])
            at += size
        return b"".join(out[:2]), out[2:]
    at, order, place, head = FORMS[form]
    start, out = content[:at], []
    while at + head <= len(content):
        size = struct.unpack(order, content[at + place : at + place + 4])[0] + head
        out.append(content[at : at + size])
        at += size
    return start, out


def mutants(content: bytes, form: str, rng: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        head, parts = records(content, form)
        for _ in range(rng.randrange(1, 4)):
            parts = mutate(parts, rng)
        whole = head + b"".join(parts)
        yield whole[: rng.randrange(len(head), len(whole) + 1)] if rng.random() < 0.3 else whole


def mutate(parts: list[bytes], rng: random.Random) -> list[bytes]:
    if not parts:
        return parts
    kind, out = rng.randrange(5), list(parts)
    for _ in range(rng.choice([1, 3, 20, len(parts) // 4 + 1])):
        at = rng.randrange(len(out))
        if kind == 0:
            flipped = bytearray(out[at])
            bit = rng.randrange(8 * len(flipped))
            flipped[bit // 8] ^= 1 << bit % 8
            out[at] = bytes(flipped)
        elif kind == 1:
            other = rng.randrange(len(out))
            out[at], out[other] = out[other], out[at]
        elif kind == 2:
            out.insert(rng.randrange(len(out)), out[at])
        elif kind == 3 and len(out) > 1:
            del out[at]
        elif kind == 4:
            # The values of the last octets, where ATT has them.
            out[at] = out[at][:-4] + rng.randbytes(4) if len(out[at]) > 40 else out[at]
    return out
