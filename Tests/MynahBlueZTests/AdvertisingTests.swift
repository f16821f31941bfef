import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AdvertisingTests {
    private static let everything: Advertisement = {
        var advertisement = Advertisement.named("Mynah", ["180D", "0000180F-0000-1000-8000-00805F9B34FB"])
        advertisement.solicitedServiceUUIDs = ["1812"]
        advertisement.manufacturerData = [.init(company: 0x0059, data: [1, 2])]
        advertisement.serviceData = [.init(uuid: "180F", data: [0x64])]
        advertisement.appearance = 0x0341
        advertisement.raw = [ADStructure(type: ADType(0x24), data: [0x0A])]
        return advertisement
    }()

    private static let txPower: Advertisement = {
        var advertisement = Advertisement.named("Mynah")
        advertisement.txPower = .radio
        return advertisement
    }()

    private static let own: Advertisement = .named("", ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])

    @Test(arguments: [everything, txPower, own, .named("A name of twenty-nine letters"), Advertisement()])
    func `the bytes are those that bluetoothd sends`(advertisement: Advertisement) async throws {
        let rig = try await Rig()
        let report = try await rig.radio.advertise(advertisement)
        let onAir = try #require(await rig.standIn.advertisements().first)
        #expect(Hex.encode(report.data) == Hex.encode(onAir.data))
        #expect(Hex.encode(report.scanResponse) == Hex.encode(onAir.scanResponse))
        #expect(report.isConnectable == onAir.isConnectable)
        #expect(await rig.violations() == [])
    }

    @Test func `the Flags stand last and the name in the scan response`() throws {
        let report = try BlueZAdvertising(.named("Hi"), keepsInterval: true).report
        #expect(Hex.encode(report.data) == "03030D18020106")
        #expect(Hex.encode(report.scanResponse) == "03094869")
        #expect(report.omitted == [])
    }

    @Test func `a UUID that is sent shorter than it was written is named`() throws {
        let report = try BlueZAdvertising(Self.everything, keepsInterval: true).report
        #expect(report.omitted.map(\.item) == ["serviceUUIDs[1]"])
    }

    @Test func `fields that do not fit are reported and never sent to bluetoothd`() async throws {
        let rig = try await Rig()
        var long = Advertisement.named("Mynah")
        long.manufacturerData = [.init(company: 0x0059, data: [UInt8](repeating: 0, count: 21))]
        let radio = rig.radio
        let refused = long
        let error = await radioError { () async throws(RadioError) in _ = try await radio.advertise(refused) }
        #expect(error?.code == .advertisementRefused)
        #expect(error?.message.contains("manufacturerData takes 25 bytes and 24 of 31") == true)
        // Neither is a live change.
        _ = try await rig.radio.advertise(.named("Mynah"))
        #expect(
            await radioError { () async throws(RadioError) in _ = try await radio.advertise(refused) } != nil)
        #expect(await rig.standIn.hasAborted == false)
        #expect(await Hex.encode(rig.standIn.advertisements().first?.data ?? []) == "03030D18020106")
        #expect(await rig.violations() == [])
    }

    @Test func `a live change goes on the air without another registration`() async throws {
        let rig = try await Rig()
        _ = try await rig.radio.advertise(.named("first"))
        let report = try await rig.radio.advertise(.named("second", ["180F", "180D"]))
        try await rig.standIn.wait("the reported advertising data is on the air") {
            $0.advertisements().first?.data == report.data
        }
        #expect(await rig.standIn.advertisements().first?.scanResponse == report.scanResponse)
        var bare = Advertisement()
        bare.manufacturerData = [.init(company: 0x0059, data: [1])]
        let last = try await rig.radio.advertise(bare)
        try await rig.standIn.wait("the last advertising data is on the air") {
            $0.advertisements().first?.data == last.data
        }
        #expect(await rig.standIn.advertisements().first?.scanResponse == [])
        #expect(await rig.violations() == [])
    }

    @Test func `an interval that is ignored is warned of once`() async throws {
        let rig = try await Rig()
        var advertisement = Advertisement.named("Mynah")
        advertisement.interval = .milliseconds(100)
        let report = try await rig.radio.advertise(advertisement)
        #expect(report.interval == nil)
        #expect(report.omitted.map(\.item) == ["interval"])
        advertisement.localName = "other"
        _ = try await rig.radio.advertise(advertisement)
        #expect(rig.sink.words("warning") == ["warning intervalIgnored"])
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [true, false])
    func `an interval that is kept goes out as it was asked for`(isExperimental: Bool) async throws {
        var configuration = StandInConfiguration(isExperimental ? .bookworm : .trixie)
        configuration.isExperimental = isExperimental
        let rig = try await Rig(configuration)
        var advertisement = Advertisement.named("Mynah")
        advertisement.interval = .milliseconds(100)
        let report = try await rig.radio.advertise(advertisement)
        #expect(report.interval == .milliseconds(100)...(.milliseconds(100)))
        #expect(await rig.standIn.advertisements().first?.interval == 100...100)
        #expect(rig.sink.words("warning") == [])
        #expect(await rig.violations() == [])
    }

    @Test func `an interval is told in the steps that are sent`() throws {
        var advertisement = Advertisement.named("Mynah")
        advertisement.interval = .microseconds(181_250)
        #expect(
            try BlueZAdvertising(advertisement, keepsInterval: true).report.interval
                == .microseconds(180_625)...(.microseconds(180_625)))
        advertisement.interval = .milliseconds(5)
        let short = try BlueZAdvertising(advertisement, keepsInterval: true).report
        #expect(short.interval == .milliseconds(20)...(.milliseconds(20)))
        #expect(short.omitted.map(\.item) == ["interval"])
    }

    @Test func `every advertising set taken is an error of its own`() async throws {
        var configuration = StandInConfiguration()
        configuration.maximumAdvertisements = 0
        let rig = try await Rig(configuration)
        let radio = rig.radio
        let error = await radioError { () async throws(RadioError) in
            _ = try await radio.advertise(.named("Mynah"))
        }
        #expect(error?.code == .noAdvertisingSet)
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [Advertisement.named("Mynah"), Advertisement()])
    func `a second phone finds the device while the first is connected`(advertisement: Advertisement)
        async throws
    {
        let rig = try await Rig()
        _ = try await rig.radio.advertise(advertisement)
        try await rig.standIn.central("F0:F1:F2:F3:F4:F5").connect()
        try await rig.sink.wait(for: "connected")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await rig.standIn.central("F0:F1:F2:F3:F4:F6").connect()
        try await rig.sink.wait(for: "connected", count: 2)
        #expect(await rig.violations() == [])
    }

    @Test func `raw structures that bluetoothd makes itself are left out and named`() async throws {
        let rig = try await Rig()
        var advertisement = Advertisement.named("Mynah")
        advertisement.raw = [
            ADStructure(type: .completeLocalName, data: [0x61]), ADStructure(type: ADType(0x24), data: [1]),
        ]
        let report = try await rig.radio.advertise(advertisement)
        #expect(report.omitted.map(\.item) == ["raw[0]"])
        #expect(await rig.standIn.advertisements().first?.data == report.data)
        #expect(await rig.violations() == [])
    }

    @Test func `exact bytes become the nearest thing, and the rest is named`() async throws {
        let rig = try await Rig()
        var advertisement = Advertisement()
        advertisement.exact = ExactAdvertisement(
            data: [
                ADStructure(type: .flags, data: [0x1A]),
                ADStructure(type: .serviceUUIDs(.bits16, isComplete: true), data: [0x0D, 0x18]),
                ADStructure(type: .completeLocalName, data: [0x61]),
            ],
            scanResponse: [
                ADStructure(
                    type: .manufacturerSpecificData, data: [0x4C, 0, 1] + [UInt8](repeating: 0, count: 16))
            ])
        let report = try await rig.radio.advertise(advertisement)
        #expect(report.omitted.map(\.item) == ["flags", "localName", "scanResponse", "order"])
        #expect(
            Hex.encode(report.data) == "03030D1814FF4C0001" + String(repeating: "00", count: 16) + "020106")
        #expect(Hex.encode(report.scanResponse) == "020961")
        #expect(await rig.standIn.advertisements().first?.data == report.data)
        #expect(await rig.violations() == [])
    }

    @Test func `each limit that exact bytes meet is warned of once`() async throws {
        let rig = try await Rig()
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(100)
        advertisement.exact = ExactAdvertisement(
            data: [
                ADStructure(type: .flags, data: [0x1A]),
                ADStructure(type: .completeLocalName, data: [0x61]),
            ], scanResponse: [])
        _ = try await rig.radio.advertise(advertisement)
        advertisement.exact?.data[1] = ADStructure(type: .completeLocalName, data: [0x62])
        _ = try await rig.radio.advertise(advertisement)
        let warnings = rig.sink.events.compactMap { event -> String? in
            guard case .warning(let warning) = event else { return nil }
            return "\(warning.code): \(warning.message)"
        }
        #expect(
            warnings == [
                """
                intervalIgnored: bluetoothd ignores the advertising interval; it uses it from 5.77 on, or \
                if started with --experimental
                """,
                "notExact: on the air, flags: bluetoothd sends Flags 06, not 1A",
                "notExact: on the air, localName: bluetoothd sends the name in the scan response",
                "notExact: on the air, order: bluetoothd orders the AD structures itself",
            ])
        #expect(await rig.violations() == [])
    }

    @Test func `of exact bytes what does not fit is left out`() throws {
        var advertisement = Advertisement()
        advertisement.exact = ExactAdvertisement(
            data: [ADStructure(type: .manufacturerSpecificData, data: [UInt8](repeating: 1, count: 20))],
            scanResponse: [
                ADStructure(type: .manufacturerSpecificData, data: [UInt8](repeating: 2, count: 20))
            ])
        let report = try BlueZAdvertising(advertisement, keepsInterval: true).report
        #expect(report.data.count <= 31)
        #expect(report.omitted.map(\.item).contains("manufacturerData"))
    }
}
