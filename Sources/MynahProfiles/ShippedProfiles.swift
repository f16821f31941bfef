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
            "altbeacon",
            #"""
# An AltBeacon: as an iBeacon, but of an open format (AltBeacon Protocol Specification 1.0).
mynah: 1
name: AltBeacon

device:
  name: Mynah AltBeacon

advertising:
  localName: ""                     # the beacon takes all of the 31 bytes
  connectable: false
  scannable: false
  interval: 100 ms
  manufacturerData:
    0x0118:                         # Radius Networks; the identifier of the beacon's manufacturer
      layout:
        - {code: uint16, bigEndian: true}
        - {id: bytes, count: 20}
        - {referenceRSSI: sint8, unit: dBm}
        - {reserved: uint8}         # the manufacturer's own
      fields:
        code: 0xBEAC
        # 16 bytes of an organisation, and then two numbers, as a beacon's major and minor.
        id: 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6 0001 0002
        referenceRSSI: -59          # how strong it is at a distance of 1 m
        reserved: 0
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
            "blood-pressure",
            #"""
# A blood pressure monitor: it stores its measurements, and indicates them until a phone has confirmed each
# (Blood Pressure Service 1.1.1).
mynah: 1
name: Blood pressure monitor

device:
  name: Mynah Cuff
  appearance: blood-pressure        # 0x0380

advertising:
  serviceUUIDs: [blood-pressure]
  interval: 100 ms

services:
  - uuid: blood-pressure
    behavior: blood-pressure        # stores each measurement until it is confirmed
    records: 3                      # stored at the start
    characteristics:
      # The device takes another measurement each minute, whether or not a phone is connected.
      - uuid: blood-pressure-measurement
        properties: [indicate]
        value:
          fields:
            systolic: {generate: randomWalk, from: 122, min: 105, max: 145 mmHg, step: 5}
            diastolic: {generate: randomWalk, from: 79, min: 65, max: 90 mmHg, step: 4}
            meanArterialPressure: {generate: randomWalk, from: 93, min: 91, max: 104 mmHg, step: 2}
            timestamp: {generate: clock, start: 2026-01-01T08:00:00Z}
            pulseRate: {generate: randomWalk, from: 64, min: 55, max: 85, step: 3}
            userID: 1
            cuffTooLoose: {generate: list, values: [false, false, false, false, true]}
        every: 1 min
      # The pressure of the cuff while it is deflated; the other two numbers are not used.
      - uuid: intermediate-cuff-pressure
        properties: [notify]
        value:
          fields:
            currentCuffPressure: {generate: ramp, from: 180, to: 60 mmHg, period: 30 s}
            diastolic: nan
            meanArterialPressure: nan
        every: 500 ms
      - uuid: blood-pressure-feature
        properties: [read]
        value: {fields: {bodyMovementDetection: true, cuffFitDetection: true, irregularPulseDetection: true}}
"""# + "\n"
        ),
        (
            "body-composition",
            #"""
# A scale that measures the fat and the water of a body too: it stores its measurements, and indicates each
# until a phone has confirmed it (Body Composition Service 1.0.1).
mynah: 1
name: Body composition scale

device:
  name: Mynah Body
  appearance: weight-scale          # 0x0C80

advertising:
  serviceUUIDs: [body-composition]
  interval: 100 ms

services:
  - uuid: body-composition
    behavior: body-composition      # stores each measurement until it is confirmed
    records: 2                      # stored at the start
    characteristics:
      - uuid: body-composition-measurement
        properties: [indicate]
        value:
          fields:
            bodyFatPercentage: {generate: randomWalk, from: 21, min: 19, max: 23, step: 0.2}
            timestamp: {generate: clock, start: 2026-01-01T07:00:00Z}
            userID: 1
            basalMetabolism: 6900 kJ
            musclePercentage: 41.2
            bodyWaterMass: 42.5 kg
            impedance: {generate: noise, around: 512, by: 3}
            weight: {generate: randomWalk, from: 72.4 kg, min: 71 kg, max: 74 kg, step: 0.1 kg}
            height: 1.8 m
        every: 1 min
      - uuid: body-composition-feature
        properties: [read]
        value:
          fields:
            timestamp: true
            multipleUsers: true
            basalMetabolism: true
            musclePercentage: true
            bodyWaterMass: true
            impedance: true
            weight: true
            height: true
            massResolution: 7       # 0.005 kg or 0.01 lb
            heightResolution: 3     # 0.001 m or 0.1 in
