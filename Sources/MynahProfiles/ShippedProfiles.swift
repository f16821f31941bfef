// swift-format-ignore-file
// Made by profiles/embed from profiles/*.yaml; edit those.
enum ShippedProfiles {
    static let all: [(name: String, text: String)] = [
        (
            "heart-rate",
            #"""
            # A chest strap: phones find it, read where it is worn and watch the heart rate move.
            #
            #     mynah run profiles/heart-rate.yaml
            mynah: 1
            name: Heart rate monitor            # for you; phones never see it

            device:
              name: Mynah HRM                   # what a phone shows
              appearance: heart-rate-belt       # or its number, 0x0341

            advertising:                        # localName is device.name unless said
              serviceUUIDs: [heart-rate, battery]
              interval: 100 ms

            services:
              - uuid: heart-rate                # the SIG's name, or 180D
                characteristics:
                  # Sent once a second to whoever subscribed. A real strap cannot be read; this one can, which helps while testing.
                  - uuid: heart-rate-measurement
                    properties: [read, notify]
                    value: {generate: heart-rate, min: 60, max: 100, period: 30 s}
                    every: 1 s
                  - uuid: body-sensor-location
                    properties: [read]
                    value: {hex: 01}            # 01: chest
                  # 01 resets the energy expended, which this strap does not count. To see how an app takes a refusal, add
                  # errors: {write: 0x80}     (the service's own "control point not supported")
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
            # The smallest device that is of use: a battery and its level (Battery Service 1.0).
            mynah: 1
            name: Battery

            device:
              name: Mynah Battery
              appearance: tag                   # 0x0200

            advertising:
              serviceUUIDs: [battery]
              interval: 200 ms
              serviceData: {battery: 5F}        # the level, for those who only listen: 95 %

            services:
              - uuid: battery
                characteristics:
                  - uuid: battery-level
                    properties: [read, notify]
                    value: {hex: 5F}            # one byte, 0 to 100
                    every: 10 s                 # told to subscribers even though it stays
                    descriptors:
                      # Wanted where a device has more than one battery: an unsigned byte, exponent 0, in percent (27AD), the
                      # SIG's namespace, "main".
                      - uuid: characteristic-presentation-format
                        value: {hex: 04 00 AD 27 01 06 01}
            """# + "\n"
        ),
        (
            "device-information",
            #"""
            # Who made the device, and which one it is (Device Information Service 1.1). Everything is read and nothing moves.
            #
            # bluetoothd has a Device Information service of its own, with a PnP ID alone, so through BlueZ a phone finds two. To
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
                    value: {text: 0042-7A31}    # text as it is written: no quotes needed, no number made of it
                  - uuid: hardware-revision-string
                    properties: [read]
                    value: {text: 1.0}
                  - uuid: firmware-revision-string
                    properties: [read]
                    value: {text: 2.4.1}
                  - uuid: software-revision-string
                    properties: [read]
                    value: {text: 2026.11}
                  # Least significant byte first: 40 bits of the maker's own, then its 24-bit number from the IEEE. This is made
                  # of the address 00:1B:DC:12:34:56, with FFFE between its halves.
                  - uuid: system-id
                    properties: [read]
                    value: {hex: 56 34 12 FE FF DC 1B 00}
                  # The vendor's number is the SIG's (01), the vendor 0xFFFF (for tests), product 0x0001, version 1.0.0.
                  - uuid: pnp-id
                    properties: [read]
                    value: {hex: 01 FF FF 01 00 00 01}
            """# + "\n"
        ),
        (
            "environmental-sensing",
            #"""
            # A weather station: temperature, humidity and pressure (Environmental Sensing Service 1.0). Numbers stand least
            # significant byte first, in the units of the characteristics.
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
                  - uuid: temperature           # hundredths of a degree Celsius, signed
                    properties: [read, notify]
                    value: {hex: 66 08}         # 2150: 21.5 degrees
                    every: 5 s
                    descriptors:
                      - uuid: characteristic-user-description
                        value: {text: Balcony}
                      # How it was measured: no flags, instantaneous, no period, every 5 s, in air, uncertainty not known.
                      - uuid: environmental-sensing-measurement
                        value: {hex: 00 00 01 00 00 00 05 00 00 01 FF}
                      # When it is notified: at a fixed interval of 5 s.
                      - uuid: environmental-sensing-trigger-setting
                        value: {hex: 01 05 00 00}
                      - uuid: valid-range
                        value: {hex: 60 F0 34 21}   # -40 to 85 degrees
                  - uuid: humidity              # hundredths of a percent
                    properties: [read]
                    value: {hex: 94 11}         # 4500: 45 %
                  - uuid: pressure              # tenths of a pascal
                    properties: [read]
                    value: {hex: 02 76 0F 00}   # 1013250: 1013.25 hPa
            """# + "\n"
        ),
        (
            "everything-accessory",
            #"""
            # Every feature of the format that an accessory can use, each in its place. To start a profile of your own, take
            # another one; to see how something is written, look here.
            mynah: 1                            # the format's version
            name: Everything an accessory can do

            device:
              name: Mynah Everything            # up to 248 bytes
              appearance: 0x0540                # or the SIG's name: sensor

            security:
              io: keyboardDisplay               # noInputNoOutput, displayOnly, displayYesNo or keyboardOnly
              passkey: 123456                   # what is typed on it when the phone shows a number; left out: you are asked

            # 31 bytes, all of them used: the Flags take 3, and each field its data and 2. The name goes to the scan response.
            advertising:
              localName: Everything             # left out: device.name; "": no name at all
              serviceUUIDs: [heart-rate]        # 4
              interval: 152.5 ms                # 20 ms to 10.24 s, in steps of 0.625 ms
              manufacturerData: {0x0059: 01}    # 5; the company's number: its bytes
              serviceData: {180F: 64}           # 5
              solicitedServiceUUIDs: [1805]     # 4; services that it looks for on the phone
              appearance: true                  # 4; advertises device.appearance
              txPower: true                     # 3
              raw: {0x24: 17}                   # 3; any other type of the SIG's list: its bytes

            services:
              - uuid: heart-rate                # the SIG's name
                includes: [battery, 6D796E61-0500-4C61-8000-6C6162000000]
                characteristics:
                  - uuid: 2A37                  # or a number of 4 digits
                    properties: [notify]
                    value: {generate: heart-rate, min: 60, max: 180, period: 1.5 min}
                    every: 1 s
                  - uuid: body-sensor-location
                    properties: [read]
                    value: {hex: 01}            # static: a value, and nothing that changes it
                  - uuid: heart-rate-control-point
                    properties: [write]
                    permissions: {write: encrypted}
                    maxLength: 1                # a longer write is answered with 0x0D
                    errors: {write: 0x80}       # this ATT error instead of an answer

              - uuid: battery
                characteristics:
                  - uuid: battery-level
                    properties: [read, notify]
                    value: {hex: 64}
                    every: 0.5 min              # us, ms, s or min

              # A service of 32 bits: what a link must have been through before each use.
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
                    errors: {read: 0x9F}        # 0x80 to 0x9F are the application's own

              # One of 128 bits: every property, and descriptors. 2902 and 2900 are the radio's to make.
              - uuid: 6D796E61-0100-4C61-8000-6C6162000000
                characteristics:
                  - uuid: 6D796E61-0101-4C61-8000-6C6162000000
                    properties: [broadcast, read, extendedProperties]
                    value: {base64: TXluYWg=}
                  - uuid: 6D796E61-0102-4C61-8000-6C6162000000
                    properties: [writeWithoutResponse]
                  - uuid: 6D796E61-0103-4C61-8000-6C6162000000
                    properties: [indicate]
                    value: {text: "tick\t\u00B5"}  # quotes let escapes in
                    every: 2000000 us
                  - uuid: 6D796E61-0104-4C61-8000-6C6162000000
                    properties: [read, authenticatedSignedWrites]
                    value: {text: 0x0A}         # four characters: text stays text
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

              # No phone looks for a secondary service by itself: it is found through the one that includes it.
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
            # An iOS app plays the device: every feature that this adds to the format. Apple's rules hold, so of the
            # advertisement only the name and the services are the app's to say; the rest is the phone's, under app:.
            mynah: 1
            name: Everything an app can do

            device:
              name: iPhone                      # the phone's name, not the app's

            app:
              backgroundModes: [bluetooth-peripheral]
              restoreIdentifier: com.example.hrm    # left out: the system does not bring the app back
              state: background                 # to start in: foreground, background or suspended; --state wins
              suspendAfter: 5 s                 # in the background, without a background mode or with nothing to do
              taskTime: 10 s                    # how long it works for each event in the background; left out: 10 s
              iOS: 17                           # up to 11 the overflow area is in the advert, from 12 in the scan response
              foregroundInterval: 30 ms         # an assumption: Apple says nothing, and nobody has measured it
              backgroundInterval: 181.25 ms     # as measured on one iPhone with iOS 11

            advertising:
              localName: HRM                    # heard in the foreground only
              serviceUUIDs: [heart-rate, 6D796E61-0200-4C61-8000-6C6162000000]

            services:
              - uuid: heart-rate
                characteristics:
                  - uuid: heart-rate-measurement
                    properties: [notify]
                    value: {generate: heart-rate, min: 60, max: 100, period: 30 s}
                    every: 1 s                  # stands still while the app is suspended
                  - uuid: body-sensor-location
                    properties: [read]
                    value: {hex: 02}            # 02: wrist. Static, so the phone answers without waking the app

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
            "health-thermometer",
            #"""
            # A thermometer that is worn: measurements are indicated, so that each is confirmed (Health Thermometer Service 1.0).
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
                  # Flags 00 (Celsius; neither time nor type), then the temperature as a 32-bit float of IEEE 11073-20601:
                  # 366 in three bytes and the exponent -1 behind them, 36.6 degrees.
                  - uuid: temperature-measurement
                    properties: [indicate]
                    value: {hex: 00 6E 01 00 FF}
                    every: 5 s
                  - uuid: temperature-type
                    properties: [read]
                    value: {hex: 01}            # 01: armpit
                  # The same form, several times a second, while it settles: 36.4 degrees.
                  - uuid: intermediate-temperature
                    properties: [notify]
                    value: {hex: 00 6C 01 00 FF}
                    every: 500 ms
                  # Seconds between two measurements. What is written is stored and reads back, and asks for pairing first.
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
            "lock",
            #"""
            # A door lock that takes its command from a paired phone only. profiles/phone-lock-app.yaml opens it.
            #
            #     mynah run profiles/lock.yaml
            mynah: 1
            name: Lock

            device:
              name: Front door
              appearance: door-lock             # 0x0708

            # A 128-bit UUID takes 18 of the 31 bytes, and the Flags 3: the name goes to the scan response.
            advertising:
              serviceUUIDs: [6D796E61-0200-4C61-8000-6C6162000000]
              interval: 100 ms

            services:
              - uuid: 6D796E61-0200-4C61-8000-6C6162000000
                characteristics:
                  # Whether it is closed, 00, or open, 01. A profile does not act on what is written, so that it stays closed.
                  - uuid: 6D796E61-0201-4C61-8000-6C6162000000
                    properties: [read]
                    value: {hex: "00"}
                  # 01 opens it.
                  - uuid: 6D796E61-0202-4C61-8000-6C6162000000
                    properties: [write]
                    permissions: {write: encrypted}
                    maxLength: 1
            """# + "\n"
        ),
        (
            "nordic-uart",
            #"""
            # A serial port over the air, as Nordic's tools and many terminal apps know it. The SIG has no number for it, so its
            # UUIDs have all 128 bits.
            mynah: 1
            name: Nordic UART

            device:
              name: Nordic_UART

            # A 128-bit UUID takes 18 of the 31 bytes, and the Flags 3: the name goes to the scan response.
            advertising:
              serviceUUIDs: [6E400001-B5A3-F393-E0A9-E50E24DCCA9E]
              interval: 100 ms

            services:
              - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
                characteristics:
                  # RX, seen from the device: what the phone writes, as requests or, faster, as commands.
                  - uuid: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E
                    properties: [write, writeWithoutResponse]
                  # TX: what the phone hears. At the smallest MTU a notification carries 20 bytes, and this has 12.
                  - uuid: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E
                    properties: [notify]
                    value: {text: "Hello, you\r\n"}
                    every: 2 s
            """# + "\n"
        ),
        (
            "phone-heart-rate-app",
            #"""
            # An app on an iPhone that shows a heart rate: it looks for a strap, and hears its values in the background too.
            #
            #     mynah run profiles/phone-heart-rate-app.yaml profiles/heart-rate.yaml --radio virtual
            mynah: 1
            name: Heart rate app

            # Without the mode, a suspended app hears nothing until it is opened again.
            app:
              backgroundModes: [bluetooth-central]

            central:
              scan:
                services: [heart-rate]            # an app in the background has to name them
              peripherals:
                - name: Strap                     # what events call it
                  match: {services: [heart-rate]}
                  read: [heart-rate/body-sensor-location]
                  subscribe: [heart-rate/heart-rate-measurement]
            """# + "\n"
        ),
        (
            "phone-lock-app",
            #"""
            # An app on an iPhone that opens a door when it comes near, even after iOS has ended the app.
            #
            #     mynah run profiles/phone-lock-app.yaml profiles/lock.yaml --radio virtual
            mynah: 1
            name: Lock app

            app:
              backgroundModes: [bluetooth-central]

            central:
              restoreIdentifier: com.example.lock # iOS goes on for the app, and starts it again for an event
              scan:
                services: [6D796E61-0200-4C61-8000-6C6162000000]
              peripherals:
                - name: Door
                  match: {services: [6D796E61-0200-4C61-8000-6C6162000000], localName: Front door}
                  # The lock takes the command from a paired phone only, so the phone pairs by itself and asks again.
                  write:
                    - to: 6D796E61-0200-4C61-8000-6C6162000000/6D796E61-0202-4C61-8000-6C6162000000
                      value: {hex: 01}            # open
                  read: [6D796E61-0200-4C61-8000-6C6162000000/6D796E61-0201-4C61-8000-6C6162000000]
                  onDisconnect: connect           # a connection that is asked for waits until the door is near again
            """# + "\n"
        ),
    ]
}
