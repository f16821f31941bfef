import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct AirTests {
    private func reports(_ events: [HCIEventContent]) -> [LEAdvertisingReport] {
        events.flatMap { event -> [LEAdvertisingReport] in
            if case .advertisingReports(let reports) = event { reports } else { [] }
        }
    }

    @Test func `a passive scanner hears each event of a device, 100 to 110 ms apart`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.advertise(device, data: "02 01 06 03 03 0D 18")
        rig.send(.leSetScanEnable, "0100", scanner)
        _ = rig.take(scanner)
        var moments: [AirTime] = []
        for _ in 0..<10_000 {
            rig.pass(milliseconds: 1)
            let heard = reports(rig.events(scanner))
            for report in heard {
                moments.append(rig.air.now)
                #expect(report.kind == .connectable && report.rssi == -40)
                #expect(report.address == AirRig.address(2) && report.data == [2, 1, 6, 3, 3, 0x0D, 0x18])
            }
        }
        let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
        #expect((90...100).contains(moments.count))
        #expect(gaps.allSatisfy { (99_000...111_000).contains($0) })
        #expect(Set(gaps).count > 3)
    }

    /// The reports of an active, filtering scanner about a device that answers it.
    private func hear(on rig: inout AirRig, milliseconds: Int64) -> [LEAdvertisingReport] {
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.send(.leSetScanResponseData, "03020A00" + String(repeating: "00", count: 28), device)
        rig.advertise(device)
        rig.send(.leSetScanParameters, "01 1000 1000 00 00", scanner)
        rig.send(.leSetScanEnable, "0101", scanner)
        rig.pass(milliseconds: milliseconds)
        return reports(rig.events(scanner))
    }

    @Test func `an active scanner asks, and filters what it told`() {
        var rig = AirRig()
        let heard = hear(on: &rig, milliseconds: 1000)
        #expect(heard.map(\.kind) == [.connectable, .scanResponse])
        #expect(heard.map(\.data) == [[2, 1, 6], [2, 0x0A, 0]])
    }

    @Test func `a scanner that filters asks until it is answered, however much is lost`() {
        for seed: UInt64 in 1...20 {
            var rig = AirRig(seed: seed)
            rig.air.loss = 0.7
            #expect(hear(on: &rig, milliseconds: 60_000).map(\.kind) == [.connectable, .scanResponse])
        }
    }

    @Test func `a scanner hears only who is in its list, where it wants that`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        for number: UInt8 in 2...4 {
            let device = rig.join(number)
            rig.advertise(device)
        }
        #expect(rig.ask(.leAddDeviceToFilterAcceptList, "00 0300000000C0", scanner) == .success)
        rig.send(.leSetScanParameters, "00 1000 1000 00 01", scanner)
        rig.send(.leSetScanEnable, "0100", scanner)
        #expect(rig.ask(.leClearFilterAcceptList, "", scanner) == .commandDisallowed)
        rig.pass(milliseconds: 1000)
        let heard = reports(rig.events(scanner))
        #expect(heard.count > 7)
        #expect(heard.allSatisfy { $0.address == AirRig.address(3) })
    }

    @Test func `a scanner hears within its window alone`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.advertise(device)
        // A tenth of the time.
        rig.send(.leSetScanParameters, "00 A000 1000 00 00", scanner)
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 100_000)
        #expect((50...150).contains(reports(rig.events(scanner)).count))
    }

    @Test func `sets advertise each their own way, and stop when they shall`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        // Set 0: legacy, connectable; set 1: extended, neither, 300 bytes in two pieces.
        let rest = "A00000 A00000 07 00 00 000000000000 00 7F 01 00"
        #expect(
            rig.values(.leSetExtendedAdvertisingParameters, "00 1300 \(rest) 01 00 00", device) == [0])
        #expect(
            rig.values(.leSetExtendedAdvertisingParameters, "01 0000 \(rest) 02 05 00", device) == [0])
        #expect(rig.ask(.leSetExtendedAdvertisingData, "00 03 01 03 020106", device) == .success)
        let half = String(repeating: "AB", count: 150)
        #expect(rig.ask(.leSetExtendedAdvertisingData, "01 01 01 96 \(half)", device) == .success)
        #expect(rig.ask(.leSetExtendedAdvertisingEnable, "01 01 01 0000 00", device) == .commandDisallowed)
        #expect(rig.ask(.leSetExtendedAdvertisingData, "01 02 01 96 \(half)", device) == .success)
        #expect(
            rig.ask(.leSetExtendedAdvertisingEnable, "01 01 07 0000 00", device)
                == .unknownAdvertisingIdentifier)
        rig.send(.leSetExtendedScanParameters, "00 00 01 00 1000 1000", scanner)
        rig.send(.leSetExtendedScanEnable, "01 00 0000 0000", scanner)
        #expect(rig.ask(.leSetExtendedAdvertisingEnable, "01 02 00 6400 00 01 0000 03", device) == .success)
        _ = rig.take(scanner)
        rig.pass(milliseconds: 3000)
        let heard = reports(rig.events(scanner))
        #expect((9...10).contains(heard.count { $0.kind == .connectable }))
        #expect(heard.filter { $0.kind == .nonConnectable }.map(\.data.count) == [229, 71, 229, 71, 229, 71])
        #expect(
            Set(rig.events(device)) == [
                .advertisingSetTerminated(.advertisingTimeout, set: 0, handle: 0),
                .advertisingSetTerminated(.limitReached, set: 1, handle: 0),
            ])
    }

    @Test func `stations out of range do not receive, and RSSI falls with distance`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let near = rig.join(2)
        let far = rig.join(3)
        rig.air.setDistance(AirDistance(metres: 10), between: scanner, and: near)
        rig.air.setDistance(nil, between: scanner, and: far)
        rig.advertise(near)
        rig.advertise(far)
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 1000)
        let heard = reports(rig.events(scanner))
        #expect(!heard.isEmpty && heard.allSatisfy { $0.address == AirRig.address(2) && $0.rssi == -60 })
    }

    @Test func `the farther of two stations counts, and nothing is heard below the sensitivity`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.advertise(device)
        rig.send(.leSetScanEnable, "0100", scanner)
        func loudness(_ scannerMetres: Double, _ deviceMetres: Double) -> Set<Int8> {
            rig.air.setDistance(AirDistance(metres: scannerMetres), of: scanner)
            rig.air.setDistance(AirDistance(metres: deviceMetres), of: device)
            _ = rig.take(scanner)
            rig.pass(milliseconds: 500)
            return Set(reports(rig.events(scanner)).compactMap(\.rssi))
        }
        #expect(loudness(1, 1) == [-40])
        #expect(loudness(1, 5) == [-54])
        #expect(loudness(10, 5) == [-60])
        #expect(loudness(1000, 1) == [-100])
        #expect(loudness(1, 1200) == [])
        #expect(AirDistance(metres: 0) == nil)
        #expect(AirDistance(metres: .nan) == nil)
        #expect(AirDistance(metres: .infinity) == nil)
    }

    @Test func `a station out of range neither hears nor is heard, and a capture sees nothing of it`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        let other = rig.join(3)
        rig.air.isMonitored = true
        rig.advertise(device)
        rig.advertise(other)
        for station in [scanner, device] { rig.send(.leSetScanEnable, "0100", station) }
        rig.air.setDistance(nil, of: device)
        let outputs = rig.air.advance(to: rig.air.now + 500_000)
        func senders(_ station: Station) -> Set<DeviceAddress?> {
            let packets = outputs.compactMap { output -> HCIEventContent? in
                guard case .host(station, let packet) = output else { return nil }
                return HCIEvent(packet.body).flatMap { HCIEventContent($0) }
            }
            return Set(reports(packets).map(\.address))
        }
        #expect(senders(scanner) == [AirRig.address(3)])
        #expect(senders(device) == [])
        #expect(
            !outputs.contains { output in
                if case .captured(let frame) = output { frame.from == device } else { false }
            })
        // Back, it is heard as before.
        rig.air.setDistance(.usual, of: device)
        _ = rig.take(scanner)
        rig.pass(milliseconds: 500)
        #expect(reports(rig.events(scanner)).contains { $0.address == AirRig.address(2) && $0.rssi == -40 })
    }

    @Test func `the distance of a sender goes to other processes, and counts there`() throws {
        var (here, there) = (AirRig(), AirRig(seed: 2))
        here.air.isShared = true
        let device = here.join(2)
        let scanner = there.join(1)
        here.advertise(device)
        there.send(.leSetScanEnable, "0100", scanner)
        func heard() throws -> Set<Int8> {
            _ = there.take(scanner)
            for case .elsewhere(let frame) in here.air.advance(to: here.air.now + 500_000) {
                there.take(try #require(AirFrame(frame.bytes)))
            }
            return Set(reports(there.events(scanner)).compactMap(\.rssi))
        }
        #expect(try heard() == [-40])
        here.air.setDistance(AirDistance(metres: 5), of: device)
        #expect(try heard() == [-54])
        here.air.setDistance(nil, of: device)
        #expect(try heard() == [])
        here.air.setDistance(.usual, of: device)
        // One that the scanner's own process took away from that device alone.
        there.air.setDistance(nil, between: scanner, and: device)
        #expect(try heard() == [])
    }

    @Test func `a device that is moved by its address is moved back by the next address that it has`() throws
    {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.advertise(device)
        rig.send(.leSetScanEnable, "0100", scanner)
        let first = try #require(DeviceAddress("4A:00:00:00:00:01", kind: .random))
        let second = try #require(DeviceAddress("4A:00:00:00:00:02", kind: .random))
        func heard() -> Set<Int8> {
            _ = rig.take(scanner)
            rig.pass(milliseconds: 500)
            return Set(reports(rig.events(scanner)).compactMap(\.rssi))
        }
        func use(_ address: DeviceAddress) {
            rig.send(.leSetAdvertisingEnable, "00", device)
            rig.send(.leSetRandomAddress, Hex.encode([address == first ? 1 : 2, 0, 0, 0, 0, 0x4A]), device)
            rig.advertise(device, ownType: "01")
        }
        use(first)
        rig.air.setDistance(AirDistance(metres: 5), between: scanner, and: first)
        #expect(heard() == [-54])
        use(second)
        #expect(heard() == [-54])
        rig.air.setDistance(nil, between: scanner, and: second)
        #expect(heard() == [])
        // It was not heard under this one.
        use(first)
        #expect(heard() == [])
        rig.air.forgetDistance(between: scanner, and: second)
        #expect(heard() == [-40])
    }

    @Test func `as much is lost as was asked for`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        rig.advertise(device)
        rig.air.loss = 0.5
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 100_000)
        #expect((400...550).contains(reports(rig.events(scanner)).count))
    }

    @Test func `the same seed makes the same air`() {
        func history(_ seed: UInt64) -> [H4Packet] {
            var rig = AirRig(seed: seed)
            let scanner = rig.join(1)
            for number: UInt8 in 2...6 {
                let device = rig.join(number)
                rig.advertise(device)
            }
            rig.air.loss = 0.1
            rig.send(.leSetScanEnable, "0100", scanner)
            rig.pass(milliseconds: 5000)
            return rig.take(scanner)
        }
        #expect(history(7) == history(7))
        #expect(history(7) != history(8))
    }

    @Test func `a thousand devices and one scanner: none is forgotten`() {
        var rig = AirRig()
        let scanner = rig.join(1)
        var configuration = ControllerConfiguration(address: AirRig.address(2))
        for number in 0..<1000 {
            configuration.address =
                DeviceAddress(
                    littleEndian: [UInt8(number & 0xFF), UInt8(number >> 8), 1, 0, 0, 0xC0], kind: .public)
                ?? AirRig.address(2)
            rig.advertise(rig.air.join(configuration))
        }
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 1000)
        let heard = reports(rig.events(scanner))
        #expect(Set(heard.map(\.address)).count == 1000)
        #expect((9000...10_100).contains(heard.count))
    }

    /// Undirected and directed advertising.
    @Test(arguments: ["00", "04"])
    func `both sides of a connection report the same resolvable addresses`(type: String) throws {
        var rig = AirRig()
        let (central, peripheral) = (rig.join(1), rig.join(2))
        let keys = ["5A", "C3"].map { String(repeating: $0, count: 16) }
        for (station, hex) in [
            (central, "00 0200000000C0 \(keys[1]) \(keys[0])"),
            (peripheral, "00 0100000000C0 \(keys[0]) \(keys[1])"),
        ] {
            #expect(rig.ask(.leAddDeviceToResolvingList, hex, station) == .success)
            #expect(rig.ask(.leSetAddressResolutionEnable, "01", station) == .success)
        }
        rig.send(.leSetAdvertisingParameters, "A000 A000 \(type) 02 00 0100000000C0 07 00", peripheral)
        rig.send(.leSetAdvertisingEnable, "01", peripheral)
        rig.send(
            .leCreateConnection, "1000 1000 00 02 0200000000C0 02 1800 1800 0000 4800 0000 0000", central)
        rig.pass(milliseconds: 300)
        // The local and the peer's address in LE Enhanced Connection Complete.
        let ends = try [central, peripheral].map { station in
            let packets = rig.take(station).map(\.bytes)
            let event = try #require(packets.first { $0.starts(with: [4, 0x3E, 31, 0x0A, 0]) })
            return [Array(event[15..<21]), Array(event[21..<27])]
        }
        #expect(ends[0] == ends[1].reversed())
        #expect(ends[0].allSatisfy { $0[5] >> 6 == 0b01 } && ends[0][0] != ends[0][1])
    }

    @Test func `a resolvable address is told by its identity`() throws {
        var rig = AirRig()
        let scanner = rig.join(1)
        let device = rig.join(2)
        let key = String(repeating: "5A", count: 16)
        let none = String(repeating: "00", count: 16)
        // The device calls itself by its key towards the scanner; the scanner knows that key.
        #expect(rig.ask(.leAddDeviceToResolvingList, "00 0100000000C0 \(none) \(key)", device) == .success)
        #expect(rig.ask(.leSetAddressResolutionEnable, "01", device) == .success)
        rig.send(.leSetAdvertisingParameters, "A000 A000 00 02 00 0100000000C0 07 00", device)
        rig.send(.leSetAdvertisingEnable, "01", device)
        let local = rig.values(.leReadLocalResolvableAddress, "00 0100000000C0", device)
        #expect(local.count == 6 && local[5] >> 6 == 0b01)
        rig.send(.leSetScanEnable, "0100", scanner)
        rig.pass(milliseconds: 300)
        let strange = try #require(reports(rig.events(scanner)).first)
        #expect(strange.address == DeviceAddress(littleEndian: local, kind: .random))
        rig.send(.leSetScanEnable, "0000", scanner)
        #expect(rig.ask(.leAddDeviceToResolvingList, "00 0200000000C0 \(key) \(none)", scanner) == .success)
        #expect(rig.ask(.leSetAddressResolutionEnable, "01", scanner) == .success)
        rig.send(.leSetScanEnable, "0100", scanner)
        #expect(rig.ask(.leClearResolvingList, "", scanner) == .commandDisallowed)
        rig.pass(milliseconds: 300)
        let known = try #require(reports(rig.events(scanner)).first)
        #expect(known.address == AirRig.address(2))
    }
}