"""# + "\n"
        ),
        (
            "bthome",
            #"""
# A sensor of temperature and humidity that only broadcasts, as Home Assistant reads it (BTHome v2, not
# encrypted).
mynah: 1
name: BTHome sensor

device:
  name: Mynah TH

advertising:
  connectable: false
  scannable: false
  interval: 1 s
  every: 10 s                       # a new measurement, and a new number of it
  serviceData:
    FCD2:
      # Each value has its identifier before it; identifiers are in ascending order.
      layout:
        - {info: uint8}
        - {idOfPacket: uint8}
        - {packet: uint8}
        - {idOfBattery: uint8}
        - {battery: uint8, unit: "%"}
        - {idOfTemperature: uint8}
        - {temperature: sint16, unit: °C, resolution: 0.01}
        - {idOfHumidity: uint8}
        - {humidity: uint16, unit: "%", resolution: 0.01}
      fields:
        info: 0x40                  # version 2 in the upper three bits; 44 sends only if something happens
        idOfPacket: 0x00
        packet: {generate: counter} # wraps after 255; one that comes again is ignored
        idOfBattery: 0x01
        battery: {generate: ramp, from: 100, to: 10, period: 24 h}
        idOfTemperature: 0x02
        temperature: {generate: sine, min: 18.5, max: 24, period: 10 min}
        idOfHumidity: 0x03
        humidity: {generate: sine, min: 40, max: 60, period: 15 min}
"""# + "\n"
        ),
        (
            "continuous-glucose",
            #"""
# A continuous glucose monitor in a session of two hours, with its records and alerts
# (Continuous Glucose Monitoring Service 1.0.2).
mynah: 1
name: Continuous glucose monitor

device:
  name: Mynah CGM
  appearance: continuous-glucose-monitor    # 0x0D00

advertising:
  serviceUUIDs: [continuous-glucose-monitoring]
  interval: 100 ms

services:
  - uuid: continuous-glucose-monitoring
    behavior: continuous-glucose    # answers both control points; counts minutes, and computes each E2E-CRC
    records: 120                    # the session has run for as many measurements
    characteristics:
      # A measurement a minute. Its size, time offset, alerts and CRC are the behavior's.
      - uuid: cgm-measurement
        properties: [notify]
        value:
          fields:
            size: 0
            timeOffset: 0
            concentration: {generate: sine, min: 62, max: 214 mg/dL, period: 3 h}
            trend: {generate: noise, around: 0.4, by: 1.2}
            quality: 96 %
        every: 1 min
      - uuid: cgm-feature
        properties: [read]
        value:
          fields:
            calibration: true
            patientHighLowAlerts: true
            hypoAlerts: true
            hyperAlerts: true
            rateAlerts: true
            deviceSpecificAlert: true
            e2eCRCSupport: true     # each value but the records' requests ends with a CRC
            multipleSessions: true
            trendInformation: true
            qualityInformation: true
            type: interstitial fluid
            sampleLocation: subcutaneous tissue
      - uuid: cgm-status
        properties: [read]
      # A phone writes its time; the monitor subtracts what has passed of the session.
      - uuid: cgm-session-start-time
        properties: [read, write]
        maxLength: 11
      - uuid: cgm-session-run-time
        properties: [read]
        value: {fields: {sessionRunTime: 336 h}}
      # Without a subscription a request gets 0xFD, and during a report everything but an abort gets 0xFE.
      - uuid: record-access-control-point
        properties: [write, indicate]
        maxLength: 20
      # A request without its CRC gets 0x80, and one with a wrong CRC 0x81.
      - uuid: cgm-specific-ops-control-point
        properties: [write, indicate]
        maxLength: 20
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
            "eddystone",
            #"""
