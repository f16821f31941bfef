"""Our side: a process of mynah-interop, and what it says line by line."""

import asyncio
import contextlib
from pathlib import Path

from stacks.patience import PATIENCE


class Helper:
    path: Path

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said: list[str] = []
        self.news = asyncio.Event()
        self.reading = asyncio.ensure_future(self.read())

    @classmethod
    async def start(cls, *arguments: str, environment: dict[str, str] | None = None) -> "Helper":
        process = await asyncio.create_subprocess_exec(
            str(cls.path), *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment
        )
        return cls(process)

    async def read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.said.append(line.decode(errors="replace").rstrip())
            self.news.set()
        self.said.append("ended")
        self.news.set()

    async def until(self, start: str, count: int = 1, within: float = PATIENCE) -> str:
        """The line that begins like this, the count-th of those."""

        async def wait() -> str:
            while True:
                found = [each for each in self.said if each == start or each.startswith(start + " ")]
                if len(found) >= count:
                    return found[count - 1].removeprefix(start).strip()
                if self.said and self.said[-1] == "ended" and start != "ended":
                    raise AssertionError(f"our side ended without {start!r}; it said {self.said}")
                self.news.clear()
                await self.news.wait()

        try:
            return await asyncio.wait_for(wait(), within)
        except TimeoutError:
            raise AssertionError(f"our side did not say {start!r} within {within:g} s; it said {self.said}") from None

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    async def end(self) -> None:
        if self.process.returncode is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            try:
                await asyncio.wait_for(self.process.wait(), 5)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self.process.kill()
                await self.process.wait()
        await self.reading
