"""Imports a capture, plays the profile in virtual time, and compares what is on the air with what the capture shows.

The phone is an app of the same run, which subscribes and writes as the capture's phone did. Both are
read from the run's own capture.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .reader import Conversation, Packet, Reader, Report, packets, read
from .writer import SCAN_RSP

# An answer is at its time within this many seconds; a microsecond is for rounding.
NEAR = 0.010001
LIMIT = 120
# Services that iOS keeps from apps, so that the app of a run cannot write there.
HIDDEN = {"1800", "1801", "1812", "181E", "7905F431-B5CE-4E99-A40F-4B1E122D00D0"}
# Of a long capture, so many writes of a link are played.
MOST_WRITES = 1000


@dataclass
class Figures:
    """Each as (so many hold, of so many)."""

    writes: list[int] = field(default_factory=lambda: [0, 0])
    advertisements: list[int] = field(default_factory=lambda: [0, 0])
    comments: list[int] = field(default_factory=lambda: [0, 0])
    tables: list[int] = field(default_factory=lambda: [0, 0])
    # Attribute tables and advertisements that tshark reads alike in both captures.
    tshark: list[int] = field(default_factory=lambda: [0, 0])
    # For information: values of streams at their time, and writes that get their bytes at any time.
    streams: list[int] = field(default_factory=lambda: [0, 0])
    values: list[int] = field(default_factory=lambda: [0, 0])
    notes: list[str] = field(default_factory=list)

    NAMES = ("writes", "advertisements", "comments", "tables", "tshark", "streams", "values")

    def add(self, other: "Figures") -> None:
        for name in self.NAMES:
            mine, its = getattr(self, name), getattr(other, name)
            mine[0] += its[0]
            mine[1] += its[1]

    def count(self, name: str, holds: bool, note: str = "") -> None:
        pair = getattr(self, name)
        pair[0] += holds
        pair[1] += 1
        if not holds and note:
            self.notes.append(f"{name}: {note}")

    def line(self) -> str:
        return "  ".join(f"{name} {pair[0]}/{pair[1]}" for name in self.NAMES if (pair := getattr(self, name)) is not None)


def command(*words: object, limit: float = LIMIT, **more) -> subprocess.CompletedProcess:
    """Runs a program; a hang is a failure that names it."""
    environment = os.environ | {"SWIFT_BACKTRACE": "enable=no"}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace",
                          timeout=limit, env=environment, stdin=subprocess.DEVNULL, **more)  # fmt: skip


class Crash(Exception):
    """The program ended by a signal, or did not end."""


def mynah(program: Path, *words: object, limit: float = LIMIT) -> subprocess.CompletedProcess:
    try:
        done = command(program, *words, limit=limit)
    except subprocess.TimeoutExpired as error:
        raise Crash(f"{' '.join(map(str, words))}: no end within {limit} s") from error
    if done.returncode not in (0, 1):
        name = signal.Signals(-done.returncode).name if done.returncode < 0 else f"status {done.returncode}"
        raise Crash(f"{' '.join(map(str, words))}: {name}\n{done.stderr[-400:]}")
    return done


# The phone


def app(link: dict | None) -> str:
    """The profile of the phone's app: what it subscribes and writes; without a link it only scans."""
    head = "mynah: 1\nname: Judge\napp: {}\n"
    if link is None:
        return head + "central: {scan: {allowDuplicates: true, until: never}}\n"
    lines = ["central:", "  scan: {}", "  peripherals:", "    - name: Device", "      discover: all"]
    if link["subscribed"]:
        lines.append(f"      subscribe: {json.dumps(link['subscribed'])}")
    if link["writes"]:
        lines.append("      write:")
    for each in link["writes"]:
        after = max(0.001, each["at"])
        lines.append(
            f"        - {{to: {each['to']}, value: {{hex: \"{each['value']}\"}}, "
            f"withResponse: {json.dumps(each['response'])}, after: {after * 1000:.3f} ms}}"
        )
    return head + "\n".join(lines) + "\n"


@dataclass
class Play:
    talk: Conversation | None
    reports: list[Report]
    error: str


