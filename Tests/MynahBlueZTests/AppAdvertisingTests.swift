import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahBlueZ

/// The advertising of an iPhone, with a bluetoothd that composes the bytes itself.
@Suite(.timeLimit(.minutes(15))) struct AppAdvertisingTests {
    private static let flags = ADStructure(type: .flags, data: [0x1A])
    private static let mask = OverflowArea(["FD64"]).structure
    private static let maskBytes = "14FF4C000100000000000000000000080000000000"
    private static let own: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"

    private static func list(_ uuids: BluetoothUUID..., isComplete: Bool = true) -> ADStructure {
        ADStructure(
            type: .serviceUUIDs(uuids.first?.width ?? .bits16, isComplete: isComplete),
            data: uuids.flatMap(\.littleEndianBytes))
    }

    private static func name(_ text: String, isWhole: Bool = true) -> ADStructure {
        ADStructure(type: isWhole ? .completeLocalName : .shortenedLocalName, data: Array(text.utf8))
    }

    private static func exact(
        _ data: [ADStructure], _ scanResponse: [ADStructure] = [], every interval: Duration? = nil
    ) -> Advertisement {
        var advertisement = Advertisement()
        advertisement.exact = ExactAdvertisement(data: [flags] + data, scanResponse: scanResponse)
        advertisement.interval = interval
        return advertisement
    }

    private static let foreground = exact(
        [list(own, isComplete: false), name("LightBlu", isWhole: false)], [mask], every: .milliseconds(30))
    private static let background = exact([], [mask], every: .microseconds(181_250))

    // MARK: Place

    @Test func `from 5.80 on the overflow area is in the scan response, as on an iPhone`() async throws {
        let rig = try await Rig(StandInConfiguration(.trixie))
        let report = try await rig.radio.advertise(Self.background)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(Hex.encode(onAir.data) == "020106")
        #expect(Hex.encode(onAir.scanResponse) == Self.maskBytes)
        #expect(onAir.interval == 181...181)
        #expect(report.data == onAir.data)
        #expect(report.scanResponse == onAir.scanResponse)
        #expect(report.interval == .microseconds(180_625)...(.microseconds(180_625)))
        #expect(report.omitted.map(\.item) == ["flags", "order", "interval"])
        #expect(await rig.violations() == [])
    }

    @Test func `before 5.80 it is in the advertising data, and that is said`() async throws {
        let rig = try await Rig()
        let report = try await rig.radio.advertise(Self.background)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(Hex.encode(onAir.data) == Self.maskBytes + "020106")
        #expect(onAir.scanResponse == [])
        #expect(report.data == onAir.data)
        #expect(report.omitted.map(\.item) == ["flags", "scanResponse", "order", "interval"])
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [false, true])
    func `an app in the background gives bluetoothd no name and no UUID`(placesScanResponse: Bool) throws {
        let advertising = try BlueZAdvertising(
            Self.background, keepsInterval: true, placesScanResponse: placesScanResponse)
        let names = placesScanResponse ? "ScanResponseManufacturerData" : "ManufacturerData"
        #expect(
            Set(advertising.properties.keys) == ["Type", "Discoverable", "MinInterval", "MaxInterval", names])
        #expect(advertising.properties["MinInterval"] == .uint32(181))
        #expect(advertising.properties["MaxInterval"] == .uint32(181))
    }

    // MARK: Room

    @Test(arguments: [false, true])
    func `beside an overflow area bluetoothd has no place for Nearby Info`(placesScanResponse: Bool) throws {
        let info = NearbyInfo([0x07, 0x1E, 0xA3, 0xDD, 0x89, 0xE0]).structure
        var nearest = NearestAdvertisement(
            ExactAdvertisement(data: [Self.flags, info], scanResponse: [Self.mask]), isConnectable: true,
            placesScanResponse: placesScanResponse)
        nearest.leaveOutWhatDoesNotFit()
        #expect(nearest.omitted.contains { $0.item == "phone.nearbyInfo" })
        #expect(!nearest.lost.contains { $0.item == "overflowArea" })
    }

    @Test func `the name is beside the overflow area from 5.80 on`() async throws {
        let rig = try await Rig(StandInConfiguration(.trixie))
        let report = try await rig.radio.advertise(Self.foreground)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(onAir.data.count == 21)
        #expect(Hex.encode(onAir.scanResponse) == Self.maskBytes + "09094C69676874426C75")
        #expect(report.scanResponse == onAir.scanResponse)
        #expect(report.omitted.map(\.item) == ["flags", "serviceUUIDs", "localName", "localName", "order"])
        #expect(await rig.violations() == [])
    }

    @Test func `before 5.80 there is no room for the overflow area beside a 128-bit UUID`() async throws {
        let rig = try await Rig()
        let report = try await rig.radio.advertise(Self.foreground)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(report.data == onAir.data)
        #expect(report.omitted.map(\.item).contains("overflowArea"))
        #expect([ADStructure].decode(onAir.data).structures.allSatisfy { OverflowArea($0) == nil })
        #expect(await rig.violations() == [])
    }

    @Test func `a name that leaves the overflow area no room moves it before the scan response`() throws {
        let wish = Self.exact([Self.list("180D"), Self.name("A name of twenty-two !")], [Self.mask])
        let advertising = try BlueZAdvertising(wish, keepsInterval: true, placesScanResponse: true)
        #expect(Hex.encode(advertising.data.bytes) == "03030D18" + Self.maskBytes + "020106")
        #expect(advertising.scanResponse == [Self.name("A name of twenty-two !")])
        #expect(advertising.lost == [])
        #expect(advertising.report.omitted.map(\.item).contains("scanResponse"))
    }

    @Test func `where neither has room the name is cut between characters`() throws {
        let uuids = Self.list("1800", "1801", "1802", "1803", "1804")
        let wish = Self.exact([uuids, Self.name("Mynäh ü à ô")], [Self.mask])
        let advertising = try BlueZAdvertising(wish, keepsInterval: true, placesScanResponse: true)
        #expect(advertising.scanResponse == [Self.mask, Self.name("Mynäh ")])
        #expect(advertising.lost.map(\.item) == ["localName"])
        #expect(advertising.report.omitted.map(\.item).contains("localName"))
    }

    @Test func `an iPhone's advertising is sent whole, or the lost fields are reported`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let wish = random.iPhone()
            let places = Bool.random(using: &random)
            let advertising = try BlueZAdvertising(wish, keepsInterval: true, placesScanResponse: places)
            let report = advertising.report
            #expect(report.data.count <= 31 && report.scanResponse.count <= 31)
            let sent = [report.data, report.scanResponse].flatMap { [ADStructure].decode($0).structures }
            let lost = advertising.lost.map(\.item)
            #expect(Set(lost).isSubset(of: report.omitted.map(\.item)))
            let asked = (wish.exact?.data ?? []) + (wish.exact?.scanResponse ?? [])
            #expect(
                asked.compactMap { OverflowArea($0) } == sent.compactMap { OverflowArea($0) }
                    || lost == ["overflowArea"])
            let names = asked.filter { [0x08, 0x09].contains($0.type.rawValue) }.map(\.data)
            #expect(
                names == sent.filter { $0.type == .completeLocalName }.map(\.data) || lost == ["localName"])
            if lost == ["localName"] {
                // As much of it as there is room for.
                #expect(report.scanResponse.count == 31)
                #expect(
                    sent.contains {
                        $0.type == .completeLocalName && names.first?.starts(with: $0.data) == true
                    })
            }
            let uuids = asked.filter { (0x02...0x07).contains($0.type.rawValue) }.map(\.data)
            #expect(uuids == sent.filter { (0x02...0x07).contains($0.type.rawValue) }.map(\.data))
        }
    }

    // MARK: Transitions

    @Test(arguments: [StandInConfiguration(.bookworm), StandInConfiguration(.trixie)])
    func `the way to the background and back is on the air at each step`(
        configuration: StandInConfiguration
    ) async throws {
        let rig = try await Rig(configuration)
        for wish in [Self.foreground, Self.background, Self.exact([Self.name("Fred")]), Self.background] {
            let report = try await rig.radio.advertise(wish)
            try await rig.standIn.wait("the reported advertising data is on the air") {
                $0.advertisements().first?.data == report.data
            }
            try await rig.standIn.wait("the reported scan response is on the air") {
                $0.advertisements().first?.scanResponse == report.scanResponse
            }
            #expect(await rig.standIn.advertisementCount() == 1)
        }
        #expect(await rig.violations() == [])
    }

    @Test func `another scan response is registered anew, as no live update is looked at`() throws {
        let first = try BlueZAdvertising(Self.foreground, keepsInterval: true, placesScanResponse: true)
        let second = try BlueZAdvertising(
            Self.exact([Self.name("Fred")]), keepsInterval: true, placesScanResponse: true)
        var machine = AdvertisementMachine()
        machine.reached()
        machine.want(first)
        #expect(machine.next(at: .zero) == .register(first))
        #expect(machine.registered() == nil)
        machine.want(second)
        #expect(machine.next(at: .zero) == .unregister)
        #expect(machine.next(at: .zero) == .register(second))
        #expect(machine.registered() == nil)
        var renamed = second.advertisement
        renamed.localName = "Frida"
        let third = try BlueZAdvertising(renamed, keepsInterval: true, placesScanResponse: true)
        machine.want(third)
        #expect(machine.next(at: .zero) == .change(from: second, to: third))
        machine.want(first)
        #expect(machine.next(at: .milliseconds(100)) == .wait(.milliseconds(200)))
        #expect(machine.next(at: .milliseconds(300)) == .unregister)
    }

    // MARK: Any bytes

    @Test func `each field has its own property in the scan response`() async throws {
        let scanResponse = [
            Self.list("180D"), ADStructure(type: .solicitedServiceUUIDs(.bits16), data: [0x12, 0x18]),
            ADStructure(type: .manufacturerSpecificData, data: [0x59, 0, 1]),
            ADStructure(type: .serviceData(.bits16), data: [0x0F, 0x18, 0x64]),
            ADStructure(type: ADType(0x24), data: [0x16]),
        ]
        let wish = Self.exact([], scanResponse)
        let advertising = try BlueZAdvertising(wish, keepsInterval: true, placesScanResponse: true)
        #expect(
            advertising.properties.filter { $0.key.hasPrefix("ScanResponse") } == [
                "ScanResponseServiceUUIDs": .strings(["180D"]),
                "ScanResponseSolicitUUIDs": .strings(["1812"]),
                "ScanResponseManufacturerData": .dictionary(
                    key: "q", value: "v", [.init(.uint16(0x0059), .variant(.bytes([1])))]),
                "ScanResponseServiceData": .dictionary(
                    key: "s", value: "v", [.init(.string("180F"), .variant(.bytes([0x64])))]),
                "ScanResponseData": .dictionary(
                    key: "y", value: "v", [.init(.byte(0x24), .variant(.bytes([0x16])))]),
            ])
        let rig = try await Rig(StandInConfiguration(.trixie))
        let report = try await rig.radio.advertise(wish)
        #expect(Hex.encode(report.scanResponse) == Hex.encode(scanResponse.bytes))
        #expect(await rig.standIn.advertisements().first?.scanResponse == report.scanResponse)
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [0x0A, 0x0D, 0x12, 0x1A, 0x1C, 0x27, 0x3D] as [UInt8])
    func `a type that bluetoothd refuses is left out and named`(type: UInt8) async throws {
        let rig = try await Rig()
        var advertisement = Advertisement.named("Mynah")
        advertisement.raw = [ADStructure(type: ADType(type), data: [1])]
        let report = try await rig.radio.advertise(advertisement)
        #expect(report.omitted.map(\.item) == ["raw[0]"])
        #expect(await rig.standIn.advertisements().first?.data == report.data)
        #expect(await rig.violations() == [])
    }
}

