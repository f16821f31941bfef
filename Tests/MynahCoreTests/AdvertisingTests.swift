import MynahCore
import Testing

@Suite struct AdvertisingTests {
    @Test func `structures survive being written and read, whatever they hold`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let structures = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                ADStructure(
                    type: ADType(.random(in: 0...255, using: &random)),
                    data: (0..<Int.random(in: 0...254, using: &random)).map { _ in
                        .random(in: 0...255, using: &random)
                    })
            }
            let (read, rest) = [ADStructure].decode(structures.bytes)
            #expect(read == structures)
            #expect(rest == 0)
        }
    }

    @Test(
        arguments: [
            ([], 0, 0), ([2, 1, 6], 1, 0), ([2, 1], 0, 2), ([5], 0, 1), ([2, 1, 6, 9, 9, 65], 1, 3),
            ([2, 1, 6, 0, 0, 0], 1, 0), ([1, 9], 1, 0),
        ] as [([UInt8], Int, Int)])
    func `what is cut off is counted, and a zero ends it early`(bytes: [UInt8], count: Int, rest: Int) {
        let decoded = [ADStructure].decode(bytes)
        #expect(decoded.structures.count == count)
        #expect(decoded.rest == rest)
    }

    @Test func `any bytes at all can be taken apart`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let (structures, rest) = [ADStructure].decode(bytes)
            #expect(structures.byteCount + rest <= bytes.count)
        }
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
                field: "manufacturerData", needed: 29, available: 28, place: "advertising data")
        ) {
            try AccessoryAdvertising.compose(over)
        }
        let name = Self.advertisement { $0.localName = String(repeating: "n", count: 30) }
        #expect(
            throws: AdvertisementError(field: "localName", needed: 32, available: 31, place: "scan response")
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
}