def play(program: Path, profile: Path, work: Path, link: dict | None, seconds: float) -> Play:
    phone, capture = work / "judge.yaml", work / ("scanned.pcapng" if link is None else "played.pcapng")
    phone.write_text(app(link))
    capture.unlink(missing_ok=True)
    done = mynah(program, "run", profile, phone, "--radio", "virtual", "--clock", "fast", "--seed", 1, "--events", "off",
                 "--timeout", f"{seconds:.3f}s", "--capture", capture)  # fmt: skip
    if done.returncode != 0 or not capture.exists():
        return Play(None, [], done.stderr.strip())
    mine: list[Packet] = []
    for each in packets(capture.read_bytes()):
        if each.interface in ("air", "hci Judge"):
            mine.append(each)
    reader = Reader().read(iter(mine))
    talks = [each for each in reader.conversations if each.declarations]
    return Play(talks[-1] if talks else None, reader.reports, done.stderr.strip())


# The comparisons


def compare_writes(figures: Figures, link: dict, talk: Conversation, known: set[tuple]) -> list[tuple]:
    """Whether each write gets its bytes at their time, and nothing else; returns what the device sent, by path."""
    paths = talk.paths()
    sent = [[at, paths.get(handle, f"handle {handle}"), value.hex(), False] for at, handle, value, _ in talk.sent]
    written = [each for each in talk.writes if each[1] in paths]
    streams = set(link.get("streams", []))
    for index, each in enumerate(link["writes"]):
        what = f"{each['to']} <- {each['value'][:24]}"
        if index >= len(written) or written[index][2].hex() != each["value"]:
            figures.count("writes", False, f"{what}: was not written")
            continue
        error, at = written[index][4:]
        until = written[index + 1][0] if index + 1 < len(written) else at + 5
        missing = []
        for path, value, delay in each["answers"]:
            near = [s for s in sent if not s[3] and s[1] == path and s[2] == value and abs(s[0] - at - delay) <= NEAR]
            if near:
                min(near, key=lambda s: abs(s[0] - at - delay))[3] = True
            else:
                missing.append(f"{path} {value[:24]} after {delay * 1000:.0f} ms")
        each["until"], each["from"] = until, at
        came = [(path, value) for time, path, value, _ in sent if at <= time < max(until, at + 5)]
        figures.count("values", error == each["error"] and all((path, value) in came for path, value, _ in each["answers"]))
        note = f"{what}: no {', '.join(missing[:2])}{' …' if len(missing) > 2 else ''}" if missing else ""
        if error != each["error"]:
            note = note or f"{what}: the error {error}, not {each['error']}"
        each["note"] = note
    for each in link["writes"]:
        if "note" not in each:
            continue
        note = each.pop("note")
        extra = [s for s in sent if not s[3] and each["from"] <= s[0] < each["until"] and s[1] not in streams
                 and (s[1], s[2]) not in known]  # fmt: skip
        if extra and not note:
            first = extra[0]
            note = (f"{each['to']} <- {each['value'][:24]}: {len(extra)} more, as {first[1]} {first[2][:24]} "
                    f"after {(first[0] - each['from']) * 1000:.0f} ms")  # fmt: skip
        figures.count("writes", not note, note)
    return [(at, path, value) for at, path, value, _ in sent]


def comment_lines(profile: str) -> tuple[str, str, dict[str, str]]:
    """The profile without comments, all comments, and those around each characteristic by its UUID."""
    text, comments, around = [], [], {}
    waiting: list[str] = []
    name = ""
    for line in profile.splitlines():
        found = re.search(r"(?:^|\s)#(.*)$", line)
        code = line[: found.start()] if found else line
        uuid = re.search(r"\buuid: ([0-9A-Za-z-]+)", code)
        text.append(code)
        if uuid:
            name = uuid[1].upper()
            around[name] = around.get(name, "") + "\n".join(waiting)
            waiting = []
        if found:
            comments.append(found[1])
            around[name] = around.get(name, "") + "\n" + found[1]
            waiting = waiting + [found[1]] if not code.strip() else waiting
    return "\n".join(text), "\n".join(comments), around


def values_in(text: str) -> set[str]:
    """The hexadecimal bytes in a text."""
    return {digits(each) for each in re.findall(r"\b[0-9A-Fa-f]{2}(?: ?[0-9A-Fa-f]{2})*\b", text)}


def digits(text: str) -> str:
    return re.sub(r"[\s:]", "", text).upper()