# An Eddystone beacon: its identifier, a web address and its state, each in a set of its own (Google's
# Eddystone Protocol Specification). A radio without several sets plays one: leave the others out.
mynah: 1
name: Eddystone beacon

device:
  name: Mynah Eddystone

advertising:
  - name: uid
    localName: ""                   # the frame takes all of the 31 bytes
    connectable: false
    scannable: false
    interval: 300 ms
    serviceUUIDs: [FEAA]
    serviceData:
      FEAA:
        layout:
          - {frame: uint8}
          - {txPower: sint8, unit: dBm}
          - {namespace: bytes, count: 10}
          - {instance: bytes, count: 6}
          - {reserved: uint16}
        fields:
          frame: 0x00
          txPower: -20              # how strong it is at a distance of 0 m
          namespace: 8B 0C A7 50 E7 A7 4E 14 BD 99
          instance: 00 00 00 00 00 2A
          reserved: 0
  - name: url
    localName: ""
    connectable: false
    scannable: false
    interval: 300 ms
    serviceUUIDs: [FEAA]
    serviceData:
      FEAA:
        layout: [{frame: uint8}, {txPower: sint8, unit: dBm}, {scheme: uint8}, {url: utf8}]
        fields:
          frame: 0x10
          txPower: -20
          scheme: 3                 # https://; 0 and 1 are http://www. and https://www., 2 is http://
          url: "example\x07/mynah"  # the byte 07 is .com
  - name: tlm
    localName: ""
    connectable: false
    scannable: false
    interval: 300 ms
    every: 3 s                      # ten packets
    serviceUUIDs: [FEAA]
    serviceData:
      FEAA:
        layout:
          - {frame: uint8}
          - {version: uint8}
          - {battery: uint16, unit: V, resolution: 0.001, bigEndian: true}
          - {temperature: sint16, unit: °C, resolution: 1/256, bigEndian: true}
          - {packets: uint32, bigEndian: true}
          - {uptime: uint32, unit: s, resolution: 0.1, bigEndian: true}
        fields:
          frame: 0x20
          version: 0
          battery: {generate: ramp, from: 3.1, to: 2.4, period: 24 h}
          temperature: {generate: sine, min: 18, max: 24, period: 10 min}
          packets: {generate: counter, by: 30}    # of all three sets
          uptime: {generate: counter, by: 3 s}
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
            "esp32-uart",
            #"""
# An ESP32 with the UART example of Arduino's BLE library: it counts, and takes what an app writes. It leaves
# the air while an app is connected.
mynah: 1
name: UART Service

device:
  name: UART Service

# The name alone: the example does not advertise its service, so apps look for the name.
advertising:
  interval: 40 ms
  scanResponse: {txPower: 3 dBm}

centrals: 1

services:
  - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
    characteristics:
      - uuid: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E
        properties: [notify]
        value: {layout: [{number: uint8}], fields: {number: {generate: counter}}}
        every: 1 s                  # 10 ms in versions of the library before 3.3
      # The example prints it: here the event write shows it.
      - uuid: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E
        properties: [write]
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
            "exposure-notification",
            #"""
# A phone that takes part in exposure notification: it broadcasts an identifier that changes every 15
# minutes (Exposure Notification Bluetooth Specification 1.2). With --address private its address changes too.
mynah: 1
name: Exposure notification

device:
  name: Mynah Exposure

