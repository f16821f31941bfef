"""The tests of the README and of articles, each in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ARTICLES = ROOT / "Sources/Mynah/Mynah.docc"
FIRMWARE = ARTICLES / "TestFirmwareInPytest.md"


def files(page: Path) -> dict[str, str]:
    """The Python files of a page, by their names in the comment that they begin with."""
    found = re.findall(r"^```python\n# (test_[a-z_]+[.]py|conftest[.]py)\n(.*?)^```", page.read_text(), re.M | re.S)
    # A machine that tests has other work, too: nothing comes in the time that a reader's machine takes.
    return {str(name): re.sub(r"within=\d+", "within=300", text) for name, text in found}


def firmware() -> str:
    """The command that plays a profile in place of firmware, from the article's table."""
    (command,) = re.findall(r"^\| a profile in place of firmware \| `(.*)` \|$", FIRMWARE.read_text(), re.M)
    return str(command)


@pytest.mark.parametrize(
    ("page", "count"),
    [(ROOT / "README.md", 1), (ARTICLES / "ControlADevice.md", 1), (FIRMWARE, 3)],
    ids=lambda value: value.stem if isinstance(value, Path) else None,
)
def test_the_tests_of_a_page_pass(page: Path, count: int, tmp_path: Path) -> None:
    program = shutil.which(os.environ.get("MYNAH") or "mynah")
    assert program is not None
    for name, text in files(page).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "profiles").symlink_to(ROOT / "profiles")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mynah").symlink_to(program)
    environment = {
        **os.environ,
        "MYNAH": program,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "FIRMWARE": firmware(),
    }
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{count} passed" in result.stdout