def compare_comments(figures: Figures, truth: dict, profile: str, recording: str, played: list[tuple],
                     reports: list[Report]) -> None:  # fmt: skip
    """Whether everything that was observed and is not played has a comment: its bytes, or what there is with a count."""
    code, comments, around = comment_lines(profile)
    body, said = values_in(code) | values_in(recording), digits(comments)
    sent = {(path, value) for _, path, value in played}
    for link in truth["links"]:
        for each in link["sent"]:
            value = each["value"].upper()
            known = each["path"] or truth.get("observed")
            if (each["path"], each["value"]) in sent or (known and value in body):
                continue
            uuid = each["path"].split("/")[1].split("~")[0] if each["path"] else ""
            near = around.get(uuid, comments)
            counted = re.search(r"\b\d[\d,]*\s+(more|other|values?|answers|of \d)", near)
            other = re.search(r"of others are left out: .*\d values?\b", comments)
            holds = value[:40] in said or bool(counted or other)
            figures.count("comments", holds, f"{each['path'] or each['handle']} {each['value'][:24]} ({each['cause']})")
    if truth["advertisement"]:
        shown = {report.data.hex() for report in reports}
        for payload in truth["advertisement"]["payloads"] + [truth["advertisement"]["response"] or ""]:
            if payload and payload not in shown:
                counted = re.search(r"\d+ (other|more|payloads|advertisements)", comments)
                figures.count("comments", payload.upper()[:40] in said or bool(counted), f"advertisement {payload}")


def compare_advertisements(figures: Figures, truth: dict, profile: str, reports: list[Report]) -> None:
    wanted = truth["advertisement"]
    if wanted is None:
        found = any(report.kind == 0 or report.kind >= 16 and report.kind & 1 for report in reports)
        figures.count("advertisements", found, "cannot be found and connected to")
        figures.count("comments", "advertis" in comment_lines(profile)[1].lower(), "no word about the missing advertisement")
        return
    kind = wanted["kind"] + (16 if wanted["extended"] else 0)
    order: list[str] = []
    for report in reports:
        if report.kind == kind and report.data.hex() not in order:
            order.append(report.data.hex())
    place = 0
    for payload in wanted["payloads"]:
        if payload in order[place:] or (not wanted.get("ordered", True) and payload in order):
            place = order.index(payload)
            figures.count("advertisements", True)
        else:
            figures.count("advertisements", False, f"kind {kind} {payload}, but {order[:1] or 'nothing of this kind'}")
    responses = {report.data.hex() for report in reports if report.kind == SCAN_RSP}
    if wanted["response"] is not None:
        figures.count("advertisements", wanted["response"] in responses, f"scan response {wanted['response']}: {sorted(responses)[:2]}")
    elif not wanted.get("passive") and responses - {""}:
        figures.count("advertisements", False, f"a scan response that was not seen: {sorted(responses)[:1]}")


def compare_table(figures: Figures, truth: dict, talk: Conversation, profile: str) -> None:
    """Services, characteristics and properties on the air; descriptors in the profile, for no app discovers them."""

    def plain(table: list) -> list:
        return sorted([service, [row[:2] for row in rows]] for service, rows in table if service not in HIDDEN)

    wanted, found = plain(truth["services"]), plain(talk.table())
    known = [name for _, rows in truth["services"] for *_, names in rows for name in names if not name.startswith("29")]
    lost = [name for name in known if name not in comment_lines(profile)[0].upper()]
    figures.count("tables", wanted == found and not lost, f"{wanted} is {found}; descriptors {lost}"[:400])


