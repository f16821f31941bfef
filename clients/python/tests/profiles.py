"""Profiles that several tests play."""


def app(name, service, peripheral):
    """An app that connects to a device with a service, in the background too."""
    return {
        "mynah": 1,
        "name": name,
        "app": {"backgroundModes": ["bluetooth-central"]},
        "central": {"scan": {"services": [service]}, "peripherals": [peripheral]},
    }


#: An app that connects to a sensor, and reads its battery level.
PHONE = app("Phone", "180F", {"name": "Sensor", "read": ["180F/2A19"]})
