"""The cost of idle readers of the control API, and the memory of an idle device with and without it.

    idle.py MYNAH PROFILE

Prints one figure a line. A server admits 64 connections, so that 100 readers need two servers; figures are those of both together.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time

SERVERS, READERS, SECONDS = 2, 50, 10
mynah, profile = sys.argv[1:]


def read(path):
    with open(path) as file:
        return file.read()


def start(*arguments):
    """Starts mynah; returns when it is ready."""
    process = subprocess.Popen([mynah, *arguments, "--events", "json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if '"ready"' in line:
            return process
    sys.exit(f"mynah {' '.join(arguments)} ended")


def usage(processes):
    """Processor time in seconds, and voluntary context switches of each thread."""
    seconds, switches = 0, {}
    for process in processes:
        fields = read(f"/proc/{process.pid}/stat").rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for task in os.listdir(f"/proc/{process.pid}/task"):
            status = read(f"/proc/{process.pid}/task/{task}/status")
            switches[task] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])
    return seconds, switches


def measure(name, processes):
    time.sleep(1)
    begun, before = time.monotonic(), usage(processes)
    time.sleep(SECONDS)
    wall, after = time.monotonic() - begun, usage(processes)
    print(f"{name}_percent {100 * (after[0] - before[0]) / wall:.2f}")
    # A thread of a pool may have ended.
    switches = sum(count - before[1].get(task, 0) for task, count in after[1].items())
    print(f"{name}_switches_per_s {switches / wall:.1f}")


def connect(path):
    """A reader of events, which has got the response's head."""
    reader = socket.socket(socket.AF_UNIX)
    reader.connect(path)
    reader.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    answer = reader.recv(4096)
    if not answer.startswith(b"HTTP/1.1 200"):
        sys.exit(f"no events: {answer!r}")
    return reader


def idle_readers(folder):
    paths = [f"{folder}/{index}" for index in range(SERVERS)]
    servers = [start("serve", "--radio", "virtual", "--control", f"unix:{path}") for path in paths]
    try:
        measure("nobody", servers)
        readers = [connect(path) for path in paths for _ in range(READERS)]
        measure("readers", servers)
        for reader in readers:
            reader.close()
    finally:
        for server in servers:
            server.terminate()
            server.wait()


def memory(name, control):
    device = start("run", "--radio", "virtual", "--control", control, profile)
    try:
        time.sleep(2)
        print(f"{name}_kB", re.search(r"^RssAnon:\s+(\d+)", read(f"/proc/{device.pid}/status"), re.M)[1])
    finally:
        device.terminate()
        device.wait()


with tempfile.TemporaryDirectory() as folder:
    os.environ["MYNAH_AIR"] = f"{folder}/air"
    idle_readers(folder)
    memory("off", "off")
    memory("control", f"unix:{folder}/control")
