import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Hosts that break the rules, beside others that keep them.
@Suite(.timeLimit(.minutes(15))) struct HostileHostTests {
    /// The reports of a server, in order.
    private final class Reports: Sendable {
        private let all = Lock<[HostReport]>([])

        func note(_ report: HostReport) { all.withLock { $0.append(report) } }

        var joined: [ServedHost] {
            all.withLock { $0 }.compactMap { if case .joined(let host) = $0 { host } else { nil } }
        }

        var refused: [RadioError] {
            all.withLock { $0 }.compactMap { if case .refused(let error) = $0 { error } else { nil } }
        }

        /// The end of a host, when it has come.
        func end(of number: Int) async throws -> RadioError {
            var found: RadioError?
            try await until("host \(number) leaves") {
                for case .left(let host, let error) in all.withLock({ $0 }) where host.number == number {
                    found = error
                }
                return found != nil
            }
            return try #require(found)
        }
    }

    /// A host that writes and reads bytes as a test says.
    private final class RawHost: Sendable {
        let descriptor: Int32

        init(_ path: String) throws {
            descriptor = try Descriptor.socket(AF_UNIX, Descriptor.stream).get()
            let address = try #require(SocketAddress(path: path))
            #expect(address.with { systemConnect(descriptor, $0, $1) } == 0)
        }

        deinit { systemClose(descriptor) }

        func write(_ hex: String) throws {
            let bytes = try #require(Hex.decode(hex))
            #expect(systemWrite(descriptor, bytes) == bytes.count)
        }

        func read(_ count: Int) async throws -> String {
            var bytes: [UInt8] = []
            try await until("\(count) bytes come") {
                var buffer = [UInt8](repeating: 0, count: count - bytes.count)
                let got = systemRead(descriptor, &buffer)
                if got > 0 { bytes += buffer[..<got] }
                return bytes.count == count
            }
            return Hex.encode(bytes)
        }

        /// Sends HCI Reset, and waits for the answer.
        func reset() async throws {
            try write("01030C00")
            #expect(try await read(7) == "040E0401030C00")
        }
    }

    /// A server on an air, at a socket of its own.
    private struct Rig {
        let directory: TemporaryDirectory
        let path: String
        let air: LiveAir
        let clock = ManualClock()
        let reports = Reports()
        let server: ControllerServer

        init(time: LiveAir.Time = .real) async throws {
            directory = try TemporaryDirectory()
            path = directory.path + "/hci"
            air = LiveAir(seed: 1, time: time)
            server = ControllerServer(
                air: air, clock: RunClock(clock), report: { [reports] in reports.note($0) }
            ) { ControllerConfiguration(address: AirRig.address(UInt8($0))) }
            try await server.listen(on: .unixServer(path: path))
        }

        func host() throws -> RawHost { try RawHost(path) }

        func probe() async throws -> HCIProbe {
            let probe = HCIProbe(HCITransportAddress.unixClient(path: path).transport())
            try await probe.open()
            return probe
        }
    }

    // MARK: - Breaches

    @Test(arguments: [
        (
            "01030C00" + "FF", RadioError.Code.protocolViolation, HCIStatus.invalidCommandParameters,
            "sent 0xFF"
        ),
        // A length that ends before its packet does.
        ("01030C00" + "0105040040001306", .protocolViolation, .invalidCommandParameters, "sent 0x40"),
        ("040E0401030C00", .protocolViolation, .invalidCommandParameters, "which only controllers send"),
        (
            String(repeating: "01030C00", count: 65), .protocolViolation, .memoryCapacityExceeded,
            "sent more than 64 commands"
        ),
        (
            String(repeating: "024020010000", count: 257), .protocolViolation, .memoryCapacityExceeded,
            "sent more than 256 data packets"
        ),
    ]) func `a host that breaks a rule is sent away, and the report says why`(
        hex: String, code: RadioError.Code, reason: HCIStatus, message: String
    ) async throws {
        let rig = try await Rig()
        let good = try rig.host()
        try await good.reset()
        let bad = try rig.host()
        try bad.write(hex)
        let end = try await rig.reports.end(of: 2)
        #expect(end.code == code && end.reason == reason.code)
        #expect(end.message.hasPrefix("host 2 ") && end.message.contains(message))
        try await good.reset()
        #expect(rig.server.count == 1)
        // The next gets its number, and its address.
        try await rig.host().reset()
        #expect(rig.reports.joined.map(\.number) == [1, 2, 2])
        #expect(rig.reports.joined.map(\.address) == [1, 2, 2].map { AirRig.address($0) })
    }

    @Test(arguments: [
        ("", "closed the connection"), ("0240", "closed the connection in the middle of a packet"),
    ])
    func `a host that goes is reported as one that ended its connection`(hex: String, message: String)
        async throws
    {
        let rig = try await Rig()
        var host: RawHost? = try rig.host()
        try host?.write("01030C00" + hex)
        _ = try await host?.read(7)
        host = nil
        let end = try await rig.reports.end(of: 1)
        #expect(end.reason == HCIStatus.remoteUserTerminatedConnection.code)
        #expect(end.message == "host 1 \(message)")
    }

    @Test func `a host that sends a part of a packet has ten seconds for the rest`() async throws {
        let rig = try await Rig()
        let (slow, stuck) = (try rig.host(), try rig.host())
        try slow.write("0103")
        try stuck.write("0240200100")
        try await rig.clock.waitForSleepers(2)
        rig.clock.advance(by: .seconds(9))
        try slow.write("0C00")
        #expect(try await slow.read(7) == "040E0401030C00")
        rig.clock.advance(by: .seconds(1))
        let end = try await rig.reports.end(of: 2)
        #expect(end.code == .timedOut && end.reason == HCIStatus.connectionTimeout.code)
        #expect(end.message == "host 2 sent no more than a part of a packet for 10 s")
        try await slow.reset()
        #expect(rig.server.count == 1)
    }

    @Test func `parts of packets without end are timed by one timer`() async throws {
        let rig = try await Rig()
        let host = try rig.host()
        try host.write("0103")
        try await rig.clock.waitForSleepers(1)
        for _ in 0..<50 {
            try host.write("0C000103")
            #expect(try await host.read(7) == "040E0401030C00")
        }
        #expect(rig.clock.sleeperCount == 1)
        // The timer was for an earlier packet, and goes on for this one.
        rig.clock.advance(by: .seconds(10))
        try await rig.clock.waitForSleepers(1)
        rig.clock.advance(by: .seconds(10))
        #expect(try await rig.reports.end(of: 1).code == .timedOut)
    }

    @Test func `a host that does not read is sent away, and the others hear on`() async throws {
        let rig = try await Rig(time: .manual)
        let (device, deaf, good) = (try await rig.probe(), try rig.host(), try await rig.probe())
        try await device.command(.leSetAdvertisingParameters, "2000 2000 00 00 00 000000000000 07 00")
        try await device.command(.leSetAdvertisingEnable, "01")
        try deaf.write("01010C08" + "FFFFFFFFFFFFFFFF")
        #expect(try await deaf.read(7) == "040E0401010C00")
        try deaf.write("010C200201" + "00")
        #expect(try await deaf.read(7) == "040E04010C2000")
        try await good.command(.leSetScanEnable, "01 00")
        try await until("the deaf host is sent away") {
            rig.air.advance(by: 1_000_000)
            return rig.server.count == 2
        }
        let end = try await rig.reports.end(of: 2)
        #expect(end.message == "host 2 does not read its packets")
        #expect(end.reason == HCIStatus.memoryCapacityExceeded.code)
        rig.air.advance(by: 1_000_000)
        let report = try await good.event("a report for the host that reads") { content in
            if case .advertisingReports(let reports) = content { reports.first?.address } else { nil }
        }
        #expect(report == AirRig.address(1))
    }

    // MARK: - Crowds

    @Test func `sixty-four hosts have controllers of their own beside hostile ones, and a link goes on`()
        async throws
    {
        let rig = try await Rig()
        let (device, phone) = (try await rig.probe(), try await rig.probe())
        try await device.command(.leSetAdvertisingParameters, "2000 2000 00 00 00 000000000000 07 00")
        try await device.command(.leSetAdvertisingEnable, "01")
        let link = try await phone.connect(to: AirRig.address(1), isPatient: true)
        let hosts = try (0..<62).map { _ in try rig.host() }
        for host in hosts {
            try await host.reset()
            try host.write("01091000")
        }
        var addresses: Set<String> = []
        for host in hosts { addresses.insert(try await host.read(13)) }
        #expect(addresses.count == 62 && rig.server.count == 64)
        for (index, host) in hosts.enumerated() {
            try host.write(["FF", String(repeating: "01030C00", count: 100), "0103", "040000"][index % 4])
            phone.send([UInt8(index)], of: link)
            #expect(try await device.receive(of: 0x40) == [UInt8(index)])
        }
        // Those with a part of a packet are left, until the time is up.
        try await until("the others are sent away") { rig.server.count == 2 + 15 }
        try await rig.clock.waitForSleepers(15)
        rig.clock.advance(by: .seconds(10))
        try await until("all are sent away") { rig.server.count == 2 }
        phone.send([0xAA], of: link)
        #expect(try await device.receive(of: 0x40) == [0xAA])
    }

    @Test func `more hosts than there is room for are refused, and reported once`() async throws {
        let rig = try await Rig()
        var hosts = try (0..<ControllerServer.hostLimit).map { _ in try rig.host() }
        for host in hosts { try await host.reset() }
        for _ in 0..<3 {
            let late = try rig.host()
            try await until("the late host is refused") {
                var byte = [UInt8](repeating: 0, count: 1)
                return systemRead(late.descriptor, &byte) == 0
            }
        }
        #expect(rig.reports.refused.count == 1)
        #expect(rig.reports.refused.first?.message.contains("128 hosts") == true)
        hosts.removeLast()
        _ = try await rig.reports.end(of: ControllerServer.hostLimit)
        try await until("there is room again") { rig.server.count == ControllerServer.hostLimit - 1 }
        try await rig.host().reset()
    }

    @Test func `a server that ends reports each host that it switches off`() async throws {
        let rig = try await Rig()
        let host = try rig.host()
        try await host.reset()
        rig.server.close()
        let end = try await rig.reports.end(of: 1)
        #expect(end.reason == HCIStatus.connectionTerminatedByLocalHost.code)
        #expect(rig.server.count == 0)
        await #expect(throws: RadioError.self) {
            try await rig.server.listen(on: .unixServer(path: rig.path))
        }
    }
}
