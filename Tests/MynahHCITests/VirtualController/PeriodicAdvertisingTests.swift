import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

/// Periodic advertising between two controllers, as their hosts see it.
@Suite struct PeriodicAdvertisingTests {
    /// A set with SID 5 that advertises every 100 ms, with a train every 20 ms, and a scanner.
    private struct Rig {
        var rig = AirRig()
        let advertiser: Station
        let scanner: Station

        init(scans: Bool = true) {
            advertiser = rig.join(1)
            scanner = rig.join(2)
            for (opcode, hex) in [
                (
                    HCIOpcode.leSetExtendedAdvertisingParameters,
                    "03 0000 A00000 A00000 07 00 00 000000000000 00 7F 01 00 02 05 00"
                ),
                (.leSetPeriodicAdvertisingParameters, "03 1000 2000 0000"),
                (.leSetPeriodicAdvertisingData, "03 03 03 02FF07"),
                (.leSetPeriodicAdvertisingEnable, "01 03"),
                (.leSetExtendedAdvertisingEnable, "01 01 03 0000 00"),
            ] { #expect(rig.ask(opcode, hex, advertiser) == .success, "\(opcode)") }
            guard scans else { return }
            #expect(rig.ask(.leSetExtendedScanParameters, "00 00 01 00 1000 1000", scanner) == .success)
            #expect(rig.ask(.leSetExtendedScanEnable, "01 00 0000 0000", scanner) == .success)
        }

        /// Asks for the set with SID 5, with a timeout of 200 ms.
        mutating func create(options: String = "00", address: String = "0100000000C0") -> HCIStatus? {
            rig.ask(.lePeriodicAdvertisingCreateSync, "\(options) 05 00 \(address) 0000 1400 00", scanner)
        }

        mutating func events(after milliseconds: Int64) -> [HCIEventContent] {
            rig.pass(milliseconds: milliseconds)
            return rig.events(scanner)
        }

        /// Synchronizes, and returns the handle.
        mutating func synchronized() throws -> UInt16 {
            #expect(create() == .success)
            for case .periodicSyncEstablished(.success, let sync) in events(after: 300) { return sync.handle }
            throw NotEstablished()
        }

        struct NotEstablished: Error {}
    }

    private static func established(_ events: [HCIEventContent]) -> [HCIStatus] {
        events.compactMap { if case .periodicSyncEstablished(let status, _) = $0 { status } else { nil } }
    }

    private static func reports(_ events: [HCIEventContent]) -> [LEPeriodicReport] {
        events.compactMap { if case .periodicReport(let report) = $0 { report } else { nil } }
    }

    @Test func `a scanner finds the interval, synchronizes, and gets each event of the train`() throws {
        var rig = Rig()
        let heard = rig.events(after: 250).flatMap { event -> [LEAdvertisingReport] in
            if case .advertisingReports(let reports) = event { reports } else { [] }
        }
        #expect(heard.first?.periodicInterval == 0x10 && heard.first?.set == 5)
        #expect(rig.create() == .success)
        let events = rig.events(after: 300)
        #expect(Self.established(events) == [.success])
        for case .periodicSyncEstablished(_, let sync) in events {
            var expected = LEPeriodicSync(handle: 0, address: AirRig.address(1), set: 5, interval: 0x10)
            expected.phy = .le2M
            #expect(sync == expected)
        }
        // An event each 20 ms, without the random delay that advertising events have.
        let reports = Self.reports(rig.events(after: 1000))
        #expect(reports.count == 50 && reports.allSatisfy { $0.handle == 0 && $0.data == [2, 0xFF, 7] })
    }

