"""The CI job of the article "Control a device": its schema, and the commands of its last steps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ARTICLE = ROOT / "Sources/Mynah/Mynah.docc/ControlADevice.md"


def job() -> str:
    jobs = re.findall(r"^```yml\n(# \.github/workflows/.*?)^```", ARTICLE.read_text(), re.M | re.S)
    assert len(jobs) == 1
    return str(jobs[0])


def commands() -> list[str]:
    return re.findall(r"^ +- run: (.*)$", job(), re.M)


def test_the_job_fits_the_schema_of_workflows(tmp_path: Path) -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    # The schema is a part of the package: nothing is fetched.
    check = [str(checker), "--builtin-schema", "vendor.github-workflows"]
    right, wrong = tmp_path / "right.yml", tmp_path / "wrong.yml"
    right.write_text(job())
    result = subprocess.run([*check, str(right)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    wrong.write_text(job().replace("runs-on", "run-on"))
    assert subprocess.run([*check, str(wrong)], capture_output=True).returncode == 1


def test_the_job_builds_with_a_target_of_the_makefile() -> None:
    targets = [command.split()[-1] for command in commands() if command.startswith("make -C mynah ")]
    assert targets == ["build"]
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^build:", makefile, re.M)
    assert "MYNAH := .build-release/release/mynah\n" in makefile


def test_the_last_steps_of_the_job_run_a_test(tmp_path: Path) -> None:
    program = shutil.which(os.environ.get("MYNAH") or "mynah")
    assert program is not None
    release = tmp_path / "mynah/.build-release/release"
    release.mkdir(parents=True)
    (release / "mynah").symlink_to(program)
    (tmp_path / "mynah/clients").mkdir()
    shutil.copytree(
        ROOT / "clients/python",
        tmp_path / "mynah/clients/python",
        ignore=shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__"),
    )
    (tmp_path / "test_lamp.py").write_text(
        "def test_a_lamp(mynah):\n"
        "    assert mynah({'mynah': 1, 'name': 'Lamp', 'services': []}).name == 'Lamp'\n"
    )
    steps = commands()[-2:]
    assert "pip install" in steps[0] and "pytest --mynah" in steps[1]
    environment = {key: value for key, value in os.environ.items() if key != "MYNAH"}
    for step in steps:
        result = subprocess.run(
            ["sh", "-ec", step], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stdout + result.stderr
    assert 'tests="1"' in (tmp_path / "report.xml").read_text()
