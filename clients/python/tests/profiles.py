"""Profiles that several tests play."""

#: An app that connects to a sensor, and reads its battery level.
PHONE = {
    "mynah": 1,
    "name": "Phone",
    "app": {"backgroundModes": ["bluetooth-central"]},
    "central": {
        "scan": {"services": ["180F"]},
        "peripherals": [{"name": "Sensor", "read": ["180F/2A19"]}],
    },
}