    @Test func `changed data is in the next event, and long data comes in several reports`() throws {
        var rig = Rig()
        _ = try rig.synchronized()
        #expect(rig.rig.ask(.leSetPeriodicAdvertisingData, "03 03 03 02FF08", rig.advertiser) == .success)
        #expect(Self.reports(rig.events(after: 20)).map(\.data) == [[2, 0xFF, 8]])
        let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        func fragment(_ operation: String, _ range: Range<Int>) -> String {
            "03 \(operation) \(Hex.encode([UInt8(range.count)])) \(Hex.encode(Array(long[range])))"
        }
        let (first, rest) = (fragment("01", 0..<250), fragment("00", 250..<500))
        #expect(rig.rig.ask(.leSetPeriodicAdvertisingData, first, rig.advertiser) == .commandDisallowed)
        for (opcode, hex) in [
            (HCIOpcode.leSetPeriodicAdvertisingEnable, "00 03"), (.leSetPeriodicAdvertisingData, first),
            (.leSetPeriodicAdvertisingData, rest),
            (.leSetPeriodicAdvertisingData, fragment("02", 500..<600)),
            (.leSetPeriodicAdvertisingEnable, "01 03"),
        ] { #expect(rig.rig.ask(opcode, hex, rig.advertiser) == .success) }
        // The train is a new one, so the scanner loses the old one.
        let lost = rig.events(after: 250)
        #expect(lost.contains(.periodicSyncLost(handle: 0)))
        _ = try rig.synchronized()
        let pieces = Self.reports(rig.events(after: 20))
        #expect(pieces.map(\.data.count) == [247, 247, 106] && pieces.flatMap(\.data) == long)
        #expect(pieces.map(\.progress) == [.more, .more, .complete])
    }

    @Test func `the train goes on after the set is disabled, until periodic advertising is`() throws {
        var rig = Rig()
        _ = try rig.synchronized()
        #expect(
            rig.rig.ask(.leSetExtendedAdvertisingEnable, "00 01 03 0000 00", rig.advertiser) == .success)
        #expect(Self.reports(rig.events(after: 200)).count == 10)
        for opcode in [HCIOpcode.leRemoveAdvertisingSet, .leClearAdvertisingSets] {
            let hex = opcode == .leRemoveAdvertisingSet ? "03" : ""
            #expect(rig.rig.ask(opcode, hex, rig.advertiser) == .commandDisallowed)
        }
        #expect(rig.rig.ask(.leSetPeriodicAdvertisingEnable, "00 03", rig.advertiser) == .success)
        let events = rig.events(after: 300)
        #expect(Self.reports(events).isEmpty && events.contains(.periodicSyncLost(handle: 0)))
        #expect(rig.rig.ask(.leRemoveAdvertisingSet, "03", rig.advertiser) == .success)
    }

