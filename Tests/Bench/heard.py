"""The notifications of a device on the virtual radio that `mynah connect`, in another process, hears and prints.

    heard.py MYNAH PROFILE MILLISECONDS

The first four bytes of each count them. Prints one figure a line.
"""

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime

mynah, profile, milliseconds = sys.argv[1:]
with tempfile.TemporaryDirectory(prefix="mynah-bench-") as air:
    environment = os.environ | {"MYNAH_AIR": air}
    command = [mynah, "run", "--radio", "virtual", "--events", "off", profile]
    device = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    try:
        # The phone waits until the device advertises.
        commands = ["--command", "subscribe FFF1", "--command", f"wait {milliseconds} ms"]
        heard = subprocess.run(
            [mynah, "connect", "Bench", "--radio", "virtual", "--quiet", "--format", "json", *commands],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=True,
        )  # fmt: skip
    finally:
        device.kill()
        device.wait()
events = [event for event in map(json.loads, heard.stdout.splitlines()) if event.get("event") == "notified"]
numbers = [int.from_bytes(bytes.fromhex(event["value"])[:4], "little") for event in events]
first, last = (datetime.fromisoformat(events[index]["time"].replace("Z", "+00:00")) for index in (0, -1))
print(f"notifications_per_s {(len(events) - 1) / (last - first).total_seconds():.0f}")
print(f"notifications_lost {numbers[-1] - numbers[0] + 1 - len(numbers)}")
