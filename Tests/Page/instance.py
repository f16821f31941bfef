"""A program whose page is tried."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from browser import PATIENCE


class Instance:
    """A `mynah serve` with a TCP port."""

    def __init__(self, program: str, directory: Path, address: str = "127.0.0.1:0", *options: str) -> None:
        self.program = os.path.abspath(program)
        self.environment = dict(os.environ, MYNAH_AIR=str(directory))
        self.directory = directory
        self.phones: list[subprocess.Popen[str]] = []
        command = [self.program, "serve", "--with-parent", "--radio", "virtual", "--control", address, "--events", "json"]
        self.process = subprocess.Popen(
            [*command, "--seed", "1", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.environment, cwd=directory,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = json.loads(self.process.stdout.readline())["control"]
        # Events that are not read would fill the pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def phone(self, name: str, *commands: str) -> Any:
        command = [self.program, "connect", name, "--radio", "virtual", "--format", "json", "--quiet"]
        for text in commands:
            command += ["--command", text]
        phone = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=self.environment,
        )  # fmt: skip
        self.phones.append(phone)
        return phone

    def read(self, name: str, attribute: str) -> str:
        """The value that a phone reads."""
        output, _ = self.phone(name, f"read {attribute}").communicate(timeout=PATIENCE)
        values = [json.loads(line) for line in output.splitlines()]
        return str([value["value"] for value in values if value.get("event") == "read"][-1])

    def shell(self, line: str) -> str:
        """Runs a line that was copied."""
        path = f"{Path(self.program).parent}:{self.environment['PATH']}"
        done = subprocess.run(
            ["sh", "-c", line], env=dict(self.environment, PATH=path), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def stop(self) -> None:
        for phone in self.phones:
            phone.kill()
            phone.wait()
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
