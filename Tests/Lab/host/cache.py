"""Downloads and built things, kept outside the checkout and made once."""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "mynah" / "lab"
    path.mkdir(parents=True, exist_ok=True)
    return path


def say(message: str) -> None:
    print(f"lab: {message}", file=sys.stderr, flush=True)


def once(key: str, why: str, build: Callable[[Path], None]) -> Path:
    """The folder of that key. It is built aside and renamed, so that what a broken run left is never found."""
    target = folder() / key
    if target.exists():
        return target
    with open(folder() / f".{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            return target
        say(why)
        aside = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=folder()))
        try:
            build(aside)
            aside.chmod(0o755)
            aside.rename(target)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
    return target