extension SeededGenerator {
    /// Random advertising of an iPhone: UUIDs and a name in 28 bytes, or the name in 10 of the scan
    /// response, and the mask.
    fileprivate mutating func iPhone() -> Advertisement {
        var data = [ADStructure(type: .flags, data: [0x1A])]
        var scanResponse: [ADStructure] = []
        if Bool.random(using: &self) {
            let count = Int.random(in: 1...13, using: &self)
            let uuids = (0..<count).map { _ in BluetoothUUID(UInt16.random(in: 0...UInt16.max, using: &self))
            }
            data.append(
                ADStructure(
                    type: .serviceUUIDs(.bits16, isComplete: Bool.random(using: &self)),
                    data: uuids.flatMap(\.littleEndianBytes)))
        } else if Bool.random(using: &self) {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &self) }
            data.append(ADStructure(type: .serviceUUIDs(.bits128, isComplete: true), data: bytes))
        }
        let room = max(31 - data.byteCount, 10) - 2
        if room > 0, Bool.random(using: &self) {
            let name = String(repeating: "n", count: Int.random(in: 1...room, using: &self))
            let structure = ADStructure(type: .completeLocalName, data: Array(name.utf8))
            if data.byteCount + structure.byteCount <= 31 {
                data.append(structure)
            } else {
                scanResponse.append(structure)
            }
        }
        if Bool.random(using: &self) {
            scanResponse.append(
                OverflowArea([BluetoothUUID(UInt16.random(in: 0...99, using: &self))]).structure)
        }
        var advertisement = Advertisement()
        advertisement.exact = ExactAdvertisement(data: data, scanResponse: scanResponse)
        return advertisement
    }
}
