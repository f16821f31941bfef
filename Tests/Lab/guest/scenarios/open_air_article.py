"""The commands and the program of the article "Reach a device from a desktop program"."""

import re
import shlex
import sys

from lab.open_air import Tool, only_air, start_bluetoothd
from lab.places import BINARY, CHECKOUT, WORK
from lab.scenario import Lab, expect, scenario
from scenarios.open_air import run

ARTICLE = CHECKOUT / "Sources" / "Mynah" / "Mynah.docc" / "ReachFromADesktopProgram.md"
NAME = "Mynah HRM"


def blocks(language: str) -> list[str]:
    """The code blocks of a language; those without one have the language ""."""
    found = re.findall(r"^```([a-z]*)\n(.*?)^```", ARTICLE.read_text(), re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def words(line: str) -> list[str]:
    """A command of the article, as root of the lab's machine runs it."""
    found = shlex.split(line.removeprefix("sudo ").removesuffix("&"))
    found = [str(CHECKOUT / each) if each.startswith("profiles/") else each for each in found]
    return [BINARY if each == "mynah" else each for each in found]


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def desktop(lab: Lab) -> None:
    """the commands and the program of the article about desktop programs do what it says"""
    (shell,), (session, printed), (program,) = blocks("sh"), blocks(""), blocks("python")
    tools: list[Tool] = []
    async with only_air(lab):
        try:
            for line in shell.splitlines():
                if line.endswith("&"):
                    tools.append(await Tool(lab, "article").start(*words(line)))
                    await tools[-1].until("ready")
                else:
                    expect(await run(*words(line)), (0, ""), line)
            await start_bluetoothd(lab)
            await play(lab, session)
            path = WORK / "heart_rate.py"
            path.write_text(program)
            expect(await run(sys.executable, str(path)), (0, printed), "the program of the article")
        finally:
            for each in reversed(tools):
                await each.stop()


async def play(lab: Lab, session: str) -> None:
    """Types what follows each prompt, and waits for the line below it, with the address of the device that plays."""
    first, *lines = session.splitlines()
    tool = await Tool(lab, "bluetoothctl").start(*shlex.split(first.removeprefix("$ ")))
    await tool.until("Agent registered")
    wanted, address = "", ""
    for line, answer in zip(lines, [*lines[1:], "["], strict=True):
        if not (typed := re.match(r"\[[^]]*\]# (.*)", line)):
            continue
        command = typed[1].replace(wanted, address) if wanted else typed[1]
        if answer.startswith("[NEW] Device "):
            wanted = answer.split()[2]
            await tool.type(command, rf"Device \S+ {NAME}")
            (address,) = set(re.findall(rf"Device (\S+) {NAME}", tool.text))
        elif re.match(r"\[[^]]*\]# ", answer) or answer == "[":
            await tool.type(command)
        else:
            # A value is followed by its text, in which a byte that is not a character is a point.
            value = r" +\." if answer.startswith("  ") else ""
            await tool.type(command, r"\b" + re.escape(answer.strip()) + value)
        if command.startswith("connect"):
            await tool.until("ServicesResolved: yes")
    await tool.stop()
