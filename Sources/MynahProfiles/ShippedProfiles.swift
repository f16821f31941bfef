// swift-format-ignore-file
// Made by profiles/embed from profiles/*.yaml; edit those.
enum ShippedProfiles {
    static let all: [(name: String, text: String)] = [
        (
            "heart-rate",
            #"""
# A chest strap. Phones find it, read its position on the body and subscribe to the heart rate.
#
#     mynah run profiles/heart-rate.yaml
mynah: 1
name: Heart rate monitor            # for you; phones never see it

device:
  name: Mynah HRM                   # what a phone shows
  appearance: heart-rate-belt       # or its number, 0x0341

advertising:                        # localName defaults to device.name
  serviceUUIDs: [heart-rate, battery]
  interval: 100 ms

services:
  - uuid: heart-rate                # the SIG's name, or 180D
    behavior: heart-rate            # answers the control point
    characteristics:
      # Notified once a second. A real strap does not allow reads; this one does, which helps in tests.
      - uuid: heart-rate-measurement
        properties: [read, notify]
        value:
          fields:
            heartRate: {generate: sine, min: 62, max: 98, period: 30 s, noise: 0.02}
            energyExpended: {generate: counter, by: 1 kJ}
        every: 1 s
      - uuid: body-sensor-location
        properties: [read]
        value: {fields: {location: chest}}
      # 01 resets the energy expended; anything else gets 0x80 (the service's "Control Point Not Supported").
      # To see how an app handles that error, add errors: {write: 0x80}, which answers every write.
      - uuid: heart-rate-control-point
        properties: [write]
        maxLength: 1

  - uuid: battery
    characteristics:
      - uuid: battery-level
        properties: [read, notify]
        value: {hex: 64}            # 100 %, as one byte
        every: 1 min
"""# + "\n"
        ),
        (
            "battery",
            #"""
# The smallest useful device: a battery and its level (Battery Service 1.0).
mynah: 1
name: Battery

device:
  name: Mynah Battery
  appearance: tag                   # 0x0200

advertising:
  serviceUUIDs: [battery]
  interval: 200 ms
  serviceData: {battery: 5F}        # the level, for scanners that do not connect: 95 %

services:
  - uuid: battery
    characteristics:
      - uuid: battery-level
        properties: [read, notify]
        value: {hex: 5F}            # one byte, 0 to 100
        every: 10 s                 # notified even though it does not change
        descriptors:
          # Needed if a device has more than one battery: an unsigned byte, exponent 0, in percent (27AD),
          # the SIG's namespace, "main".
          - uuid: characteristic-presentation-format
            value: {hex: 04 00 AD 27 01 06 01}
"""# + "\n"
        ),
        (
            "bike-trainer",
            #"""
# A bike trainer as training apps know it: they set its power, and it follows.
#
#     mynah run profiles/bike-trainer.yaml
mynah: 1
name: Bike trainer

device:
  name: Mynah Trainer

advertising:
  serviceUUIDs: [fitness-machine, cycling-power, cycling-speed-and-cadence]
  interval: 100 ms
  serviceData: {fitness-machine: 01 20 00}  # available; an indoor bike

# Each `use` inserts a service, which `mynah new` prints in full: `mynah new fitness-machine`.
services:
  - use: fitness-machine
    characteristics:
      - uuid: supported-power-range         # keys that are given replace those of the service
        value: {fields: {minimumPower: 25 W, maximumPower: 800 W, minimumIncrement: 1 W}}
  - use: cycling-power
    omit: [sensor-location]
  - use: cycling-speed-and-cadence
  - use: device-information
    characteristics:
      - {uuid: model-number-string, value: {text: Trainer 1}}
"""# + "\n"
        ),
        (
            "current-time",
            #"""
# A clock (Current Time Service 1.1). A write sets it, and every subscriber is told.
mynah: 1
name: Clock

device:
  name: Mynah Clock
  appearance: clock                 # 0x0100

advertising:
  serviceUUIDs: [current-time]
  interval: 250 ms

services:
  - uuid: current-time
    behavior: current-time          # a write sets the clock; one with a date that does not exist gets 0x80
    characteristics:
      # It starts with the run. The day of the week is worked out.
      - uuid: current-time
        properties: [read, write, notify]
        value: {fields: {time: {generate: clock}, dayOfWeek: unknown, fractions256: 0, adjustReason: 0}}
        maxLength: 10
      - uuid: local-time-information
        properties: [read]
        value: {fields: {timeZone: 60 min, dstOffset: 0 min}}
      - uuid: reference-time-information
        properties: [read]
        value: {fields: {source: manual, accuracy: 1 s, daysSinceUpdate: 0, hoursSinceUpdate: 0}}
"""# + "\n"
        ),
        (
            "cycling-power",
            #"""
# A power meter in the crank of a bicycle (Cycling Power Service 1.1).
mynah: 1
name: Power meter

device:
  name: Mynah Power
  appearance: power-sensor          # 0x0484

advertising:
  serviceUUIDs: [cycling-power]
  interval: 100 ms

services:
  - uuid: cycling-power
    characteristics:
      - uuid: cycling-power-measurement
        properties: [notify]
        value:
          fields:
            instantaneousPower: {generate: normal, mean: 200 W, deviation: 10 W}
            pedalPowerBalance: {generate: uniform, min: 48 %, max: 52 %}
            pedalPowerBalanceIsOfLeft: true
            cumulativeCrankRevolutions: {generate: counter, by: 3}
            lastCrankEventTime: {generate: counter, by: 2 s}
        every: 2 s
      - uuid: cycling-power-feature
        properties: [read]
        value: {fields: {pedalPowerBalance: true, crankRevolutionData: true}}
      - uuid: sensor-location
        properties: [read]
        value: {fields: {sensorLocation: left crank}}
"""# + "\n"
        ),
        (
            "cycling-speed-and-cadence",
            #"""
# A sensor on a bicycle that counts turns of the wheel and the crank (Cycling Speed and Cadence Service 1.0).
mynah: 1
name: Speed and cadence sensor

device:
  name: Mynah Speed
  appearance: speed-and-cadence-sensor        # 0x0485

advertising:
  serviceUUIDs: [cycling-speed-and-cadence]
  interval: 100 ms

services:
  - uuid: cycling-speed-and-cadence
    behavior: cycling-speed-and-cadence         # answers the SC control point
    characteristics:
      # 4 turns of the wheel and 1.5 of the crank a second: with 2.1 m a turn 30 km/h, and 90 a minute.
      # Counters and times wrap.
      - uuid: csc-measurement
        properties: [notify]
        value:
          fields:
            cumulativeWheelRevolutions: {generate: counter, by: 8}
            lastWheelEventTime: {generate: counter, by: 2 s}
            cumulativeCrankRevolutions: {generate: counter, by: 3}
            lastCrankEventTime: {generate: counter, by: 2 s}
        every: 2 s
      - uuid: csc-feature
        properties: [read]
        value: {fields: {wheelRevolutionData: true, crankRevolutionData: true, multipleSensorLocations: true}}
      - uuid: sensor-location
        properties: [read]
        value: {fields: {sensorLocation: rear wheel}}
      # 01 sets the count of the wheel, 03 the location, 04 lists the locations. Without a subscription: 0xFD.
      - uuid: sc-control-point
        properties: [write, indicate]
        maxLength: 20
"""# + "\n"
        ),
        (
            "device-information",
            #"""
# The maker, model and versions of a device (Device Information Service 1.1). Every value is constant.
#
# bluetoothd has its own Device Information service with only a PnP ID, so with BlueZ a phone finds two. To
# have one, write DeviceID = false under [General] in /etc/bluetooth/main.conf and restart bluetoothd.
mynah: 1
name: Device information

device:
  name: Mynah Information

advertising:
  serviceUUIDs: [device-information]

services:
  - uuid: device-information
    characteristics:
      - uuid: manufacturer-name-string
        properties: [read]
        value: {text: Mynah}
      - uuid: model-number-string
        properties: [read]
        value: {text: MB-1}
      - uuid: serial-number-string
        properties: [read]
        value: {text: 0042-7A31}    # text is taken literally; it needs no quotes
      - uuid: hardware-revision-string
        properties: [read]
        value: {text: 1.0}
      - uuid: firmware-revision-string
        properties: [read]
        value: {text: 2.4.1}
      - uuid: software-revision-string
        properties: [read]
        value: {text: 2026.11}
      # Least significant byte first: 40 bits that the maker assigns, then its 24-bit OUI from the IEEE. This
      # one is the address 00:1B:DC:12:34:56, with FFFE between its halves.
      - uuid: system-id
        properties: [read]
        value: {hex: 56 34 12 FE FF DC 1B 00}
      # Vendor ID source 01 (the Bluetooth SIG), vendor 0xFFFF (for tests), product 0x0001, version 1.0.0.
      - uuid: pnp-id
        properties: [read]
        value: {hex: 01 FF FF 01 00 00 01}
"""# + "\n"
        ),
        (
            "environmental-sensing",
            #"""
# A weather station: temperature, humidity and pressure (Environmental Sensing Service 1.0).
# The values are written as fields; they are converted to the units of the characteristics.
mynah: 1
name: Weather station

device:
  name: Mynah Weather
  appearance: sensor                # 0x0540

advertising:
  serviceUUIDs: [environmental-sensing]
  interval: 250 ms

services:
  - uuid: environmental-sensing
    characteristics:
      - uuid: temperature           # on the air in hundredths of a degree Celsius
        properties: [read, notify]
        value:
          fields:
            temperature: {generate: randomWalk, from: 21.5 °C, min: 18 °C, max: 25 °C, step: 0.1 °C}
        every: 5 s
        descriptors:
          - uuid: characteristic-user-description
            value: {text: Balcony}
          # No flags, instantaneous sampling, no period, updated every 5 s, in air, uncertainty unknown.
          - uuid: environmental-sensing-measurement
            value: {hex: 00 00 01 00 00 00 05 00 00 01 FF}
          # Notified at a fixed interval of 5 s.
          - uuid: environmental-sensing-trigger-setting
            value: {hex: 01 05 00 00}
          - uuid: valid-range
            value: {hex: 60 F0 34 21}   # -40 to 85 degrees
      - uuid: humidity
        properties: [read]
        value: {fields: {humidity: 45 %}}
      - uuid: pressure              # on the air in tenths of a pascal
        properties: [read]
        value: {fields: {pressure: 1013.25 hPa}}
"""# + "\n"
        ),
        (
            "everything-accessory",
            #"""
# Every feature of the format that an accessory can use. Look here to see how something is written; to start a
# profile of your own, copy another one.
mynah: 1                            # the format's version
name: Everything an accessory can do

device:
  name: Mynah Everything            # up to 248 bytes
  appearance: 0x0540                # or the SIG's name: sensor
  serviceChanged: true              # false: bonded phones do not learn that services changed

security:
  io: keyboardDisplay               # noInputNoOutput, displayOnly, displayYesNo or keyboardOnly
  passkey: 123456                   # the passkey that it enters; by default `run` asks for it

# All 31 bytes are used: the Flags take 3, each field 2 and its data. The name is in the scan response.
advertising:
  localName: Everything             # device.name by default; "" for no name
  serviceUUIDs: [heart-rate]        # 4
  interval: 152.5 ms                # 20 ms to 10.24 s, in steps of 0.625 ms
  manufacturerData: {0x0059: 01}    # 5; company identifier and data
  serviceData: {180F: 64}           # 5
  solicitedServiceUUIDs: [1805]     # 4; services that it wants to find on the phone
  appearance: true                  # 4; advertises device.appearance
  txPower: true                     # 3
  raw: {0x24: 17}                   # 3; any other AD type and its data

# Requested from each central, which may refuse. A single interval needs no min and max.
connection:
  interval: {min: 30 ms, max: 60 ms}   # multiples of 1.25 ms
  latency: 4                        # connection events that it may skip
  timeout: 4 s                      # the supervision timeout
  after: 5 s                        # after the connection began

services:
  - uuid: heart-rate                # the SIG's name
    includes: [battery, 6D796E61-0500-4C61-8000-6C6162000000]
    characteristics:
      - uuid: 2A37                  # or a UUID of 4 digits
        properties: [notify]
        value: {generate: heart-rate, min: 60, max: 180, period: 1.5 min}
        every: 1 s
      - uuid: body-sensor-location
        properties: [read]
        value: {hex: 01}            # static: nothing changes it
      - uuid: heart-rate-control-point
        properties: [write]
        permissions: {write: encrypted}
        maxLength: 1                # a longer write gets error 0x0D
        errors: {write: 0x80}       # every write gets this ATT error

  - uuid: battery
    characteristics:
      - uuid: battery-level
        properties: [read, notify]
        value: {hex: 64}
        every: 0.5 min              # us, ms, s, min or h

  # A 32-bit UUID. Each characteristic needs a different security level.
  - uuid: 6D79A001
    characteristics:
      - uuid: 6D79A011
        properties: [read, write, notify]
        permissions: {read: open, write: encrypted, notify: encrypted}
        value: {text: encrypted}
        every: 250 ms
      - uuid: 6D79A012
        properties: [read, write, indicate]
        permissions: {read: authenticated, write: authenticated, notify: authenticated}
        value: {text: authenticated}
      - uuid: 6D79A013
        properties: [read, write]
        permissions: {read: secure, write: authorized}
        value: {text: secure}
      - uuid: 6D79A014
        properties: [read]
        errors: {read: 0x9F}        # 0x80 to 0x9F are application errors

  # A 128-bit UUID: every property, and descriptors. The radio adds 2902 and 2900.
  - uuid: 6D796E61-0100-4C61-8000-6C6162000000
    characteristics:
      - uuid: 6D796E61-0101-4C61-8000-6C6162000000
        properties: [broadcast, read, extendedProperties]
        value: {base64: TXluYWg=}
      - uuid: 6D796E61-0102-4C61-8000-6C6162000000
        properties: [writeWithoutResponse]
      - uuid: 6D796E61-0103-4C61-8000-6C6162000000
        properties: [indicate]
        value: {text: "tick\t\u00B5"}  # escapes need double quotes
        every: 2000000 us
      - uuid: 6D796E61-0104-4C61-8000-6C6162000000
        properties: [read, authenticatedSignedWrites]
        value: {text: 0x0A}         # the four characters 0x0A
      - uuid: 6D796E61-0105-4C61-8000-6C6162000000
        properties: [read, write, reliableWrite, writableAuxiliaries]
        value: {hex: 0102-0304}     # spaces, dashes and colons between bytes are allowed
        maxLength: 64
        descriptors:
          - uuid: characteristic-user-description
            properties: [read, write]
            value: {text: Name me}
            maxLength: 20
          - uuid: 2904              # UTF-8 text, no unit
            value: {hex: 19 00 00 27 01 00 00}
          - uuid: 6D796E61-0151-4C61-8000-6C6162000000
            properties: [read, write]
            permissions: {read: open, write: encrypted}

  # Phones find a secondary service only through a service that includes it.
  - uuid: 6D796E61-0500-4C61-8000-6C6162000000
    primary: false
    characteristics:
      - uuid: 6D796E61-0501-4C61-8000-6C6162000000
        properties: [read]
        value: {text: secondary}
"""# + "\n"
        ),
        (
            "everything-app",
            #"""
# Every feature of the format for an iOS app that plays the device. Apple's rules apply: the app advertises
# only a name and service UUIDs; app: says how the phone advertises them.
mynah: 1
name: Everything an app can do

device:
  name: iPhone                      # the phone's name, not the app's

app:
  backgroundModes: [bluetooth-peripheral]
  restoreIdentifier: com.example.hrm    # without one, iOS does not relaunch the app
  state: background                 # at start: foreground, background or suspended; or --state
  authorization: allowedAlways      # or notDetermined, denied, restricted: may it use Bluetooth?
  pairing: accept                   # or decline; ask waits for the user's answer
  suspendAfter: 5 s                 # in the background, without a mode or with nothing to do
  taskTime: 10 s                    # runs this long for each event; 10 s by default
  sceneBased: false                 # true: its launch names no managers, as iOS does with scenes
  liveActivity: false               # true: from iOS 26 on it scans and advertises as in the foreground
  # accessorySetup: [{serviceUUID: 180D}]  # from iOS 18 on, for an app with central:
  iOS: 17                           # up to 11, the overflow area is not in the scan response
  foregroundInterval: 30 ms         # an assumption; Apple does not document it
  backgroundInterval: 181.25 ms     # as measured on one iPhone with iOS 11
  connectionLatency: medium         # or low, high: asked of a central that subscribes

advertising:
  localName: HRM                    # advertised in the foreground only
  serviceUUIDs: [heart-rate, 6D796E61-0200-4C61-8000-6C6162000000]

services:
  - uuid: heart-rate
    characteristics:
      - uuid: heart-rate-measurement
        properties: [notify]
        value: {generate: heart-rate, min: 60, max: 100, period: 30 s}
        every: 1 s                  # stops while the app is suspended
      - uuid: body-sensor-location
        properties: [read]
        value: {hex: 02}            # 02: wrist; static, so a read wakes no app

  - uuid: 6D796E61-0200-4C61-8000-6C6162000000
    characteristics:
      - uuid: 6D796E61-0201-4C61-8000-6C6162000000
        properties: [read, write, notify]
        permissions: {write: encrypted}
        value: {text: idle}         # a write wakes the app
        maxLength: 64
"""# + "\n"
        ),
        (
            "fitness-machine",
            #"""
# An indoor bike that an app controls (Fitness Machine Service 1.0).
mynah: 1
name: Fitness machine

device:
  name: Mynah Bike

advertising:
  serviceUUIDs: [fitness-machine]
  interval: 100 ms
  serviceData: {fitness-machine: 01 20 00}  # available; an indoor bike

services:
  - uuid: fitness-machine
    behavior: fitness-machine       # answers the control point
    characteristics:
      # Cadence, distance, resistance, elapsed time and power; targets: resistance, power, road simulation,
      # wheel circumference and spin-down. Without its bit here, a target is answered with "not supported".
      - uuid: fitness-machine-feature
        properties: [read]
        value: {fields: {machineFeatures: 0x5086, targetSettingFeatures: 0xE00C}}
      # A target power is reached as a function of time: 63 % of the way in 1.5 s.
      - uuid: indoor-bike-data
        properties: [notify]
        value:
          fields:
            instantaneousSpeed: {generate: sine, min: 28 km/h, max: 32 km/h, period: 1 min}
            instantaneousCadence: {generate: randomWalk, from: 85, min: 75, max: 95, step: 2}
            totalDistance: {generate: counter, by: 8 m}
            instantaneousPower: {generate: normal, mean: 150 W, deviation: 5 W}
            elapsedTime: {generate: counter, by: 1 s}
        every: 1 s
      # The limits of targets; one beyond them is an invalid parameter. Levels of 1 to 20.
      - uuid: supported-resistance-level-range
        properties: [read]
        value: {fields: {minimumResistanceLevel: 1, maximumResistanceLevel: 20, minimumIncrement: 1}}
      - uuid: supported-power-range
        properties: [read]
        value: {fields: {minimumPower: 0 W, maximumPower: 1500 W, minimumIncrement: 1 W}}
      # 00 requests control, 05 FA 00 sets 250 W. Without a subscription a command gets 0xFD.
      - uuid: fitness-machine-control-point
        properties: [write, indicate]
        maxLength: 20
      # Each change, notified to every subscriber.
      - uuid: fitness-machine-status
        properties: [notify]
"""# + "\n"
        ),
        (
            "flaky-heart-rate",
            #"""
# A chest strap that can fail in every way that all radios can carry out. All faults are off until a test
# turns them on:
#
#     mynah run profiles/flaky-heart-rate.yaml --control unix:mynah.sock
#     mynah ctl --control unix:mynah.sock fault "Flaky heart rate" lost-values on
mynah: 1
name: Flaky heart rate

device:
  name: Mynah Flaky
  appearance: heart-rate-belt

advertising:
  serviceUUIDs: [heart-rate, battery]
  interval: 100 ms

services:
  - uuid: heart-rate
    characteristics:
      - uuid: heart-rate-measurement
        properties: [notify]
        value:
          fields: {heartRate: {generate: randomWalk, from: 72, min: 50, max: 180, step: 3}, contact: true}
        every: 1 s
      - uuid: body-sensor-location
        properties: [read]
        value: {fields: {location: chest}}
      - uuid: heart-rate-control-point
        properties: [write]
        maxLength: 1
  - uuid: battery
    characteristics:
      - uuid: battery-level
        properties: [read, notify]
        value: {fields: {level: 80}}
        every: 1 min

faults:
  # Answers: an app must not wait for the first one before it shows anything, and must not trust each value.
  - {name: slow-reads, on: read, nth: 1..2, delay: 3 s, off: true}
  - {name: refused-read, on: read, of: battery-level, times: 1, error: 0x0E, off: true}
  - {name: refused-reset, on: write, of: heart-rate-control-point, error: 0x80, off: true}
  - {name: lost-reset, on: write, of: heart-rate-control-point, do: drop, off: true}
  - {name: unknown-location, on: read, of: body-sensor-location, value: {hex: FF}, off: true}
  # Notifications: some are lost, come twice, come late, or are not what they should be.
  - {name: lost-values, on: notify, of: heart-rate-measurement, chance: 20 %, do: drop, off: true}
  - {name: repeated-values, on: notify, of: heart-rate-measurement, nth: every 3, do: duplicate, off: true}
  - {name: swapped-values, on: notify, of: heart-rate-measurement, nth: every 4, do: reorder, off: true}
  - {name: short-values, on: notify, of: heart-rate-measurement, nth: every 5, truncate: 1, off: true}
  - {name: wrong-rate, on: notify, of: heart-rate-measurement, chance: 5 %, corrupt: xor 80@1, off: true}
  # Connections: each ends as soon as the wearer has moved away, or none begins.
  - {name: drops-on-write, on: write, of: heart-rate-control-point, do: disconnect, off: true}
  - {name: drops-after-20-s, after: 20 s, do: disconnect, reason: 0x13, off: true}
  - {name: busy, on: connect, do: refuseConnection, off: true}
  # Pairing: the strap was reset, and the phone was not.
  - {name: lost-bond, on: connect, do: loseBond, how: reject, off: true}
  # Services and advertising: a firmware update begins, and other services come back.
  - {name: no-battery, after: 5 s, do: changeServices, remove: battery, off: true}
  - {name: updating, after: 5 s, do: advertise, with: {localName: DFU}, for: 30 s, off: true}

# A phone subscribes, loses the strap when it resets the energy expended, and must come back in a minute:
#
#     mynah run profiles/flaky-heart-rate.yaml --scenario "comes back" --report report.xml
scenarios:
  - name: comes back
    steps:
      - {await: subscribed, of: heart-rate-measurement}
      - {fault: drops-on-write}
      - {await: fault.applied, fault: drops-on-write}
      - {expect: central.disconnected}
      - {fault: drops-on-write, off: true}
      - {expect: subscribed, of: heart-rate-measurement, within: 1 min}
"""# + "\n"
        ),
        (
            "glucose-meter",
            #"""
# A glucose meter with three weeks of records, for apps that page them.
#
#     mynah run profiles/glucose-meter.yaml
mynah: 1
name: Glucose meter with three weeks of records

device:
  name: Mynah Meter
  appearance: glucose-meter                 # 0x0400

advertising:
  serviceUUIDs: [glucose]
  interval: 100 ms

# `mynah new glucose` prints the used glucose service in full.
services:
  - use: glucose
    records: 180                            # eight a day
    characteristics:
      - uuid: record-access-control-point
        permissions: {write: encrypted}     # as a real meter: the phone has to pair first
  - use: battery
  - use: device-information
"""# + "\n"
        ),
        (
            "glucose",
            #"""
# A glucose meter with stored records, which a phone asks for (Glucose Service 1.0.1).
mynah: 1
name: Glucose meter

device:
  name: Mynah Glucose
  appearance: glucose-meter         # 0x0400

advertising:
  serviceUUIDs: [glucose]
  interval: 100 ms

services:
  - uuid: glucose
    behavior: glucose               # answers the record access control point
    records: 12                     # stored at the start; each is a tick of the fields below
    characteristics:
      # Only a report sends records, one each 100 ms, and the response in the end.
      - uuid: glucose-measurement
        properties: [notify]
        value:
          fields:
            sequenceNumber: {generate: counter, from: 1}
            baseTime: 2026-01-01T08:00:00
            timeOffset: {generate: counter, by: 3 h}    # wraps at 16 bits: after 182 records
            concentration: {generate: randomWalk, from: 5.6, min: 3.5, max: 11 mmol/L, step: 1}
            type: capillary whole blood
            sampleLocation: finger
            contextFollows: true    # the context is sent after each record
        every: 100 ms
      - uuid: glucose-measurement-context
        properties: [notify]
        value:
          fields:
            sequenceNumber: 0       # the record's is sent instead
            meal: {generate: list, values: [fasting, preprandial, postprandial, bedtime]}
      - uuid: glucose-feature
        properties: [read]
        value: {fields: {lowBatteryDetection: true, sensorStripInsertionErrorDetection: true}}
      # A real meter wants a bond: add permissions: {write: encrypted}. Without a subscription a request gets
      # 0xFD, and during a report everything but an abort gets 0xFE.
      - uuid: record-access-control-point
        properties: [write, indicate]
        maxLength: 20
"""# + "\n"
        ),
        (
            "health-thermometer",
            #"""
# A body thermometer: measurements are indicated, so each is confirmed (Health Thermometer Service 1.0).
mynah: 1
name: Health thermometer

device:
  name: Mynah Thermometer
  appearance: thermometer           # 0x0300

advertising:
  serviceUUIDs: [health-thermometer]
  interval: 100 ms

services:
  - uuid: health-thermometer
    characteristics:
      # Flags and the temperature as a 32-bit IEEE 11073-20601 float; write °F for a thermometer of that unit.
      - uuid: temperature-measurement
        properties: [indicate]
        value:
          fields:
            temperature: {generate: randomWalk, from: 36.6 °C, min: 36 °C, max: 38 °C, step: 0.1 °C}
        every: 5 s
      - uuid: temperature-type
        properties: [read]
        value: {fields: {temperatureType: armpit}}
      # The same format, twice a second, before the measurement is final: 36.4 degrees.
      - uuid: intermediate-temperature
        properties: [notify]
        value: {fields: {temperature: {generate: noise, around: 36.4 °C, by: 0.1 °C}}}
        every: 500 ms
      # Seconds between measurements. A write needs pairing; reads return the written value.
      - uuid: measurement-interval
        properties: [read, write, indicate]
        permissions: {write: encrypted}
        value: {hex: 05 00}
        maxLength: 2
        descriptors:
          - uuid: valid-range
            value: {hex: 01 00 3C 00}   # 1 to 60
"""# + "\n"
        ),
        (
            "hid-gamepad",
            #"""
# A gamepad (HID over GATT), which has no boot protocol. A host pairs with it, and gets each report that is
# sent:
#
#     mynah ctl set hid-gamepad report --fields --notify \
#         '{leftX: 127, leftY: 0, rightX: 0, rightY: 0, hat: 0, a: true}'
mynah: 1
name: Gamepad

device:
  name: Mynah Gamepad
  appearance: gamepad               # 0x03C4

advertising:
  serviceUUIDs: [human-interface-device]
  appearance: true
  interval: 30 ms

services:
  - uuid: human-interface-device
    behavior: hid                   # answers the control point
    characteristics:
      - uuid: hid-information
        properties: [read]
        permissions: {read: encrypted}
        # HID 1.11, of no country.
        value: {fields: {bcdHID: 0x0111, countryCode: 0, remoteWake: true, normallyConnectable: true}}
      # Report 1: two sticks, a hat switch and 15 buttons.
      - uuid: report-map
        properties: [read]
        permissions: {read: encrypted}
        value:
          hex: >-
            05 01 09 05 A1 01 85 01
            09 30 09 31 09 32 09 35 15 81 25 7F 75 08 95 04 81 02
            09 39 15 01 25 08 35 00 46 3B 01 65 14 75 08 95 01 81 42
            05 09 19 01 29 0F 15 00 25 01 35 00 45 00 65 00 75 01 95 0F 81 02
            95 01 75 01 81 01 C0
      # 00 suspends, 01 exits suspend: the events have "suspend" and "exit suspend".
      - uuid: hid-control-point
        properties: [writeWithoutResponse]
        permissions: {write: encrypted}
        maxLength: 1
      # The input report, without its ID: in the report reference, 01 is the ID and 01 says input.
      # The hat is 1 for up, 3 for right, 5 for down, 7 for left, and 0 for released.
      - uuid: report
        properties: [read, notify]
        permissions: {read: encrypted, notify: encrypted}
        value:
          layout:
            - {leftX: sint8}
            - {leftY: sint8}
            - {rightX: sint8}
            - {rightY: sint8}
            - {hat: uint8}
            - {buttons: [a, b, c, x, y, z, l1, r1, l2, r2, select, start, mode, l3, r3]}
          fields: {leftX: 0, leftY: 0, rightX: 0, rightY: 0, hat: 0}
        descriptors:
          - {uuid: report-reference, permissions: {read: encrypted}, value: {hex: 01 01}}

  - use: battery
    characteristics:
      - {uuid: battery-level, permissions: {read: encrypted, notify: encrypted}}
  # Hosts take the vendor and the product from its PnP ID.
  - use: device-information
    characteristics:
      - {uuid: model-number-string, value: {text: Gamepad 1}}
"""# + "\n"
        ),
        (
            "hid-keyboard",
            #"""
# A keyboard (HID over GATT). A host pairs with it, and then types what you give:
#
#     mynah run profiles/hid-keyboard.yaml --control
#     mynah ctl type hid-keyboard 'Hello'
mynah: 1
name: Keyboard

device:
  name: Mynah Keyboard
  appearance: keyboard              # 0x03C1

advertising:
  serviceUUIDs: [human-interface-device]
  appearance: true
  interval: 30 ms

# `use: battery` and `use: device-information` insert services, which `mynah new` prints in full.
services:
  - uuid: human-interface-device
    behavior: hid                   # answers for protocol modes and LEDs, and types
    characteristics:
      - uuid: hid-information
        properties: [read]
        permissions: {read: encrypted}
        # HID 1.11, of no country.
        value: {fields: {bcdHID: 0x0111, countryCode: 0, remoteWake: true, normallyConnectable: true}}
      # Report 1: eight modifiers, a reserved octet, five LEDs as output, and six keys.
      - uuid: report-map
        properties: [read]
        permissions: {read: encrypted}
        value:
          hex: >-
            05 01 09 06 A1 01 85 01
            05 07 19 E0 29 E7 15 00 25 01 75 01 95 08 81 02
            95 01 75 08 81 01
            05 08 19 01 29 05 75 01 95 05 91 02 95 01 75 03 91 01
            05 07 19 00 29 65 15 00 25 65 75 08 95 06 81 00 C0
      # 00 suspends, 01 exits suspend: the events have "suspend" and "exit suspend".
      - uuid: hid-control-point
        properties: [writeWithoutResponse]
        permissions: {write: encrypted}
        maxLength: 1
      # 00 is the boot protocol and 01 the report protocol, which each connection begins with.
      - uuid: protocol-mode
        properties: [read, writeWithoutResponse]
        permissions: {read: encrypted, write: encrypted}
        value: {fields: {protocolMode: report protocol}}
        maxLength: 1
      # The input report, without its ID: in the report reference, 01 is the ID and 01 says input.
      - uuid: report
        properties: [read, notify]
        permissions: {read: encrypted, notify: encrypted}
        value:
          layout: [{modifiers: uint8}, {reserved: uint8}, {keys: uint8, count: rest}]
          fields: {modifiers: 0, reserved: 0, keys: [0, 0, 0, 0, 0, 0]}
        descriptors:
          - {uuid: report-reference, permissions: {read: encrypted}, value: {hex: 01 01}}
      # The output report: the host sets the LEDs. 02 says output.
      - uuid: report
        properties: [read, write, writeWithoutResponse]
        permissions: {read: encrypted, write: encrypted}
        value:
          layout: [{leds: [numLock, capsLock, scrollLock, compose, kana]}]
          fields: {capsLock: false}
        maxLength: 1
        descriptors:
          - {uuid: report-reference, permissions: {read: encrypted}, value: {hex: 01 02}}
      # The same two for a host in the boot protocol, such as a BIOS.
      - uuid: boot-keyboard-input-report
        properties: [read, notify]
        permissions: {read: encrypted, notify: encrypted}
        value: {fields: {modifiers: 0, reserved: 0, keys: [0, 0, 0, 0, 0, 0]}}
      - uuid: boot-keyboard-output-report
        properties: [read, write, writeWithoutResponse]
        permissions: {read: encrypted, write: encrypted}
        value: {fields: {capsLock: false}}
        maxLength: 1

  - use: battery
    characteristics:
      - {uuid: battery-level, permissions: {read: encrypted, notify: encrypted}}
  # Hosts take the vendor and the product from its PnP ID.
  - use: device-information
    characteristics:
      - {uuid: model-number-string, value: {text: Keyboard 1}}
"""# + "\n"
        ),
        (
            "hid-mouse",
            #"""
# A mouse (HID over GATT). A host pairs with it; each report that is sent moves the pointer by x and y:
#
#     mynah ctl set hid-mouse report '{x: 20, y: -5, wheel: 0}' --fields --notify
mynah: 1
name: Mouse

device:
  name: Mynah Mouse
  appearance: mouse                 # 0x03C2

advertising:
  serviceUUIDs: [human-interface-device]
  appearance: true
  interval: 30 ms

services:
  - uuid: human-interface-device
    behavior: hid                   # answers for protocol modes
    characteristics:
      - uuid: hid-information
        properties: [read]
        permissions: {read: encrypted}
        # HID 1.11, of no country.
        value: {fields: {bcdHID: 0x0111, countryCode: 0, remoteWake: true, normallyConnectable: true}}
      # Report 1: five buttons, x and y with 16 bits, and a wheel.
      - uuid: report-map
        properties: [read]
        permissions: {read: encrypted}
        value:
          hex: >-
            05 01 09 02 A1 01 85 01 09 01 A1 00
            05 09 19 01 29 05 15 00 25 01 75 01 95 05 81 02 95 01 75 03 81 01
            05 01 09 30 09 31 16 01 80 26 FF 7F 75 10 95 02 81 06
            09 38 15 81 25 7F 75 08 95 01 81 06 C0 C0
      # 00 suspends, 01 exits suspend: the events have "suspend" and "exit suspend".
      - uuid: hid-control-point
        properties: [writeWithoutResponse]
        permissions: {write: encrypted}
        maxLength: 1
      # 00 is the boot protocol and 01 the report protocol, which each connection begins with.
      - uuid: protocol-mode
        properties: [read, writeWithoutResponse]
        permissions: {read: encrypted, write: encrypted}
        value: {fields: {protocolMode: report protocol}}
        maxLength: 1
      # The input report, without its ID: in the report reference, 01 is the ID and 01 says input.
      - uuid: report
        properties: [read, notify]
        permissions: {read: encrypted, notify: encrypted}
        value:
          layout: [{buttons: [left, right, middle, back, forward]}, {x: sint16}, {y: sint16}, {wheel: sint8}]
          fields: {x: 0, y: 0, wheel: 0}
        descriptors:
          - {uuid: report-reference, permissions: {read: encrypted}, value: {hex: 01 01}}
      # Three buttons, x and y with 8 bits, for a host in the boot protocol.
      - uuid: boot-mouse-input-report
        properties: [read, notify]
        permissions: {read: encrypted, notify: encrypted}
        value: {fields: {x: 0, y: 0}}

  - use: battery
    characteristics:
      - {uuid: battery-level, permissions: {read: encrypted, notify: encrypted}}
  # Hosts take the vendor and the product from its PnP ID.
  - use: device-information
    characteristics:
      - {uuid: model-number-string, value: {text: Mouse 1}}
"""# + "\n"
        ),
        (
            "lock",
            #"""
# A door lock that accepts its command only from a paired phone. profiles/phone-lock-app.yaml opens it.
#
#     mynah run profiles/lock.yaml
mynah: 1
name: Lock

device:
  name: Front door
  appearance: door-lock             # 0x0708

# A 128-bit UUID takes 18 of the 31 bytes and the Flags 3, so the name is in the scan response.
advertising:
  serviceUUIDs: [6D796E61-0200-4C61-8000-6C6162000000]
  interval: 100 ms

variables: {open: 0}

services:
  - uuid: 6D796E61-0200-4C61-8000-6C6162000000
    characteristics:
      # 00: closed, 01: open.
      - uuid: 6D796E61-0201-4C61-8000-6C6162000000
        properties: [read]
        value:
          layout: [{open: uint8}]
          fields: {open: {from: open}}
      # 01 opens it, and 00 closes it.
      - uuid: 6D796E61-0202-4C61-8000-6C6162000000
        properties: [write]
        permissions: {write: encrypted}
        maxLength: 1
        value: {layout: [{command: uint8}]}
        on:
          write:
            - {match: {command: 1}, set: {open: 1}}
            - {match: {command: 0}, set: {open: 0}}
            - {error: 0x80}
"""# + "\n"
        ),
        (
            "midi",
            #"""
# A MIDI instrument (MIDI over Bluetooth LE), which plays a scale. Its events show the notes of a host.
#
#     mynah run profiles/midi.yaml
mynah: 1
name: MIDI

device:
  name: Mynah MIDI

# A 128-bit UUID takes 18 of the 31 bytes and the Flags 3, so the name is in the scan response.
advertising:
  serviceUUIDs: [03B80E5A-EDE8-4B33-A751-6CE34EC4C700]
  interval: 20 ms

services:
  - uuid: 03B80E5A-EDE8-4B33-A751-6CE34EC4C700
    behavior: midi                  # a read is answered without bytes, and what is written is not kept
    characteristics:
      # To pair first, add permissions: {read: encrypted, write: encrypted, notify: encrypted}.
      - uuid: 7772E5DB-3868-4112-A1A9-F2669D106BF3
        properties: [read, writeWithoutResponse, notify]
        value:
          fields:
            # A clock of milliseconds, which wraps at 8192.
            timestamps: [{generate: counter, by: 250}]
            messages:
              generate: list
              values:
                - note on channel 1 note 60 velocity 100
                - note off channel 1 note 60 velocity 64
                - note on channel 1 note 62 velocity 100
                - note off channel 1 note 62 velocity 64
                - note on channel 1 note 64 velocity 100
                - note off channel 1 note 64 velocity 64
        every: 250 ms
"""# + "\n"
        ),
        (
            "nordic-uart",
            #"""
# A serial port over BLE, as Nordic's tools and many terminal apps use it. Its UUIDs are not assigned by the
# SIG, so they have 128 bits.
mynah: 1
name: Nordic UART

device:
  name: Nordic_UART

# A 128-bit UUID takes 18 of the 31 bytes and the Flags 3, so the name is in the scan response.
advertising:
  serviceUUIDs: [6E400001-B5A3-F393-E0A9-E50E24DCCA9E]
  interval: 100 ms

services:
  - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
    behavior: nordic-uart           # sends back to a phone what it writes
    characteristics:
      # RX, as seen from the device: the phone writes it with requests or, faster, with commands.
      - uuid: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E
        properties: [write, writeWithoutResponse]
      # TX: notified to the phone. A notification carries 20 bytes at the smallest MTU; longer data is sent
      # in parts. To send something by itself, add value: {text: "Hello\r\n"} and every: 2 s.
      - uuid: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E
        properties: [notify]
"""# + "\n"
        ),
        (
            "phone-heart-rate-app",
            #"""
# An iPhone app that shows a heart rate: it scans for a strap and gets its values in the background too.
#
#     mynah run profiles/phone-heart-rate-app.yaml profiles/heart-rate.yaml --radio virtual
mynah: 1
name: Heart rate app

# Without this mode, a suspended app gets no event until it is opened again.
app:
  backgroundModes: [bluetooth-central]

central:
  scan:
    services: [heart-rate]            # required for a scan in the background
  peripherals:
    - name: Strap                     # its name in events
      match: {services: [heart-rate]}
      read: [heart-rate/body-sensor-location]
      subscribe: [heart-rate/heart-rate-measurement]
"""# + "\n"
        ),
        (
            "phone-lock-app",
            #"""
# An iPhone app that opens a door when the phone comes near, even after iOS has terminated the app.
#
#     mynah run profiles/phone-lock-app.yaml profiles/lock.yaml --radio virtual
mynah: 1
name: Lock app

app:
  backgroundModes: [bluetooth-central]

central:
  restoreIdentifier: com.example.lock # iOS keeps its scans and connections, and relaunches it
  scan:
    services: [6D796E61-0200-4C61-8000-6C6162000000]
  peripherals:
    - name: Door
      match: {services: [6D796E61-0200-4C61-8000-6C6162000000], localName: Front door}
      # The lock accepts this only from a paired phone, so the phone pairs and writes again.
      write:
        - to: 6D796E61-0200-4C61-8000-6C6162000000/6D796E61-0202-4C61-8000-6C6162000000
          value: {hex: 01}            # open
      read: [6D796E61-0200-4C61-8000-6C6162000000/6D796E61-0201-4C61-8000-6C6162000000]
      onDisconnect: connect           # connects when the door is in range again
"""# + "\n"
        ),
    ]
}