advertising:
  localName: ""
  connectable: false
  scannable: false
  flags: 0x1A                       # as iPhones have it
  interval: {min: 200 ms, max: 270 ms}
  every: 15 min
  serviceUUIDs: [FD6F]
  serviceData:
    FD6F:
      layout: [{identifier: bytes, count: 16}, {metadata: bytes, count: 4}]
      fields:
        # A phone makes them of a key that changes every day; these are any.
        identifier:
          generate: list
          values:
            - 26 8C C2 8A 42 53 01 8E 55 D7 C1 0E 8A A5 A3 0F
            - 91 0F 5E 33 D1 7B 4C 60 A8 EE 12 09 7C B4 F0 5D
            - 4B E2 70 C6 1D 88 93 F5 3A 02 BB 67 D4 19 0E A1
        # The version and the transmit power, encrypted.
        metadata: {generate: list, values: [40 08 C3 91, 7F 11 D0 2E, A5 6C 94 03]}
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
      # 0x81, and during a report everything but an abort gets 0x80.
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
            "ibeacon",
            #"""
# An iBeacon: it only broadcasts, and apps on iPhones learn that they are near it.
mynah: 1
name: iBeacon

device:
  name: Mynah iBeacon

advertising:
  localName: ""                     # the beacon takes 30 of the 31 bytes
  connectable: false
  scannable: false
  interval: 100 ms                  # Apple's rules for beacons ask for it
  manufacturerData:
    0x004C:                         # Apple
      layout:
        - {type: uint16, bigEndian: true}
        - {uuid: bytes, count: 16}
        - {major: uint16, bigEndian: true}
        - {minor: uint16, bigEndian: true}
        - {measuredPower: sint8, unit: dBm}
      fields:
        type: 0x0215                # a beacon, and 21 bytes of it
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        measuredPower: -59          # how strong it is at a distance of 1 m
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
            "mcumgr",
            #"""
# A device with firmware of Zephyr or the nRF Connect SDK, which an app updates with MCUmgr over the Simple
# Management Protocol (SMP).
mynah: 1
name: MCUmgr device

device:
  name: Mynah MCUmgr

# A 128-bit UUID takes 18 of the 31 bytes and the Flags 3, so the name is in the scan response.
advertising:
  serviceUUIDs: [8D53DC1D-1DB7-4CD3-868B-8A527460AA84]
  interval: 100 ms

services:
  - uuid: 8D53DC1D-1DB7-4CD3-868B-8A527460AA84
    behavior: mcumgr                # image 1.0.0 runs in slot 0; slot 1 has 1 MiB for an upload
    characteristics:
      # Requests are written, in pieces if they are long, and responses notified. Many devices want a bond for
      # it: add permissions: {write: encrypted}.
      - uuid: DA2E7828-FBCE-4E01-AE9E-261174997C48
        properties: [writeWithoutResponse, notify]
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
            "nordic-dfu",
            #"""
# The bootloader of a device with the nRF5 SDK, which an app updates with Nordic's secure DFU.
mynah: 1
name: Nordic DFU

device:
  name: Mynah DFU

advertising:
  serviceUUIDs: [FE59]              # Nordic's; 16 bits
  interval: 100 ms