    @Test func `a train that stops before its first event is not established`() {
        var rig = Rig()
        // Long intervals, so that the train stops between the advertisement and its first event.
        for (opcode, hex) in [
            (HCIOpcode.leSetPeriodicAdvertisingEnable, "00 03"),
            (.leSetPeriodicAdvertisingParameters, "03 E803 E803 0000"),
            (.leSetPeriodicAdvertisingEnable, "01 03"),
        ] { #expect(rig.rig.ask(opcode, hex, rig.advertiser) == .success) }
        #expect(rig.create() == .success)
        #expect(Self.established(rig.events(after: 300)).isEmpty)
        #expect(rig.rig.ask(.leSetPeriodicAdvertisingEnable, "00 03", rig.advertiser) == .success)
        // Six intervals of 1.25 s.
        #expect(Self.established(rig.events(after: 7000)).isEmpty)
        #expect(Self.established(rig.events(after: 1000)) == [.connectionFailedToBeEstablished])
    }

    @Test func `a request is cancelled, refused twice, and refused for a train that is received`() throws {
        var rig = Rig(scans: false)
        #expect(rig.rig.ask(.lePeriodicAdvertisingCreateSyncCancel, "", rig.scanner) == .commandDisallowed)
        #expect(rig.create() == .success)
        #expect(rig.create() == .commandDisallowed)
        rig.rig.send(.lePeriodicAdvertisingCreateSyncCancel, "", rig.scanner)
        #expect(Self.established(rig.rig.events(rig.scanner)) == [.operationCancelledByHost])
        var scanning = Rig()
        let handle = try scanning.synchronized()
        #expect(scanning.create() == .connectionAlreadyExists)
        let hex = Hex.encode([UInt8(handle & 0xFF), UInt8(handle >> 8)])
        #expect(
            scanning.rig.ask(.leSetPeriodicAdvertisingReceiveEnable, hex + "00", scanning.scanner) == .success
        )
        #expect(Self.reports(scanning.events(after: 100)).isEmpty)
        #expect(
            scanning.rig.ask(.leSetPeriodicAdvertisingReceiveEnable, hex + "01", scanning.scanner) == .success
        )
        #expect(Self.reports(scanning.events(after: 100)).count == 5)
        #expect(scanning.rig.ask(.lePeriodicAdvertisingTerminateSync, hex, scanning.scanner) == .success)
        #expect(
            scanning.rig.ask(.lePeriodicAdvertisingTerminateSync, hex, scanning.scanner)
                == .unknownAdvertisingIdentifier)
        #expect(Self.reports(scanning.events(after: 100)).isEmpty)
    }

    @Test func `the periodic advertiser list chooses the train`() {
        var rig = Rig()
        let entry = "00 0100000000C0 05"
        #expect(rig.rig.values(.leReadPeriodicAdvertiserListSize, "", rig.scanner).count == 1)
        #expect(
            rig.rig.ask(.leAddDeviceToPeriodicAdvertiserList, "00 0100000000C0 06", rig.scanner) == .success)
        #expect(rig.create(options: "01") == .success)
        #expect(rig.rig.ask(.leClearPeriodicAdvertiserList, "", rig.scanner) == .commandDisallowed)
        #expect(Self.established(rig.events(after: 500)).isEmpty)
        rig.rig.send(.lePeriodicAdvertisingCreateSyncCancel, "", rig.scanner)
        #expect(rig.rig.ask(.leAddDeviceToPeriodicAdvertiserList, entry, rig.scanner) == .success)
        #expect(
            rig.rig.ask(.leAddDeviceToPeriodicAdvertiserList, entry, rig.scanner) == .invalidCommandParameters
        )
        #expect(rig.create(options: "01") == .success)
        #expect(Self.established(rig.events(after: 500)) == [.success])
        #expect(rig.rig.ask(.leRemoveDeviceFromPeriodicAdvertiserList, entry, rig.scanner) == .success)
        #expect(
            rig.rig.ask(.leRemoveDeviceFromPeriodicAdvertiserList, entry, rig.scanner)
                == .unknownAdvertisingIdentifier)
        #expect(rig.rig.ask(.leClearPeriodicAdvertiserList, "", rig.scanner) == .success)
    }

    /// The commands of the advertiser that are refused (Vol 4, Part E, 7.8.61 to 7.8.63).
    @Test(
        arguments: [
            (
                "parameters of an unknown set", HCIOpcode.leSetPeriodicAdvertisingParameters,
                "04 1000 1000 0000", 0x42
            ),
            ("an interval of 6.25 ms", .leSetPeriodicAdvertisingParameters, "03 0500 1000 0000", 0x12),
            ("a minimum above the maximum", .leSetPeriodicAdvertisingParameters, "03 2000 1000 0000", 0x12),
            (
                "parameters of an enabled train", .leSetPeriodicAdvertisingParameters, "03 1000 1000 0000",
                0x0C
            ),
            ("data of an unknown set", .leSetPeriodicAdvertisingData, "04 03 00", 0x42),
            ("a fragment of an enabled train", .leSetPeriodicAdvertisingData, "03 01 01 00", 0x0C),
            ("data shorter than its length", .leSetPeriodicAdvertisingData, "03 03 02 00", 0x12),
            ("an unknown set", .leSetPeriodicAdvertisingEnable, "01 04", 0x42),
            (
                "a set that becomes connectable", .leSetExtendedAdvertisingParameters,
                "03 0100 A00000 A00000 07 00 00 000000000000 00 7F 01 00 02 05 00", 0x0C
            ),
        ] as [(String, HCIOpcode, String, UInt8)])
    func `a wrong command is refused`(what: String, opcode: HCIOpcode, hex: String, status: UInt8) {
        var rig = Rig(scans: false)
        #expect(rig.rig.ask(opcode, hex, rig.advertiser) == HCIStatus(status), "\(what)")
    }

    @Test func `a connectable set and a set without parameters have no train`() {
        var rig = AirRig()
        let station = rig.join(1)
        let set = "03 0100 A00000 A00000 07 00 00 000000000000 00 7F 01 00 02 05 00"
        #expect(rig.ask(.leSetExtendedAdvertisingParameters, set, station) == .success)
        #expect(
            rig.ask(.leSetPeriodicAdvertisingParameters, "03 1000 1000 0000", station)
                == .invalidCommandParameters)
        #expect(rig.ask(.leSetPeriodicAdvertisingData, "03 03 00", station) == .commandDisallowed)
        #expect(rig.ask(.leSetPeriodicAdvertisingEnable, "01 03", station) == .commandDisallowed)
    }

    @Test func `a train crosses to another process, and a frame that is cut does not`() throws {
        let sync = AirSyncInfo(access: 0x1234_5678, interval: 0x10)
        let advertisement = AirAdvertisement(
            [], address: AirRig.address(1), identifier: 5, secondaryPHY: 2, sync: sync, data: [1, 2])
        let event = AirPeriodic(access: 0x1234_5678, counter: 7, phy: 2, power: -3, data: [9, 8])
        for pdu in [AirPDU.advertisement(advertisement), .periodic(event)] {
            let frame = AirFrame(from: Station(1), to: nil, pdu: pdu)
            #expect(AirFrame(frame.bytes) == frame)
            let header = AirFrame(from: Station(1), to: nil, pdu: pdu).bytes.prefix(22)
            #expect(AirFrame(Array(header)) == nil)
        }
    }
}
