"""Starts a Mynah for tests, and ends it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Sequence

from .client import Client


class Mynah(Client):
    """A `mynah serve` of one's own, on a radio and an air that it shares with nobody else.

    Use it with `with`, or call `close`. `program` is the program; the default is `MYNAH`, or `mynah` on
    the path. With the `clock` `manual`, time stops until a request needs it or `advance` moves it; no
    other program is on its air then.
    """

    def __init__(
        self,
        *,
        radio: str = "virtual",
        program: str | None = None,
        clock: str = "real",
        seed: int | None = None,
        options: Sequence[str] = (),
    ) -> None:
        #: The directory of its socket, its air and its log.
        self.directory = Path(tempfile.mkdtemp(prefix="mynah-"))
        self.program = program or os.environ.get("MYNAH") or "mynah"
        #: The environment of programs that share its air, such as `mynah connect`.
        self.environment = dict(os.environ, MYNAH_AIR=str(self.directory))
        address = f"unix:{self.directory / 'control.sock'}"
        super().__init__(address)
        command = [self.program, "serve", "--radio", radio, "--control", address, "--events", "json"]
        if clock != "real":
            command += ["--clock", clock]
        if seed is not None:
            command += ["--seed", str(seed)]
        with open(self.directory / "log", "wb") as log:
            try:
                self._process = subprocess.Popen(
                    [*command, *options],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=self.environment,
                )
            except OSError as error:
                self._remove()
                raise RuntimeError(
                    f"{self.program} cannot be started: {error.strerror}. Set MYNAH to the program's path."
                ) from error
        #: The event `ready`.
        self.ready: dict[str, Any] = {}
        # A radio may report before it what it waits for.
        while self.ready.get("event") != "ready":
            line = self._output.readline()
            if not line:
                self.close()
                raise RuntimeError(f"mynah serve ended at once: {self._last_words}")
            try:
                self.ready = dict(json.loads(line))
            except (TypeError, ValueError) as error:
                self.close()
                raise RuntimeError(f"{self.program} is not mynah: it printed {line[:80]!r}") from error
        # Events that are not read would fill the pipe; the journal has them too.
        threading.Thread(target=self._discard_output, daemon=True).start()

    @property
    def _output(self) -> Any:
        return self._process.stdout

    def _discard_output(self) -> None:
        for _ in self._output:
            pass

    def close(self) -> None:
        """Ends it; a second call does nothing."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        log = self.directory / "log"
        self._last_words = log.read_text(errors="replace").strip() if log.exists() else ""
        self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Mynah:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
