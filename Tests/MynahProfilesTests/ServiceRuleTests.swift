import MynahCore
import MynahProfiles
import Testing

@Suite struct ServiceRuleTests {
    /// A profile with these services, from line 4 on.
    private static func services(_ text: String) -> String { head("services:\n" + text) }

    private static let services = [
        (services("  - {}\n"), ["4:5: error: a service needs a uuid"]),
        (
            services("  - battery\n"),
            [
                """
                4:5: error: a service must be a mapping of uuid, use, omit, primary, includes, behavior, \
                records and characteristics, not "battery"
                """
            ]
        ),
        (
            services("  - uuid: batery\n"),
            ["4:11: error: unknown service \"batery\"; did you mean \"battery\"?"]
        ),
        (
            services("  - uuid: 180\n"),
            ["4:11: error: service \"180\" has 3 digits; a UUID has 4, 8 or 32 (8-4-4-4-12)"]
        ),
        (
            services("  - uuid: 6E400001-B5A3-F393-E0A9-E50E24DCCA9\n"),
            [
                """
                4:11: error: service "6E400001-B5A3-F393-E0A9-E50E24DCCA9" has 31 digits; a UUID has \
                4, 8 or 32 (8-4-4-4-12)
                """
            ]
        ),
        (
            services("  - uuid: 1800\n"),
            ["4:11: error: the radio adds the service 1800 itself; leave it out"]
        ),
        (
            services("  - uuid: 00001801-0000-1000-8000-00805F9B34FB\n"),
            [
                """
                4:11: error: the radio adds the service 00001801-0000-1000-8000-00805F9B34FB itself; leave \
                it out
                """
            ]
        ),
        (
            services("  - {uuid: 180F, primary: no}\n"),
            ["4:27: error: primary must be true or false, not \"no\""]
        ),
        (
            services("  - {uuid: 180F, primary: false}\n"),
            ["4:5: warning: no service includes the secondary service 180F, so phones cannot find it"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A]}\n"),
            ["4:29: error: the profile has no service 180A to include; add it to services"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A, 180A]}\n  - uuid: 180A\n"),
            ["4:35: error: the service is included twice"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A]}\n  - uuid: 180A\n  - uuid: 180A\n"),
            ["4:29: error: the profile has 2 services with UUID 180A; include 180A~1 or 180A~2"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A~3]}\n  - uuid: 180A\n  - uuid: 180A\n"),
            ["4:29: error: the profile has 2 services with UUID 180A, so no 180A~3; include 180A~1 or 180A~2"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A~2]}\n  - uuid: 180A\n"),
            ["4:29: error: the profile has 1 service with UUID 180A, so no 180A~2; include 180A"]
        ),
        (
            services("  - {uuid: 180F, includes: [180A~x]}\n  - uuid: 180A\n"),
            ["4:29: error: a number of at least 1 must follow ~, as in 180F~2, not \"180A~x\""]
        ),
        (
            services("  - {uuid: 180F, includes: [180A~1, 180A]}\n  - uuid: 180A\n"),
            ["4:37: error: the service is included twice"]
        ),
        (
            services("  - {uuid: 180F, includes: [180F~2]}\n  - uuid: 180F\n"),
            [
                """
                4:29: error: 180F~1 includes 180F~2, and services of one UUID keep the file's order; put \
                180F~2 first
                """
            ]
        ),
        (
            services("  - uuid: 2800\n"),
            [
                "4:11: error: 2800 is the type of a declaration, not of a service; use another UUID"
            ]
        ),
        (
            services("  - uuid: 2902\n"),
            [
                """
                4:11: error: 2902 is a descriptor (client-characteristic-configuration), not a service; \
                the radio adds it, so leave it out
                """
            ]
        ),
        (
            services("  - {uuid: 180F, characteristics: [{uuid: 2803, properties: [read]}]}\n"),
            [
                "4:43: error: 2803 is the type of a declaration, not of a characteristic; use another UUID"
            ]
        ),
        (
            services("  - {uuid: 180F, characteristics: [{uuid: 0x2901, properties: [read]}]}\n"),
            [
                """
                4:43: error: 2901 is a descriptor (characteristic-user-description), not a \
                characteristic; list it under a characteristic's descriptors
                """
            ]
        ),
        (
            services("  - {uuid: 180F, includes: [180F]}\n"),
            ["4:29: error: a service cannot include itself, and 180F includes 180F"]
        ),
        (
            services(
                """
                  - {uuid: 1810, includes: [180A]}\n  - {uuid: 180A, includes: [180D]}\n  - {uuid: \
                180D, includes: [180A]}\n
                """
            ),
            ["5:29: error: a service cannot include itself, and 180A includes 180D includes 180A"]
        ),
    ]

    private static let characteristics = [
        (
            head("services:\n  - uuid: 180F\n    characteristics: [{properties: [read]}]\n"),
            ["5:23: error: a characteristic needs a uuid"]
        ),
        // A wrong UUID hides no other mistake of its characteristic.
        (
            head(
                """
                services:
                  - uuid: 180F
                    characteristics:
                      - {uuid: 2A1, properties: [notify], permissions: {read: open, write: opn}, every: 5}
                      - {uuid: 2A1, properties: [read], value: {fields: {level: 5}}}
                      - {maxLength: 600}

                """),
            [
                "6:16: error: characteristic \"2A1\" has 3 digits; a UUID has 4, 8 or 32 (8-4-4-4-12)",
                "6:57: error: permissions.read has no effect: the characteristic has no read property",
                "6:69: error: permissions.write has no effect: the characteristic has no write property",
                "6:76: error: unknown permission \"opn\"; did you mean \"open\"?",
                "6:89: error: every has no unit; write 5 us, 5 ms, 5 s, 5 min or 5 h",
                "7:16: error: characteristic \"2A1\" has 3 digits; a UUID has 4, 8 or 32 (8-4-4-4-12)",
                "8:9: error: a characteristic needs a uuid",
                "8:9: error: the characteristic needs properties, as in [read, notify]",
                "8:10: warning: maxLength has no effect: the characteristic is not writable",
                "8:21: error: maxLength must be between 0 and 512, not 600",
            ]
        ),
        (
            head("services:\n  - uuid: 180F\n    characteristics: [{uuid: 2A19}]\n"),
            ["5:23: error: the characteristic 2A19 needs properties, as in [read, notify]"]
        ),
        (
            characteristic("properties: []\n"),
            ["7:21: error: the characteristic 2A19 needs at least one property"]
        ),
        (
            characteristic("properties: read\n"),
            ["7:21: error: properties must be a list, as in [a, b], not \"read\""]
        ),
        (
            characteristic("properties: [raed]\n        every: 1 s\n"),
            ["7:22: error: unknown property \"raed\"; did you mean \"read\"?"]
        ),
        (characteristic("properties: [read, read]\n"), ["7:28: error: the property read is repeated"]),
        (
            characteristic("propertis: [read]\n"),
            [
                "6:9: error: the characteristic 2A19 needs properties, as in [read, notify]",
                "7:9: error: unknown key \"propertis\" in a characteristic; did you mean \"properties\"?",
            ]
        ),
        (
            characteristic("properties: [read]\n        permissions: {read: encrpted}\n"),
            ["8:29: error: unknown permission \"encrpted\"; did you mean \"encrypted\"?"]
        ),
        (
            characteristic("properties: [read]\n        permissions: {write: open}\n"),
            ["8:23: error: permissions.write has no effect: the characteristic has no write property"]
        ),
        (
            characteristic("properties: [write]\n        permissions: {read: open}\n"),
            ["8:23: error: permissions.read has no effect: the characteristic has no read property"]
        ),
        (
            characteristic("properties: [read]\n        permissions: {notify: open}\n"),
            [
                """
                8:23: error: permissions.notify has no effect: the characteristic has neither notify nor \
                indicate
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        every: 1 s\n"),
            ["8:16: error: every has no effect: 2A19 has neither notify nor indicate"]
        ),
        (
            characteristic("properties: [notify]\n        every: 999 us\n"),
            ["8:16: error: every must be at least 1 ms, not 999 us"]
        ),
        (
            characteristic("properties: [write]\n        maxLength: 513\n"),
            ["8:20: error: maxLength must be between 0 and 512, not 513"]
        ),
        (
            characteristic("properties: [read]\n        maxLength: 5\n"),
            ["8:9: warning: maxLength has no effect: 2A19 is not writable"]
        ),
        (
            characteristic("properties: [write]\n        value: {hex: 01}\n"),
            [
                """
                8:9: warning: no central can get this value: 2A19 has none of read, notify, indicate and \
                broadcast
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        errors: {write: 0x80}\n"),
            ["8:25: error: errors.write is never sent: the characteristic has no write property"]
        ),
        (
            characteristic("properties: [write]\n        errors: {read: 0x80}\n"),
            ["8:24: error: errors.read is never sent: the characteristic has no read property"]
        ),
        (
            characteristic("properties: [writeWithoutResponse]\n        errors: {write: 0x80}\n"),
            [
                """
                8:25: error: errors.write is never sent: writeWithoutResponse gets no answer; add the \
                property write
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        errors: {read: 0}\n"),
            ["8:24: error: an ATT error must be between 1 and 255, not 0"]
        ),
        (
            characteristic("properties: [read]\n        errors: {read: 80}\n"),
            [
                """
                8:24: warning: 0x50 is a reserved error code; application errors are 0x80 to 0x9F; did you \
                mean 0x80?
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        ask: [raed]\n"),
            ["8:15: error: unknown request \"raed\"; did you mean \"read\"?"]
        ),
        (
            characteristic("properties: [read]\n        ask: read\n"),
            ["8:14: error: ask must be a list, as in [a, b], not \"read\""]
        ),
        (
            characteristic("properties: [read]\n        ask: []\n"),
            ["8:14: error: ask needs read, write or both"]
        ),
        (
            characteristic("properties: [read]\n        ask: [read, read]\n"),
            ["8:21: error: ask: read is repeated"]
        ),
        (
            characteristic("properties: [notify]\n        ask: [read]\n"),
            ["8:15: error: ask: read has no effect: the characteristic has no read property"]
        ),
        (
            characteristic("properties: [read, notify]\n        ask: [write]\n"),
            ["8:15: error: ask: write has no effect: the characteristic has no write property"]
        ),
        (
            characteristic("properties: [writeWithoutResponse]\n        ask: [write]\n"),
            [
                """
                8:15: error: ask: write has no effect: a write without response gets no answer; add the \
                property write
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        errors: {read: 0x80}\n        ask: [read]\n"),
            ["9:15: error: ask: read has no effect: errors.read answers each read; remove one of them"]
        ),
        (
            characteristic("properties: [write]\n        errors: {write: 0x80}\n        ask: [write]\n"),
            ["9:15: error: ask: write has no effect: errors.write answers each write; remove one of them"]
        ),
        (
            characteristic("properties: [read, writableAuxiliaries]\n"),
            [
                "7:9: warning: writableAuxiliaries needs a writable descriptor 2901, and there is none"
            ]
        ),
    ]

    private static let values = [
        (
            characteristic("properties: [read]\n        value: 5\n"),
            [
                """
                8:16: error: a value must say its form, as in {hex: 01 02}, {text: Pulse}, \
                {base64: AQI=} or {generate: heart-rate}
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        value: {}\n"),
            ["8:16: error: a value needs one of hex, text, base64, generate and fields"]
        ),
        (
            characteristic("properties: [read]\n        value: {hx: 01}\n"),
            [
                """
                8:16: error: a value needs one of hex, text, base64, generate and fields; did you mean "hex"?
                """
            ]
        ),
        (
            characteristic("properties: [read]\n        value: {hex: 01, text: a}\n"),
            ["8:16: error: a value has one form, and this one has hex and text"]
        ),
        (
            characteristic("properties: [read]\n        value: {hex: 0}\n"),
            ["8:22: error: hex must be pairs of hexadecimal digits, as in 01 FF, not \"0\""]
        ),
        (
            characteristic("properties: [read]\n        value: {text: [a]}\n"),
            ["8:23: error: text must be one value, not a list"]
        ),
        (
            characteristic("properties: [read]\n        value: {base64: abc}\n"),
            ["8:25: error: base64 must be groups of four of A-Z, a-z, 0-9, + and /, with = at the end"]
        ),
        (
            characteristic(
                "properties: [read]\n        value: {text: \(String(repeating: "x", count: 513))}\n"),
            ["8:16: error: the value has 513 bytes, more than the maximum of 512"]
        ),
        (
            characteristic("properties: [read, write]\n        value: {text: abc}\n        maxLength: 2\n"),
            ["8:16: error: the value has 3 bytes, more than its maxLength of 2"]
        ),
        (
            characteristic("properties: [read]\n        value: {generate: heartrate}\n"),
            ["8:27: error: unknown generator \"heartrate\"; did you mean \"heart-rate\"?"]
        ),
        (
            characteristic("properties: [read]\n        value: {generate: heart-rate, mx: 4}\n"),
            ["8:39: error: unknown key \"mx\" in generate: heart-rate; did you mean \"max\"?"]
        ),
        (
            characteristic("properties: [read]\n        value: {generate: heart-rate, min: 100, max: 60}\n"),
            ["8:44: error: min is 100 and max is 60; swap them"]
        ),
        (
            characteristic("properties: [read]\n        value: {generate: heart-rate, period: 0 s}\n"),
            ["8:47: error: period must be at least 1 ms, not 0 s"]
        ),
        (
            characteristic("properties: [read]\n        value: {generate: heart-rate, max: 70000}\n"),
            ["8:44: error: max must be between 0 and 65535, not 70000"]
        ),
        (
            characteristic(
                "properties: [read, write]\n        value: {generate: heart-rate}\n        maxLength: 1\n"),
            ["8:16: error: the value has 2 bytes, more than its maxLength of 1"]
        ),
    ]

    private static func descriptor(_ fields: String, _ properties: String = "read") -> String {
        characteristic("properties: [\(properties)]\n        descriptors:\n          - {\(fields)}\n")
    }

    private static let descriptors = [
        (descriptor("value: {text: a}"), ["9:13: error: a descriptor needs a uuid"]),
        (
            descriptor("uuid: 290, permissions: {read: opn}"),
            [
                "9:20: error: descriptor \"290\" has 3 digits; a UUID has 4, 8 or 32 (8-4-4-4-12)",
                "9:45: error: unknown permission \"opn\"; did you mean \"open\"?",
            ]
        ),
        (
            descriptor("uuid: 2902"),
            ["9:20: error: the radio adds the descriptor 2902 for notify and indicate; leave it out"]
        ),
        (
            descriptor("uuid: characteristic-extended-properties"),
            [
                """
                9:20: error: the radio adds the descriptor 2900 for reliableWrite and writableAuxiliaries; \
                leave it out
                """
            ]
        ),
        (
            descriptor("uuid: 2901, properties: [notify]"),
            ["9:39: error: unknown property \"notify\"; known are read and write"]
        ),
        (descriptor("uuid: 2901, properties: []"), ["9:38: error: a descriptor needs read, write or both"]),
        (
            descriptor("uuid: 2901, permissions: {notify: open}"),
            ["9:40: error: unknown key \"notify\" in permissions; known are read and write"]
        ),
        (
            descriptor("uuid: 2901, permissions: {write: open}"),
            ["9:40: error: permissions.write has no effect: the descriptor has no write property"]
        ),
        (
            descriptor("uuid: 2904, value: {generate: heart-rate}"),
            ["9:33: error: a descriptor's value cannot be generated"]
        ),
        (
            descriptor("uuid: 2904, maxLength: 5"),
            ["9:26: warning: maxLength has no effect: 2904 is not writable"]
        ),
        (
            descriptor(
                "uuid: 2901, properties: [read, write], value: {text: abc}, maxLength: 2",
                "read, writableAuxiliaries"),
            ["9:60: error: the value has 3 bytes, more than its maxLength of 2"]
        ),
        (
            descriptor("uuid: 2901, properties: [read, write]"),
            [
                """
                9:13: warning: a writable 2901 needs the property writableAuxiliaries on its \
                characteristic; it was added
                """
            ]
        ),
        (
            descriptor("uuid: 2901}\n          - {uuid: 2901"),
            ["10:13: error: a characteristic can have only one 2901 descriptor"]
        ),
    ]

    @Test("each broken rule of services is said, where it is broken", arguments: services)
    func ofServices(_ text: String, _ said: [String]) {
        #expect(problems(text) == said)
    }

    @Test("each broken rule of characteristics is said, where it is broken", arguments: characteristics)
    func ofCharacteristics(_ text: String, _ said: [String]) {
        #expect(problems(text) == said)
    }

    @Test("each broken rule of values is said, where it is broken", arguments: values)
    func ofValues(_ text: String, _ said: [String]) {
        #expect(problems(text) == said)
    }

    @Test("each broken rule of descriptors is said, where it is broken", arguments: descriptors)
    func ofDescriptors(_ text: String, _ said: [String]) {
        #expect(problems(text) == said)
    }

    @Test("a device with more attributes than handles is refused")
    func handles() {
        let row = "{uuid: 2A19, properties: [notify]},"
        let text = head(
            "services: [{uuid: 180F, characteristics: [\(String(repeating: row, count: 21_700))]}]\n")
        #expect(
            problems(text) == [
                """
                3:11: error: the services need 65101 attribute handles; there are 65535, some of which the \
                radio needs
                """
            ])
    }

    @Test("every problem of a file is said at once, in its order")
    func allAtOnce() {
        let text = """
            mynah: 1
            nam: Test
            device: {appearance: heart-rat-belt}
            advertising:
              interval: 100
              localname: x
            services:
              - uuid: 1800
                characteristics:
                  - {uuid: 2A37, properties: [notify], every: 0 s}
              - uuid: batery
            """
        #expect(
            problems(text) == [
                "1:1: error: name is missing; add one, as in name: Heart rate monitor",
                "2:1: error: unknown key \"nam\" in a profile; did you mean \"name\"?",
                "3:22: error: unknown appearance \"heart-rat-belt\"; did you mean \"heart-rate-belt\"?",
                "5:13: error: interval has no unit; write 100 us, 100 ms, 100 s, 100 min or 100 h",
                "6:3: error: unknown key \"localname\" in advertising; did you mean \"localName\"?",
                "8:11: error: the radio adds the service 1800 itself; leave it out",
                "10:51: error: every must be at least 1 ms, not 0 s",
                "11:11: error: unknown service \"batery\"; did you mean \"battery\"?",
            ])
    }
}
