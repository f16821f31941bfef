import MynahCore
import MynahSupport
import Testing

@testable import MynahValues

/// AD structures in words (Core Specification Supplement, Part A).
@Suite struct ADNamesTests {
    private static func structures(_ hex: String) -> [ADStructure] {
        [ADStructure].decode(Hex.decode(hex) ?? []).structures
    }

    @Test(arguments: [
        ("020106", "Flags: general discoverable, no BR/EDR"), ("020100", "Flags: none set"),
        ("02011A", "Flags: general discoverable, simultaneous LE and BR/EDR"),
        ("05030D180F18", "16-bit service UUIDs: heart-rate, battery"),
        ("0409 4D79 72", "Complete Local Name: Myr"), ("0308 4D79", "Shortened Local Name: My"),
        ("020AF4", "Tx Power Level: -12 dBm"), ("0319 4103", "Appearance: heart-rate-belt"),
        ("05FF4C000215", "Manufacturer Specific Data: Apple, Inc. (0x004C)"),
        ("03FF5900", "Manufacturer Specific Data: Nordic Semiconductor ASA (0x0059)"),
        ("03FFFEFF", "Manufacturer Specific Data: 0xFFFE"), ("02FF4C", "Manufacturer Specific Data: cut off"),
        // The Fitness Machine Service's data: available, and an indoor bike.
        (
            "06162618012000",
            "Service Data: fitness-machine: machine available, indoor bike"
        ),
        ("06162618000000", "Service Data: fitness-machine"), ("04162618 01", "Service Data: fitness-machine"),
        // A measurement of the Cycling Power Service that is broadcast.
        ("07161818 0000C800", "Service Data: cycling-power: 200 W"),
        ("04160F1864", "Service Data: battery"), ("021626", "Service Data: cut off"),
        ("05120600FFFF", "Peripheral Connection Interval Range: 7.5 ms to any"),
        ("0212 06", "Peripheral Connection Interval Range: cut off"),
        ("031A A000", "Advertising Interval: 100 ms"),
        ("0924 172F2F61622E6364", "URI: https://ab.cd"), ("0124", "URI"), ("02306D", "AD type 0x30"),
    ])
    func `a structure is described`(hex: String, words: String) throws {
        let structure = try #require(Self.structures(hex.filter { $0 != " " }).first)
        #expect(ADNames.describe(structure) == words)
    }

    @Test func `the words and the bytes without words make a structure whole`() {
        let cases = [
            ("05FF4C000215", ["Manufacturer Specific Data", "Apple, Inc. (0x004C)", "0215"]),
            ("05030D180F18", ["16-bit service UUIDs", "Heart Rate, Battery", ""]),
            (
                "06162618012000",
                ["Service Data", "Fitness Machine: machine available, indoor bike", "012000"]
            ),
            ("02306D", ["AD type 0x30", "", "6D"]), ("020AF4", ["Tx Power Level", "-12 dBm", ""]),
        ]
        let names = ADNames(serviceName: AssignedNumbers.displayName(of:))
        for (hex, expected) in cases {
            let found = Self.structures(hex).map { structure in
                let (name, text) = names.words(of: structure)
                return [name, text, Hex.encode(ADNames.bytesWithoutWords(of: structure))]
            }
            #expect(found == [expected])
        }
    }

    @Test func `no data makes a description fail`() {
        for type in UInt8.min...UInt8.max {
            for count in 0...5 {
                let structure = ADStructure(
                    type: ADType(type), data: [UInt8](repeating: 0xFF, count: count))
                #expect(!ADNames.describe(structure).isEmpty)
            }
        }
    }
}
