import MynahCore
import MynahSupport
import Testing

@Suite struct AssignedNumbersTests {
    @Test(
        arguments: [
            (0x1800, "generic-access"), (0x180A, "device-information"), (0x180D, "heart-rate"),
            (0x180F, "battery"), (0x181A, "environmental-sensing"), (0x1823, "http-proxy"),
            (0x1829, "reconnection-configuration"), (0x183A, "insulin-delivery"), (0x185B, "ranging"),
            (0x1860, "tire-pressure-monitoring-system"),
        ] as [(UInt16, String)])
    func `services have the SIG's numbers`(number: UInt16, name: String) {
        #expect(AssignedNumbers.service(named: name)?.assignedNumber == number)
        #expect(AssignedNumbers.service(named: name)?.width == .bits16)
    }

    @Test(
        arguments: [
            (0x2A00, "device-name"), (0x2A19, "battery-level"), (0x2A1C, "temperature-measurement"),
            (0x2A29, "manufacturer-name-string"),
            (0x2A2A, "ieee-11073-20601-regulatory-certification-data-list"),
            (0x2A37, "heart-rate-measurement"), (0x2A38, "body-sensor-location"),
            (0x2A39, "heart-rate-control-point"), (0x2A50, "pnp-id"),
            (0x2A5E, "plx-spot-check-measurement"), (0x2A6E, "temperature"), (0x2A6F, "humidity"),
            (0x2AA1, "magnetic-flux-density-3d"), (0x2AFF, "luminous-flux"), (0x2B00, "luminous-flux-range"),
            (0x2B29, "client-supported-features"), (0x2BD6, "particulate-matter-pm2-5-concentration"),
            (0x2C41, "tpms-signing-key"),
        ] as [(UInt16, String)])
    func `characteristics have the SIG's numbers`(number: UInt16, name: String) {
        #expect(AssignedNumbers.characteristic(named: name)?.assignedNumber == number)
    }

    @Test(
        arguments: [
            (0x2900, "characteristic-extended-properties"), (0x2901, "characteristic-user-description"),
            (0x2902, "client-characteristic-configuration"), (0x2904, "characteristic-presentation-format"),
            (0x2908, "report-reference"), (0x2917, "cooking-trigger-setting"),
        ] as [(UInt16, String)])
    func `descriptors have the SIG's numbers`(number: UInt16, name: String) {
        #expect(AssignedNumbers.descriptor(named: name)?.assignedNumber == number)
    }

    @Test(
        arguments: [
            (0x0000, "unknown"), (0x0040, "phone"), (0x00C2, "smartwatch"), (0x0341, "heart-rate-belt"),
            (0x03C1, "keyboard"), (0x04C0, "control-device"), (0x04C1, "switch"), (0x0500, "network-device"),
            (0x0680, "humidifier"), (0x0602, "hvac-humidifier"), (0x0A40, "hearing-aid"),
            (0x0C41, "fingertip-pulse-oximeter"), (0x1444, "location-and-navigation-pod"),
        ] as [(UInt16, String)])
    func `appearances have the SIG's numbers`(number: UInt16, name: String) {
        #expect(AssignedNumbers.appearance(named: name) == number)
        #expect(AssignedNumbers.appearanceName(of: number) == name)
    }

    @Test(arguments: [
        "heart-rate", "heart_rate", "Heart Rate", "HEART-RATE", "heart-rate-service", "Heart Rate Service",
        "org.bluetooth.service.heart_rate",
    ])
    func `a name may be written in other ways`(text: String) {
        #expect(AssignedNumbers.service(named: text) == "180D")
    }

