"""Waiting for what other tasks bring, without polling and never for ever."""

import asyncio
from collections.abc import Callable


class TimedOut(AssertionError):
    """An expected event did not come."""


class Signal:
    """Wakes every waiter each time something has happened."""

    def __init__(self) -> None:
        self.waiters: set[tuple[Callable[[], object], asyncio.Future]] = set()

    def happened(self) -> None:
        for waiter in list(self.waiters):
            condition, future = waiter
            if future.done():
                continue
            try:
                if value := condition():
                    future.set_result(value)
            except Exception as error:
                future.set_exception(error)

    async def until(self, condition: Callable[[], object], what: str, within: float = 30):
        if value := condition():
            return value
        waiter = (condition, asyncio.get_running_loop().create_future())
        self.waiters.add(waiter)
        try:
            return await asyncio.wait_for(waiter[1], within)
        except TimeoutError:
            raise TimedOut(f"{what}: not within {within:g} s") from None
        finally:
            self.waiters.discard(waiter)
