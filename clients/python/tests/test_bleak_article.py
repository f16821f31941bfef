"""The examples of the article "Test a bleak program"."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mynah import Mynah

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "Sources/Mynah/Mynah.docc/TestABleakProgram.md").read_text()
FILES = re.findall(r"^```(?:python|yaml)\n# (\S+)\n(.*?)^```", TEXT, re.M | re.S)
COMMANDS = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)


#: The examples wait for as long as bleak does by itself, which may be too short on a busy machine.
LONGER = """
from bleak import BleakScanner
for method in (BleakScanner.find_device_by_filter, BleakScanner.find_device_by_name):
    method.__func__.__defaults__ = (600.0,)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sitecustomize.py").write_text(LONGER)
    for name, content in FILES:
        (tmp_path / name).write_text(content)
    return tmp_path


def environment(folder: Path, **others: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **others}


def test_each_block_is_a_file_or_a_command_that_is_played() -> None:
    assert [name for name, _ in FILES] == ["rate.py", "strap.yaml", "test_rate.py", "test_safe.py", "named.py"]
    assert [command.splitlines()[-1].split()[0] for command in COMMANDS] == ["pip", "pytest", "python"]
    # The last block is an output.
    assert TEXT.count("\n```") == 2 * (len(FILES) + len(COMMANDS) + 1)


def test_the_tests_pass(folder: Path) -> None:
    words = COMMANDS[1].split()
    assert words[:2] == ["pytest", "--mynah"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", words[3], "test_safe.py"]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_programs_run_outside_of_tests(folder: Path) -> None:
    words = COMMANDS[2].splitlines()[-1].split()
    assert words == ["python", "-m", "mynah.bleak", "rate.py"]
    output = re.findall(r"^It prints:\n\n```\n(.*?)^```", TEXT, re.M | re.S)
    with Mynah() as server:
        server.add(folder / "strap.yaml")
        own = environment(folder, MYNAH_CONTROL=server.address)
        for arguments, printed in ((words[1:], "72 bpm\n" * 3), (["named.py"], output[0])):
            done = subprocess.run(
                [sys.executable, *arguments], cwd=folder, env=own, capture_output=True, text=True
            )
            assert (done.stdout, done.stderr) == (printed, "")