def judge(program: Path, capture: Path, truth: dict, work: Path, device: str | None = None) -> Figures:
    """The figures of one device of a capture."""
    figures = Figures()
    writes = sum(len(link["writes"]) for link in truth["links"])
    payloads = truth["advertisement"]["payloads"] if truth["advertisement"] else [""]

    def failed(note: str) -> Figures:
        figures.notes.append(note)
        figures.writes[1] += writes
        figures.values[1] += writes
        figures.advertisements[1] += len(payloads)
        return figures

    folder = work / "profile"
    choice = ["--device", device] if device else []
    done = mynah(program, "import", capture, "--output", folder, *choice)
    profiles = sorted(folder.glob("*.yaml"))
    if done.returncode != 0 or len(profiles) != 1:
        return failed(f"import: {done.stderr.strip()[:400]}")
    profile = profiles[0]
    checked = mynah(program, "check", profile)
    if checked.returncode != 0:
        return failed(f"check: {checked.stdout.strip()[:400]} {checked.stderr.strip()[:200]}")
    text = profile.read_text()
    recording = "".join(each.read_text() for each in sorted(folder.glob("*.jsonl")))
    wanted = truth["advertisement"]
    seconds = max(5.0, len(payloads) * wanted["interval"] * 2 + 5) if wanted else 5.0
    scan = play(program, profile, work, None, min(seconds, 600))
    if scan.error and not scan.reports:
        return failed(f"run: {scan.error[:400]}")
    compare_advertisements(figures, truth, text, scan.reports)
    played: list[tuple] = []
    for link in truth["links"]:
        last = max([each["at"] for each in link["writes"] + link["sent"]], default=0)
        shown = play(program, profile, work, link, last + 8)
        if shown.talk is None:
            figures.writes[1] += len(link["writes"])
            figures.values[1] += len(link["writes"])
            figures.notes.append(f"run: {shown.error[:400] or 'no connection'}")
            continue
        known = {(each["path"], each["value"]) for each in link["sent"] if each["cause"] != "answer"}
        sent = compare_writes(figures, link, shown.talk, known)
        compare_streams(figures, link, shown.talk, sent)
        compare_table(figures, truth, shown.talk, text)
        played += sent
    compare_comments(figures, truth, text, recording, played, scan.reports)
    if not truth.get("observed") and shutil.which("tshark"):
        if wanted:
            compare_with_tshark(figures, "advertisement", capture, work / "scanned.pcapng")
        if (work / "played.pcapng").exists():
            compare_with_tshark(figures, "table", capture, work / "played.pcapng")
    return figures


# The fields by which tshark is asked, each row of which the played capture must have too.
ENTRY = "btcommon.eir_ad.entry."
TSHARK = {
    "advertisement": (
        f"{ENTRY}type && !(btle.advertising_header.pdu_type == 3)",
        [ENTRY + each for each in ("type", "uuid_16", "uuid_128", "service_data", "device_name", "company_id", "data",
                                   "power_level")],
    ),
    "table": ("btatt.opcode == 0x09 && btatt.characteristic_properties",
              ["btatt.characteristic_properties", "btatt.uuid16", "btatt.uuid128"]),
}  # fmt: skip
# The characteristics of the services that a radio adds itself.
OWN = {"0x2a00", "0x2a01", "0x2a04", "0x2a05", "0x2aa6", "0x2b29", "0x2b2a", "0x2b3a"}


def compare_with_tshark(figures: Figures, what: str, capture: Path, played: Path) -> None:
    """Whether tshark reads in the played capture what it reads in the original one."""

    def rows(path: Path) -> set[tuple[str, ...]]:
        filter, names = TSHARK[what]
        options = [word for name in names for word in ("-e", name)]
        done = command("tshark", "-r", path, "-Y", filter, "-T", "fields", *options)
        found = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
        if what == "advertisement":
            return found
        pairs = set()
        for properties, short, long in found:
            uuids = [each for each in (short + "," + long).split(",") if each and each != "0x2803"]
            pairs |= {pair for pair in zip(properties.split(","), uuids) if pair[1] not in OWN}
        return pairs

    wanted, found = rows(capture), rows(played)
    figures.count("tshark", wanted <= found, f"{what}: {sorted(wanted - found)[:3]}")


def compare_streams(figures: Figures, link: dict, talk: Conversation, sent: list[tuple]) -> None:
    cccds = [at for at, handle, value, *_ in talk.writes if handle in talk.cccds()]
    if not cccds:
        return
    for each in link["sent"]:
        if each["cause"] == "stream":
            near = (path == each["path"] and value == each["value"] and abs(at - cccds[-1] - each["at"]) <= NEAR
                    for at, path, value in sent)  # fmt: skip
            figures.count("streams", any(near))


# Captures of which no truth is known


def observed(capture: Path) -> list[tuple[str | None, dict]]:
    """Each device that was connected, or else was heard most, with what the capture shows of it, by plain rules."""
    reader = read(capture)
    addresses = list(dict.fromkeys(each.address for each in reader.conversations if useful(each)))
    if not addresses:
        heard = [each.address for each in reader.reports]
        addresses = sorted(set(heard), key=lambda each: (-heard.count(each), each))[:10]
    return [(each, truth_of(reader, each)) for each in addresses]