    @Test func `the SIG's dotted identifiers are names of every kind`() {
        let characteristic = AssignedNumbers.characteristic(named:)
        #expect(characteristic("org.bluetooth.characteristic.gap.device_name") == "2A00")
        #expect(characteristic("org.bluetooth.characteristic.gatt.service_changed") == "2A05")
        #expect(characteristic("heart-rate-measurement-characteristic") == "2A37")
        #expect(
            AssignedNumbers.descriptor(named: "org.bluetooth.descriptor.gatt.characteristic_user_description")
                == "2901")
        #expect(AssignedNumbers.service(named: "org.bluetooth.service.battery_service") == "180F")
    }

    @Test(arguments: [
        "", "-", "hart-rate", "heart-rate-", "-heart-rate", "heart-rat", "heart-rate!", "heart-rate\u{301}",
        "heart\nrate", "service", "-service", "heart-rate-characteristic",
        "org.bluetooth.characteristic.heart_rate", "heart-rate-measurement", "180D",
    ])
    func `a text that is not a service's name finds none`(text: String) {
        #expect(AssignedNumbers.service(named: text) == nil)
    }

    @Test func `every name finds its number and every number its name`() {
        for name in AssignedNumbers.serviceNames {
            #expect(AssignedNumbers.service(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
        for name in AssignedNumbers.characteristicNames {
            #expect(
                AssignedNumbers.characteristic(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
        for name in AssignedNumbers.descriptorNames {
            #expect(AssignedNumbers.descriptor(named: name).flatMap { AssignedNumbers.name(of: $0) } == name)
        }
        for name in AssignedNumbers.appearanceNames {
            #expect(
                AssignedNumbers.appearance(named: name).flatMap { AssignedNumbers.appearanceName(of: $0) }
                    == name)
        }
    }

    // A name that stood twice would find one number twice, and a table out of order would not be searched by
    // halves.
    @Test func `the numbers rise, and no name is there twice`() {
        let services = AssignedNumbers.serviceNames.map { AssignedNumbers.service(named: $0)?.assignedNumber }
        let characteristics = AssignedNumbers.characteristicNames.map {
            AssignedNumbers.characteristic(named: $0)?.assignedNumber
        }
        let descriptors = AssignedNumbers.descriptorNames.map {
            AssignedNumbers.descriptor(named: $0)?.assignedNumber
        }
        let appearances = AssignedNumbers.appearanceNames.map { AssignedNumbers.appearance(named: $0) }
        let counted = [(services, 76), (characteristics, 534), (descriptors, 24), (appearances, 319)]
        for (numbers, count) in counted {
            let known = numbers.compactMap { $0 }
            #expect(known.count == count)
            #expect(numbers.count == count)
            #expect(zip(known, known.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test func `every number of 16 bits can be asked for`() {
        var named = 0
        // All of the ranges that have names, and some of every other: all of them take a debug build ten
        // seconds.
        let numbers =
            Array(UInt16(0x1700)...0x2D00) + stride(from: UInt16(0), to: 0x1700, by: 101)
            + stride(from: UInt16(0x2D01), to: .max, by: 101) + [.max]
        for number in numbers where AssignedNumbers.name(of: BluetoothUUID(number)) != nil { named += 1 }
        #expect(named == 76 + 534 + 24)
        #expect(AssignedNumbers.appearanceName(of: .max) == nil)
    }

    @Test func `display names have the SIG's own spelling, for every width`() {
        #expect(AssignedNumbers.displayName(of: "2A37") == "Heart Rate Measurement")
        #expect(AssignedNumbers.displayName(of: "00002A50-0000-1000-8000-00805F9B34FB") == "PnP ID")
        #expect(AssignedNumbers.displayName(of: "2BD6") == "Particulate Matter - PM2.5 Concentration")
        #expect(AssignedNumbers.displayName(of: "FFF0") == nil)
        #expect(AssignedNumbers.displayName(of: "12345678") == nil)
    }

    @Test func `UUIDs of Nordic and Apple have a display name`() {
        #expect(AssignedNumbers.displayName(of: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E") == "Nordic UART")
        #expect(AssignedNumbers.name(of: "6e400003-b5a3-f393-e0a9-e50e24dcca9e") == "nordic-uart-tx")
        #expect(AssignedNumbers.vendor(named: "Nordic-uart-tx") == "6e400003-b5a3-f393-e0a9-e50e24dcca9e")
        #expect(AssignedNumbers.vendor(named: "nordic") == nil)
        #expect(
            AssignedNumbers.name(of: "7905F431-B5CE-4E99-A40F-4B1E122D00D0") == "apple-notification-center")
        #expect(AssignedNumbers.name(of: "6E400004-B5A3-F393-E0A9-E50E24DCCA9E") == nil)
    }

    @Test(arguments: [
        ("hart-rate-measurment", "heart-rate-measurement"), ("body-senser-location", "body-sensor-location"),
        ("batery-level", "battery-level"),
    ])
    func `a slip is near the name that was meant, among all of them`(text: String, name: String) {
        #expect(NearestName.of(text, among: AssignedNumbers.characteristicNames) == name)
    }
}
