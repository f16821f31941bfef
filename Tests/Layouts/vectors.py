"""Values of characteristics whose fields are integers, decoded by bluetooth-sig and by us."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from typing import Any

from bluetooth_sig.gatt.characteristics.body_composition_measurement import (
    BodyCompositionMeasurementCharacteristic,
)
from bluetooth_sig.gatt.characteristics.csc_measurement import CSCMeasurementCharacteristic
from bluetooth_sig.gatt.characteristics.heart_rate_measurement import HeartRateMeasurementCharacteristic
from bluetooth_sig.gatt.characteristics.indoor_bike_data import IndoorBikeDataCharacteristic
from bluetooth_sig.gatt.characteristics.rsc_measurement import RSCMeasurementCharacteristic
from bluetooth_sig.gatt.characteristics.temperature import TemperatureCharacteristic
from bluetooth_sig.gatt.characteristics.weight_measurement import WeightMeasurementCharacteristic

#: The octets of the fields that each bit of the flags announces, written down from the specifications; what a bit
#: that is not set announces is negative. A bit with 0 is not set: the package has the resistance level of a later
#: edition.
WHEEL_AND_CRANK = [6, 4]
# A date is no integer, so no time stamp is there. Bit 0 of a scale's flags is the unit, and bit 2 of a runner's that
# it runs: neither announces a field, and UNIT is its mark.
UNIT = 1000
RUNNING = [2, 4, UNIT]
SCALE = [UNIT, 0, 1, 4]
BODY = [UNIT, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]
INDOOR_BIKE = [-2, 2, 2, 2, 3, 0, 2, 2, 5, 1, 1, 2, 2]
#: How often each combination of flags is tried, and the seed of the other bytes.
TRIES = 3
SEED = 11


def octets(generator: random.Random, count: int) -> bytes:
    """Bytes of which none has its highest bit set: the package takes no reserved number, and no negative speed."""
    return bytes(generator.randrange(0x80) for _ in range(count))


def flagged(generator: random.Random, width: int, parts: list[int], first: int = 0) -> list[bytes]:
    """Values with all combinations of flags; `first` octets are always there."""
    values = []
    for bits in itertools.product(*([0, 1] if part else [0] for part in parts)):
        flags = sum(bit << position for position, bit in enumerate(bits))
        body = first + sum(abs(part) for part, bit in zip(parts, bits) if bit == (part > 0) and part != UNIT)
        values += [flags.to_bytes(width, "little") + octets(generator, body) for _ in range(TRIES)]
    return values


def bodies(generator: random.Random) -> list[bytes]:
    """Measurements of a body, whose percentages are at most 76.7: the package takes none above 100."""
    values = []
    for value in flagged(generator, 2, BODY, first=2):
        octets = bytearray(value)
        octets[3] %= 3
        if octets[0] & 0x10:
            octets[5 + (1 if octets[0] & 4 else 0) + (2 if octets[0] & 8 else 0)] %= 3
        values.append(bytes(octets))
    return values


def heart_rates(generator: random.Random) -> list[bytes]:
    values = []
    for flags in range(32):
        for intervals in range(4) if flags & 16 else [0]:
            body = (2 if flags & 1 else 1) + (2 if flags & 8 else 0) + 2 * intervals
            values.append(bytes([flags]) + octets(generator, body))
    return values


def theirs(uuid: str, value: bytes) -> dict[str, Any]:
    """The fields as the package decodes them, without those that are not there, by our names."""
    if uuid == "2A6E":
        return {"temperature": TemperatureCharacteristic().parse_value(bytearray(value))}
    kind = {
        "2A37": HeartRateMeasurementCharacteristic,
        "2A53": RSCMeasurementCharacteristic,
        "2A5B": CSCMeasurementCharacteristic,
        "2A9C": BodyCompositionMeasurementCharacteristic,
        "2A9D": WeightMeasurementCharacteristic,
        "2AD2": IndoorBikeDataCharacteristic,
    }[uuid]
    data = kind().parse_value(bytearray(value))
    others = ("flags", "sensor_location", "sensor_contact", "measurement_units")
    names = [name for name in data.__struct_fields__ if name not in others and not name.endswith("_unit")]
    fields = {camel_case(name): getattr(data, name) for name in names}
    if uuid == "2A37":
        contact = int(data.sensor_contact)
        fields["contact"] = None if contact == 0 else contact == 2
        fields["rrIntervals"] = list(data.rr_intervals) or None
    if uuid == "2A9C":
        fields["multiplePacketMeasurement"] = False
    renamed = {"userId": "userID", "isRunning": "running"}
    return {renamed.get(name, name): field for name, field in fields.items() if field is not None}


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    # Ours are rounded to the decimals that tell neighbours apart.
    return isinstance(one, (int, float)) and isinstance(other, (int, float)) and abs(one - other) < 6e-4


def check(program: str) -> tuple[int, list[str]]:
    """How many values were decoded, and where the two differ."""
    generator = random.Random(SEED)
    temperatures = [number.to_bytes(2, "little", signed=True) for number in range(-27315, 32767, 97)]
    values = [("2A37", value) for value in heart_rates(generator)]
    values += [("2A5B", value) for value in flagged(generator, 1, WHEEL_AND_CRANK)]
    values += [("2A53", value) for value in flagged(generator, 1, RUNNING, first=3)]
    values += [("2A9C", value) for value in bodies(generator)]
    values += [("2A9D", value) for value in flagged(generator, 1, SCALE, first=2)]
    values += [("2A6E", value) for value in temperatures]
    values += [("2AD2", value) for value in flagged(generator, 2, INDOOR_BIKE)]
    lines = "".join(f"{uuid} {value.hex()}\n" for uuid, value in values)
    output = subprocess.run([program, "decode"], input=lines, check=True, capture_output=True, text=True).stdout
    errors = []
    answers = output.splitlines()
    if len(answers) != len(values):
        return 0, [f"{len(values)} values, but {len(answers)} answers"]
    for (uuid, value), line in zip(values, answers):
        ours = json.loads(line)
        other = theirs(uuid, value)
        if ours is None or ours.keys() != other.keys() or not all(is_equal(ours[name], other[name]) for name in other):
            errors.append(f"{uuid} {value.hex()}: {line}, there {other}")
    return len(values), errors