def significant(data: bytes) -> bytes:
    """Advertising data without the zeros at its end, which mean nothing (Core Specification, Vol 3, Part C, 11)."""
    at = 0
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return data[:at] if not any(data[at:]) else data


def useful(talk: Conversation) -> bool:
    return bool(talk.declarations or talk.writes or talk.sent)


def truth_of(reader: Reader, address: str | None) -> dict:
    talks = [each for each in reader.conversations if each.address == address and useful(each)]
    largest = max(talks, key=lambda each: len(each.declarations), default=Conversation(0, address))
    truth = {"advertisement": None, "services": largest.table(), "links": [], "observed": True}
    seen = [each for each in reader.reports if each.address == address]
    straight = [each for each in seen if each.kind != SCAN_RSP]
    if straight:
        first = straight[0]
        payloads = list(dict.fromkeys(significant(each.data).hex() for each in straight if each.kind == first.kind))
        responses = [significant(each.data).hex() for each in seen if each.kind == SCAN_RSP]
        gaps = (straight[-1].at - straight[0].at) / max(1, len(straight) - 1)
        truth["advertisement"] = {
            "kind": first.kind & 15, "extended": first.kind >= 16, "payloads": payloads, "passive": True, "ordered": False,
            "response": max(responses, key=responses.count) if responses else None,
            "interval": min(gaps * len(straight) / len(payloads), 30),
        }  # fmt: skip
    for talk in talks:
        if not talk.writes and not talk.sent:
            continue
        truth["links"].append(link_of(talk, largest))
    return truth


def link_of(talk: Conversation, largest: Conversation) -> dict:
    known = talk if talk.declarations and talk.services else largest
    paths, cccds = known.paths(), known.cccds()
    values = sorted(paths)
    writes, subscribed, times = [], [], []
    for at, handle, value, response, error, done in talk.writes:
        below = [each for each in values if each < handle]
        owner = cccds.get(handle) or (below[-1] if below and handle not in paths and len(value) == 2 else None)
        if owner in paths and handle not in paths:
            if value[:1] != b"\0" and paths[owner] not in subscribed:
                subscribed.append(paths[owner])
                times.append(done)
        elif handle in paths and paths[handle].split("/")[0].split("~")[0] not in HIDDEN:
            path = paths[handle]
            writes.append({"at": at, "to": path, "value": value.hex(), "response": response, "error": error,
                           "answers": [], "done": done})  # fmt: skip
    starts = [each["at"] for each in writes]
    zero = min(times[-1:] + starts[:1], default=talk.began)
    subscribed = [each for each in subscribed if each.split("/")[0].split("~")[0] not in HIDDEN]
    sent = []
    for at, handle, value, _ in talk.sent:
        before = [each for each in starts if each <= at]
        asked = bool(before) and at - before[-1] <= 5
        sent.append({"at": at, "path": paths.get(handle), "handle": handle, "value": value.hex(),
                     "cause": "answer" if asked else "unasked", "write": len(before) - 1})  # fmt: skip
    streams = [path for path in dict.fromkeys(each["path"] for each in sent) if path and is_stream(path, sent, starts)]
    for each in sent:
        if each["path"] in streams:
            each["cause"] = "stream"
        elif each["cause"] == "answer" and each["path"]:
            write = writes[each["write"]]
            write["answers"].append([each["path"], each["value"], max(0, each["at"] - write["done"])])
    for each in writes + sent:
        each["at"] -= zero
    kept = writes[:MOST_WRITES]
    if talk.address is None:
        # The log begins in the connection, after the subscriptions.
        owners = set(cccds.values())
        sending = dict.fromkeys(each["path"] for each in sent if each["handle"] in owners)
        subscribed += [path for path in sending if path not in subscribed]
    return {"subscribed": subscribed, "writes": kept, "sent": sent, "streams": streams}


def is_stream(path: str, sent: list[dict], starts: list[float]) -> bool:
    """Whether most values of a characteristic come more than a second after any write."""
    mine = [each["at"] for each in sent if each["path"] == path]
    alone = [at for at in mine if not any(0 <= at - start <= 1 for start in starts)]
    return len(alone) * 2 > len(mine)