services:
  - uuid: FE59
    behavior: nordic-dfu            # accepts firmware of version 1 or later for hardware version 52
    characteristics:
      # 06 01 selects the init packet. Without a subscription a request gets 0xFD.
      - uuid: 8EC90001-F315-4F60-9FB8-838830DAEA50
        properties: [write, notify]
        maxLength: 20
      # The bytes of the init packet and of the firmware.
      - uuid: 8EC90002-F315-4F60-9FB8-838830DAEA50
        properties: [writeWithoutResponse]
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
        (
            "proximity",
            #"""
# A key finder: it alerts when a phone calls it, and when it has lost its phone (Proximity Profile 1.0.1, Find
# Me Profile 1.0). The event alert.changed says so.
mynah: 1
name: Key finder

device:
  name: Mynah Finder
  appearance: tag                   # 0x0200

advertising:
  serviceUUIDs: [immediate-alert, link-loss, tx-power]
  interval: 100 ms

services:
  # The phone writes the level for later: 0 is no alert, 1 a mild and 2 a high one. A new link ends the alert.
  - uuid: link-loss
    behavior: link-loss
    characteristics:
      - uuid: alert-level
        properties: [read, write]
        value: {fields: {alertLevel: no alert}}
        maxLength: 1
  # The phone writes a level, and the device alerts at once; 0 or the end of the link ends that.
  - uuid: immediate-alert
    behavior: immediate-alert
    characteristics:
      - uuid: alert-level
        properties: [writeWithoutResponse]
        maxLength: 1
  # With it and the strength of what it receives a phone knows how near the device is.
  - uuid: tx-power
    characteristics:
      - uuid: tx-power-level
        properties: [read]
        value: {fields: {txPowerLevel: 0 dBm}}
"""# + "\n"
        ),
        (
            "pulse-oximeter",
            #"""
# A pulse oximeter: spot checks that it has stored, which a phone asks for, and continuous measurements
# (Pulse Oximeter Service 1.0.1).
mynah: 1
name: Pulse oximeter

device:
  name: Mynah Oximeter
  appearance: pulse-oximeter        # 0x0C40

advertising:
  serviceUUIDs: [pulse-oximeter]
  interval: 100 ms

services:
  - uuid: pulse-oximeter
    behavior: pulse-oximeter        # answers the record access control point
    records: 4                      # stored at the start; each is a tick of the fields below
    characteristics:
      # Only a report sends spot checks, at most one each 100 ms, and the response in the end.
      - uuid: plx-spot-check-measurement
        properties: [indicate]
        value:
          fields:
            spO2: {generate: randomWalk, from: 97, min: 92, max: 99 %, step: 1}
            pulseRate: {generate: randomWalk, from: 68, min: 55, max: 95, step: 4}
            timestamp:
              generate: list
              values: [2026-01-01T08:00:00, 2026-01-01T12:30:00, 2026-01-01T18:00:00, 2026-01-02T08:10:00]
        every: 100 ms
      - uuid: plx-continuous-measurement
        properties: [notify]
        value:
          fields:
            spO2: {generate: randomWalk, from: 97, min: 94, max: 99 %, step: 0.5}
            pulseRate: {generate: randomWalk, from: 68, min: 60, max: 80, step: 2}
            pulseAmplitudeIndex: {generate: noise, around: 4.2, by: 0.5}
        every: 1 s
      - uuid: plx-features
        properties: [read]
        value: {fields: {spotCheckStorage: true, spotCheckTimestamp: true, pulseAmplitudeIndex: true}}
      # Without a subscription a request gets 0xFD, and during a report everything but an abort gets 0xFE.
      - uuid: record-access-control-point
        properties: [write, indicate]
        maxLength: 20
"""# + "\n"
        ),
        (
            "running-speed-and-cadence",
            #"""
# A foot pod, which measures how a runner runs (Running Speed and Cadence Service 1.0).
mynah: 1
name: Foot pod

device:
  name: Mynah Foot Pod
  appearance: on-shoe-running-walking-sensor  # 0x0442

advertising:
  serviceUUIDs: [running-speed-and-cadence]
  interval: 100 ms

services:
  - uuid: running-speed-and-cadence
    behavior: running-speed-and-cadence       # answers the SC control point
    characteristics:
      # 3 m a second, in 168 steps a minute; the distance goes on from where it is set.
      - uuid: rsc-measurement
        properties: [notify]
        value:
          fields:
            instantaneousSpeed: {generate: noise, around: 3 m/s, by: 0.1 m/s}
            instantaneousCadence: {generate: noise, around: 168, by: 2}
            instantaneousStrideLength: 1.07 m
            totalDistance: {generate: counter, by: 3 m}
            running: true
        every: 1 s
      - uuid: rsc-feature
        properties: [read]
        value:
          fields:
            instantaneousStrideLength: true
            totalDistance: true
            walkingOrRunningStatus: true
            calibrationProcedure: true
            multipleSensorLocations: true
      - uuid: sensor-location
        properties: [read]
        value: {fields: {sensorLocation: top of shoe}}
      # 01 sets the distance, 02 calibrates, 03 sets the location, 04 lists the locations. Without a
      # subscription: 0x81.
      - uuid: sc-control-point
        properties: [write, indicate]
        maxLength: 20
"""# + "\n"
        ),
        (
            "ruuvi",
            #"""
# A RuuviTag, which broadcasts the weather and its own movement (Ruuvi's data format 5, RAWv2).
mynah: 1
name: RuuviTag

device:
  name: Ruuvi 884F

advertising:
  localName: ""                     # the data takes all of the 31 bytes
  connectable: false
  scannable: false
  interval: 1285 ms
  every: 2570 ms                    # a new measurement, and a new number of it
  manufacturerData:
    0x0499:                         # Ruuvi Innovations
      layout:
        - {format: uint8}
        - {temperature: sint16, unit: °C, resolution: 0.005, bigEndian: true}
        - {humidity: uint16, unit: "%", resolution: 0.0025, bigEndian: true}
        - {pressure: uint16, unit: Pa, offset: 50000, bigEndian: true}
        - {accelerationX: sint16, unit: G, resolution: 0.001, bigEndian: true}
        - {accelerationY: sint16, unit: G, resolution: 0.001, bigEndian: true}
        - {accelerationZ: sint16, unit: G, resolution: 0.001, bigEndian: true}
        # Two numbers in 16 bits, the lower one first.
        - power:
            - {txPower: 5, unit: dBm, resolution: 2, offset: -40}
            - {battery: 11, unit: V, resolution: 0.001, offset: 1.6}
          bigEndian: true
        - {movements: uint8}
        - {sequence: uint16, bigEndian: true}
        - {address: bytes, count: 6}
      fields:
        format: 5
        temperature: {generate: sine, min: -5, max: 24, period: 10 min}
        humidity: {generate: sine, min: 40, max: 60, period: 15 min}
        pressure: {generate: sine, min: 1008 hPa, max: 1018 hPa, period: 1 h}
        accelerationX: 0.004
        accelerationY: {generate: square, min: -0.02, max: 0.02, period: 1 min}
        accelerationZ: 1.036
        txPower: 4
        battery: {generate: ramp, from: 3, to: 2.4, period: 24 h}
        movements: {generate: counter}
        sequence: {generate: counter, from: 205}
        address: CB B8 33 4C 88 4F  # a tag sends its own address; apps tell tags apart by it
"""# + "\n"
        ),
        (
            "weight-scale",
            #"""
# A weight scale with two users: it stores what they weigh, and indicates each measurement until a phone has
# confirmed it (Weight Scale Service 1.0.1).
mynah: 1
name: Weight scale

device:
  name: Mynah Scale
  appearance: weight-scale          # 0x0C80

advertising:
  serviceUUIDs: [weight-scale]
  interval: 100 ms

services:
  - uuid: weight-scale
    behavior: weight-scale          # stores each measurement until it is confirmed
    records: 2                      # stored at the start
    characteristics:
      # Write lb and in for a scale of those units: both then have them.
      - uuid: weight-measurement
        properties: [indicate]
        value:
          fields:
            weight: {generate: list, values: [72.4 kg, 58.2 kg, 72.6 kg, 58.1 kg]}
            timestamp: {generate: clock, start: 2026-01-01T07:00:00Z}
            userID: {generate: list, values: [1, 2]}
            bmi: {generate: list, values: [22.3, 20.6, 22.4, 20.6]}
            height: {generate: list, values: [1.8 m, 1.68 m]}
        every: 1 min
      - uuid: weight-scale-feature
        properties: [read]
        value:
          fields:
            timestamp: true
            multipleUsers: true
            bmi: true
            weightResolution: 7     # 0.005 kg or 0.01 lb
            heightResolution: 3     # 0.001 m or 0.1 in
"""# + "\n"
        ),
    ]
}
