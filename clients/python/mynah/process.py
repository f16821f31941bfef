"""Starts a Mynah for tests, and ends it."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Sequence

from ._connection import FIRST_LOOK, is_stopped
from .client import Client, Time, _limit

#: The name of a server's directory begins with it; the server makes and removes the directory.
_PREFIX = "mynah-py-"
#: How long a server that starts may have no socket, or not listen on it yet, in seconds.
_STARTING = {FileNotFoundError: 120.0, ConnectionRefusedError: 10.0}
#: The longest that is waited for one that starts, in seconds.
_LONGEST_START = 86_400.0
#: How long a server that closes a connection may take to end, in seconds.
_ENDING = 2.0
#: How long one that is told to end may take to, in seconds.
_CLOSING = 30.0
#: The status of one that was started with wrong options.
_WRONG_USAGE = 64
#: How many lines of its log are its last words, and how many of its events are kept for when it has ended.
_WORDS = 5
_EVENTS = 50
#: The most bytes of a log, and of a line of events, that are read.
_LOG = 1 << 16
_LINE = 1 << 20


class ServerEnded(ConnectionError):
    """A `mynah serve` ended although nobody closed it: the message has its last words."""


class Mynah(Client):
    """A `mynah serve` of one's own, on a radio and an air that it shares with nobody else.

    Use it with `with`, or call `close`; it also ends when this process does, however that ends. `program` is
    the program; the default is `MYNAH`, or `mynah` on the path. With the `clock` `manual`, time stops until a
    request needs it or `advance` moves it; no other program is on its air then. A program that is not ready
    within `ready_within` is ended.

    A request to one that has ended by itself raises `ServerEnded`.
    """

    def __init__(
        self,
        *,
        radio: str = "virtual",
        program: str | None = None,
        clock: str = "real",
        seed: int | None = None,
        options: Sequence[str] = (),
        ready_within: Time = "60 s",
        _files: Sequence[int] = (),
    ) -> None:
        limit = min(_limit(ready_within), _LONGEST_START)
        _remove_leftovers()
        #: The directory of its socket and its air, which it makes and removes.
        self.directory = _new_directory()
        self.program = program or os.environ.get("MYNAH") or "mynah"
        #: The environment of programs that share its air, such as `mynah connect`.
        self.environment = dict(os.environ, MYNAH_AIR=str(self.directory))
        super().__init__(f"unix:{self.directory / 'control.sock'}")
        self._clock_name = clock
        command = [self.program, "serve", "--with-parent", "--radio", radio, "--control", self.address]
        command += ["--events", "json"]
        if clock != "real":
            command += ["--clock", clock]
        if seed is not None:
            command += ["--seed", str(seed)]
        self._is_closed = False
        #: Whether its last request had no answer in time.
        self._is_silent = False
        #: Whether the plugin has said how it ended.
        self._end_is_reported = False
        #: The last lines that it printed: for when the journal has gone with it.
        self._events: deque[str] = deque(maxlen=_EVENTS)
        # Without a name, no file stays behind.
        self._errors: BinaryIO = tempfile.TemporaryFile(prefix="mynah-")  # type: ignore[assignment]
        # The end of this process closes it, also before the server can look for its parent. A copy of this
        # process has it too: then --with-parent sees the end of the one that started the server.
        pipe, self._end_of_pipe = _pipe()
        command += ["--with-pipe", str(pipe)]
        try:
            self._process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self.environment,
                pass_fds=[*_files, pipe],
                # Ctrl-C on a terminal is for this process, which ends the server when it needs it no more.
                start_new_session=True,
            )
        except BaseException as error:
            self._errors.close()
            os.close(self._end_of_pipe)
            if not isinstance(error, OSError):
                raise
            raise RuntimeError(
                f"{self.program} cannot be started: {error.strerror}. Set MYNAH to the program's path."
            ) from error
        finally:
            os.close(pipe)
        try:
            #: The event `ready`.
            self.ready: dict[str, Any] = self._until_ready(limit)
        except BaseException:
            self.close()
            raise

    def _until_ready(self, seconds: float) -> dict[str, Any]:
        first: queue.SimpleQueue[dict[str, Any] | str] = queue.SimpleQueue()
        threading.Thread(target=self._read_output, args=(first,), daemon=True).start()
        ready: dict[str, Any] | str | None = None
        end = time.monotonic() + seconds
        while ready is None:
            left = end - time.monotonic()
            try:
                ready = first.get(timeout=max(0.0, min(FIRST_LOOK, left)))
            except queue.Empty:
                if is_stopped(self._process.pid):
                    ready = f"mynah serve (process {self._process.pid}) was stopped before it was ready"
                elif left <= FIRST_LOOK:
                    ready = f"{self.program} was not ready after {seconds:g} s"
                    ready += f"; its last words: {self._last_words()}"
        if isinstance(ready, dict):
            return ready
        raise RuntimeError(ready or self._end_before_ready())

    def _end_before_ready(self) -> str:
        """How it ended; its output is closed, which may be a moment earlier."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        if (ended := self._how_it_ended(" before it was ready")) is None:
            return f"{self.program} closed its output before it was ready; its last words: {self._last_words()}"
        return ended

    def _read_output(self, first: queue.SimpleQueue[dict[str, Any] | str]) -> None:
        """Hands over the event `ready`, or why there is none: no text if it has ended.

        It reads on, because a pipe that is not read becomes full.
        """
        is_waited_for = True
        with self._output:
            while line := self._output.readline(_LINE):
                self._events.append(line.decode(errors="replace").rstrip())
                # A radio may report before it what it waits for.
                if is_waited_for and (found := self._ready(line)):
                    first.put(found)
                    is_waited_for = False
        first.put("")

    def _ready(self, line: bytes) -> dict[str, Any] | str | None:
        try:
            event = dict(json.loads(line))
        except (TypeError, ValueError, RecursionError):
            return f"{self.program} is not mynah: it printed {line[:80]!r}"
        return event if event.get("event") == "ready" else None

    @property
    def _output(self) -> Any:
        return self._process.stdout

    # Its end

    @property
    def log(self) -> str:
        """The end of what it has written to standard error: its warnings and log lines."""
        return self.log_since(0)

    @property
    def log_size(self) -> int:
        """How many bytes it has written to standard error."""
        return self._kept_size if self._is_closed else os.fstat(self._errors.fileno()).st_size

    def log_since(self, start: int) -> str:
        """The lines that it has written to standard error after so many bytes, or the end of them."""
        count = min(max(self.log_size - start, 0), _LOG)
        # Without moving the position of the file, which is the server's too.
        if self._is_closed:
            log = self._kept_log[len(self._kept_log) - count :]
        else:
            log = os.pread(self._errors.fileno(), count, self.log_size - count)
        return log.decode(errors="replace").strip()

    @property
    def last_events(self) -> list[str]:
        """The last events that it has printed, as JSON; they are there when it has ended, too."""
        return list(self._events)

    @property
    def is_running(self) -> bool:
        """Whether it was not closed, and has not ended by itself."""
        return not self._is_closed and self._process.poll() is None

    def _last_words(self) -> str:
        lines = self.log.splitlines()
        if self._process.poll() == _WRONG_USAGE:
            # The help of an option and the usage, which is long, come after the error.
            after = next((at for at, line in enumerate(lines) if line.startswith(("Help:", "Usage:"))), None)
            lines = lines[:after]
        return "\n".join(lines[-_WORDS:]) or "none"

    @property
    def ended(self) -> str | None:
        """How it ended by itself, with its last words; `None` while it runs, and after `close`."""
        return None if self._is_closed else self._how_it_ended()

    def _how_it_ended(self, when: str = "") -> str | None:
        code = self._process.poll()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"status {code}"
        return f"mynah serve ended with {how}{when}; its last words: {self._last_words()}"

    def _request(self, *arguments: Any) -> Any:
        try:
            answer = super()._request(*arguments)
            self._is_silent = False
            return answer
        except OSError as error:
            cause = self._cause(error)
            if cause is error:
                raise
            raise cause from None

    def _cause(self, error: OSError) -> OSError:
        self._is_silent = isinstance(error, TimeoutError)
        if not self._is_silent:
            # A process that ends closes its sockets first.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING)
        return ServerEnded(ended) if (ended := self.ended) else error

    def close(self) -> None:
        """Ends it; a second call does nothing."""
        if self._is_closed:
            return
        try:
            # One that is stopped ends, too.
            for number in (signal.SIGTERM, signal.SIGCONT):
                self._process.send_signal(number)
            self._process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()
            self._process.wait()
            self._kept_size = self.log_size
            self._kept_log = os.pread(self._errors.fileno(), _LOG, max(0, self._kept_size - _LOG))
            self._is_closed = True
            self._errors.close()
            os.close(self._end_of_pipe)
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Mynah:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _new_directory() -> Path:
    """A path that nothing has; a socket in it must not have a long one."""
    while True:
        path = Path(tempfile.gettempdir(), _PREFIX + secrets.token_hex(3))
        if not os.path.lexists(path):
            return path


def _pipe() -> tuple[int, int]:
    """The ends of a pipe; the first is no standard one, which a program that is started has for itself."""
    reading, writing = os.pipe()
    if reading < 3:
        low, reading = reading, fcntl.fcntl(reading, fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(low)
    return reading, writing


def _remove_leftovers() -> None:
    """Removes the directories of servers that were killed together with the process that started them."""
    for directory in Path(tempfile.gettempdir()).glob(_PREFIX + "*"):
        with suppress(OSError):
            status = directory.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            with socket.socket(socket.AF_UNIX) as probe:
                probe.setblocking(False)
                try:
                    probe.connect(str(directory / "control.sock"))
                except (FileNotFoundError, ConnectionRefusedError) as error:
                    if time.time() - status.st_mtime > _STARTING[type(error)]:
                        shutil.rmtree(directory, ignore_errors=True)
