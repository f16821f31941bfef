import MynahCore
import MynahTestSupport
import Testing

@Suite struct AdvertisingTests {
    @Test(arguments: 0..<500)
    func `structures are encoded and decoded unchanged`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let structures = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            ADStructure(type: ADType(.random(in: 0...255, using: &random)), data: random.bytes(upTo: 254))
        }
        let (read, rest) = [ADStructure].decode(structures.bytes)
        #expect(read == structures)
        #expect(rest == 0)
        #expect(structures.bytes.count == structures.byteCount)
    }

    @Test func `the longest structure has a length of 255`() {
        let longest = [ADStructure(type: ADType(0x24), data: Array(repeating: 7, count: 254))]
        #expect(longest.bytes.first == 255)
        #expect([ADStructure].decode(longest.bytes).structures == longest)
        #expect([ADStructure].decode(Array(longest.bytes.dropLast())).rest == 255)
    }

    @Test(
        arguments: [
            ([], 0, 0), ([2, 1, 6], 1, 0), ([2, 1], 0, 2), ([5], 0, 1), ([2, 1, 6, 9, 9, 65], 1, 3),
            ([2, 1, 6, 0, 0, 0], 1, 0), ([1, 9], 1, 0),
        ] as [([UInt8], Int, Int)])
    func `truncated bytes are counted, and a length of zero ends it`(bytes: [UInt8], count: Int, rest: Int) {
        let decoded = [ADStructure].decode(bytes)
        #expect(decoded.structures.count == count)
        #expect(decoded.rest == rest)
    }

    @Test(arguments: 0..<500)
    func `any bytes at all can be taken apart, and what was read is written the same`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(upTo: 64)
        let (structures, rest) = [ADStructure].decode(bytes)
        #expect(structures.byteCount + rest <= bytes.count)
        #expect(bytes.starts(with: structures.bytes))
        let zero = bytes.dropFirst(structures.byteCount).first
        #expect(rest > 0 || zero == nil || zero == 0)
    }

    static func advertisement(_ change: (inout Advertisement) -> Void) -> Advertisement {
        var advertisement = Advertisement()
        change(&advertisement)
        return advertisement
    }

    @Test func `an accessory's Flags come first, and its name last`() throws {
        let bytes = try AccessoryAdvertising.compose(
            Self.advertisement {
                $0.localName = "HRM"
                $0.serviceUUIDs = ["180D", "0000FEAA", "180F"]
                $0.manufacturerData = [.init(company: 0x0059, data: [1, 2])]
                $0.appearance = 0x0341
            })
        #expect(
            bytes.data == [
                ADStructure(type: .flags, data: [0x06]),
                ADStructure(type: ADType(0x03), data: [0x0D, 0x18, 0x0F, 0x18]),
                ADStructure(type: ADType(0x05), data: [0xAA, 0xFE, 0x00, 0x00]),
                ADStructure(type: .manufacturerSpecificData, data: [0x59, 0x00, 1, 2]),
                ADStructure(type: .appearance, data: [0x41, 0x03]),
                ADStructure(type: .completeLocalName, data: Array("HRM".utf8)),
            ])
        #expect(bytes.scanResponse.isEmpty)
    }

    @Test func `a name that does not fit whole goes to the scan response`() throws {
        let bytes = try AccessoryAdvertising.compose(
            Self.advertisement {
                $0.serviceUUIDs = ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"]
                $0.localName = "a longer name"
            })
        #expect(bytes.data.byteCount == 21)
        #expect(
            bytes.scanResponse == [ADStructure(type: .completeLocalName, data: Array("a longer name".utf8))])
    }

    @Test func `exactly 31 bytes fit, and one more names its field`() throws {
        let full = Self.advertisement {
            $0.manufacturerData = [.init(company: 1, data: Array(repeating: 0, count: 24))]
        }
        #expect(try AccessoryAdvertising.compose(full).data.byteCount == 31)
        let over = Self.advertisement {
            $0.manufacturerData = [.init(company: 1, data: Array(repeating: 0, count: 25))]
        }
        #expect(
            throws: AdvertisementError(
                field: "manufacturerData", needed: 29, available: 28, payload: .data)
        ) {
            try AccessoryAdvertising.compose(over)
        }
        let name = Self.advertisement { $0.localName = String(repeating: "n", count: 30) }
        #expect(
            throws: AdvertisementError(
                field: "localName", needed: 32, available: 31, payload: .scanResponse)
        ) {
            try AccessoryAdvertising.compose(name)
        }
    }

    @Test func `huge fields are refused, not written`() {
        let huge = Self.advertisement {
            $0.raw = [ADStructure(type: ADType(0x24), data: Array(repeating: 0, count: 70_000))]
        }
        #expect(throws: AdvertisementError.self) { try AccessoryAdvertising.compose(huge) }
    }

    @Test func `every field has its place and its bytes`() throws {
        let bytes = try AccessoryAdvertising.compose(
            Self.advertisement {
                $0.localName = ""
                $0.serviceUUIDs = ["180D"]
                $0.solicitedServiceUUIDs = ["1812"]
                $0.manufacturerData = [.init(company: 0x0059, data: [0xAA])]
                $0.serviceData = [.init(uuid: "180F", data: [0x64])]
                $0.appearance = 0x0341
                $0.txPower = .radio
                $0.raw = [ADStructure(type: ADType(0x24), data: [0x0A])]
            })
        #expect(
            bytes.data.bytes == [
                0x02, 0x01, 0x06, 0x03, 0x03, 0x0D, 0x18, 0x03, 0x14, 0x12, 0x18, 0x04, 0xFF, 0x59, 0x00,
                0xAA,
                0x04, 0x16, 0x0F, 0x18, 0x64, 0x03, 0x19, 0x41, 0x03, 0x02, 0x0A, 0x00, 0x02, 0x24, 0x0A,
            ])
        #expect(bytes.data.byteCount == 31)
        #expect(bytes.scanResponse.isEmpty)
    }

    @Test(arguments: BluetoothUUID.Width.allCases)
    func `each width of a UUID has AD types of its own`(width: BluetoothUUID.Width) {
        let types = [
            ADType.serviceUUIDs(width, isComplete: false), .serviceUUIDs(width, isComplete: true),
            .solicitedServiceUUIDs(width), .serviceData(width),
        ].map(\.rawValue)
        switch width {
        case .bits16: #expect(types == [0x02, 0x03, 0x14, 0x16])
        case .bits32: #expect(types == [0x04, 0x05, 0x1F, 0x20])
        case .bits128: #expect(types == [0x06, 0x07, 0x15, 0x21])
        }
    }

    static let tooLong: [(field: String, needed: Int, change: @Sendable (inout Advertisement) -> Void)] = [
        (
            "serviceUUIDs", 34,
            {
                $0.serviceUUIDs =
                    ["180D", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "12345678"] + Self.shortUUIDs(3)
            }
        ),
        ("solicitedServiceUUIDs", 30, { $0.solicitedServiceUUIDs = Self.shortUUIDs(14) }),
        ("serviceData", 30, { $0.serviceData = [.init(uuid: "180F", data: Array(repeating: 1, count: 26))] }),
        (
            "manufacturerData", 32,
            { $0.manufacturerData = (0..<4).map { .init(company: $0, data: [1, 2, 3, 4]) } }
        ),
        (
            "appearance", 4,
            {
                $0.serviceUUIDs = Self.shortUUIDs(12)
                $0.appearance = 0x0341
                $0.txPower = .radio
            }
        ),
        (
            "txPower", 3,
            {
                $0.serviceUUIDs = Self.shortUUIDs(12)
                $0.txPower = .radio
            }
        ),
    ]

    static func shortUUIDs(_ count: UInt16) -> [BluetoothUUID] {
        (0..<count).map { BluetoothUUID(0x1800 + $0) }
    }

    @Test(arguments: tooLong.indices)
    func `the field that does not fit is the one that is named`(index: Int) {
        let (field, needed, change) = Self.tooLong[index]
        let error = #expect(throws: AdvertisementError.self) {
            try AccessoryAdvertising.compose(Self.advertisement(change))
        }
        #expect(error?.field == field)
        #expect(error?.needed == needed)
        #expect(error?.payload == .data)
        #expect(error?.description.contains(" of 31 are left in the advertising data") == true)
    }

    @Test func `exact bytes go out as they are, if they fit`() throws {
        let exact = ExactAdvertisement(
            data: [ADStructure(type: .flags, data: [0x1A])],
            scanResponse: [ADStructure(type: ADType(0xFF), data: Array(repeating: 0, count: 29))])
        #expect(
            try AccessoryAdvertising.compose(
                Self.advertisement {
                    $0.exact = exact
                    $0.localName = "not asked for"
                }) == exact)
        #expect(
            throws: AdvertisementError(field: "exact", needed: 302, available: 31, payload: .scanResponse)
        ) {
            try AccessoryAdvertising.compose(
                Self.advertisement {
                    $0.exact = ExactAdvertisement(
                        data: [],
                        scanResponse: [ADStructure(type: ADType(0xFF), data: Array(repeating: 0, count: 300))]
                    )
                })
        }
    }
}
