"""How long other requests wait while a server does something large.

    busy.py MYNAH

Prints one figure a line: the longest GET /v1/health, in milliseconds, while a device of 8,000 characteristics is added, shown and
removed, and while a match that nothing fulfils looks through a full journal; and how long each took itself.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

CHARACTERISTICS, EVENTS = 8000, 100_000
(mynah,) = sys.argv[1:]


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def ask(connection, method, target, body=None):
    data = None if body is None else json.dumps(body)
    connection.request(method, target, data, {"Content-Type": "application/json", "Accept": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def profile(name, characteristics):
    service = {"uuid": "180F", "characteristics": characteristics}
    return {"profile": {"mynah": 1, "name": name, "advertising": {"localName": name}, "services": [service]}}


def measure(name, path, *steps):
    """Asks for the server's health all the time while it carries out the steps."""
    waits, is_over = [], threading.Event()

    def others():
        connection = Connection(path)
        while not is_over.is_set():
            begun = time.monotonic()
            ask(connection, "GET", "/v1/health")
            waits.append(time.monotonic() - begun)
            time.sleep(0.002)

    thread = threading.Thread(target=others)
    thread.start()
    begun = time.monotonic()
    connection = Connection(path)
    for step in steps:
        status = ask(connection, *step)
        if status >= 500 or status == 400:
            print(f"{step[0]} {step[1]}: {status}", file=sys.stderr)
    print(f"{name}_ms {1000 * (time.monotonic() - begun):.0f}")
    is_over.set()
    thread.join()
    print(f"{name}_others_ms {1000 * max(waits):.0f}")


def uuid(number):
    return f"6E40{number:04X}-B5A3-F393-E0A9-E50E24DCCA9E"


with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/control"
    environment = dict(os.environ, MYNAH_AIR=f"{folder}/air")
    server = subprocess.Popen(
        [mynah, "serve", "--radio", "virtual", "--control", f"unix:{path}", "--events", "json"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )
    try:
        for line in server.stdout:
            if '"ready"' in line:
                break
        # Nobody reads the rest.
        threading.Thread(target=lambda: server.stdout.read(), daemon=True).start()
        large = [{"uuid": uuid(number), "properties": ["read"], "value": {"hex": "01"}} for number in range(CHARACTERISTICS)]
        measure(
            "large", path, ("POST", "/v1/devices", profile("Large", large)), ("GET", "/v1/devices/Large"),
            ("GET", "/v1/devices/Large/layout"), ("PUT", f"/v1/devices/Large/values/180F/{uuid(CHARACTERISTICS - 1)}", {"hex": "02"}),
            ("DELETE", "/v1/devices/Large"),
        )
        written = [{"uuid": "2A19", "properties": ["writeWithoutResponse"], "maxLength": 512}]
        ask(Connection(path), "POST", "/v1/devices", profile("Small", written))
        phone = subprocess.Popen(
            [mynah, "connect", "Small", "--radio", "virtual", "--quiet", "--format", "json"],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )
        phone.communicate("".join(f"command 2A19 {number % 256:02X}\n" for number in range(EVENTS)))
        match = {"event": "write", "value": "FFFF"}
        measure("match", path, ("POST", "/v1/wait", {"match": match, "within": "0 s"}), ("POST", "/v1/verify", {"match": match}))
    finally:
        server.terminate()
        server.wait()
