import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Warnings that an air gave, by code.
final class Notices: Sendable {
    let codes = Lock<[String]>([])
    var sink: @Sendable (RadioWarning) -> Void {
        { warning in self.codes.withLock { $0.append(warning.code) } }
    }
    func has(_ code: String) -> Bool { codes.withLock { $0.contains(code) } }
}

/// A process that is on an air without being ours.
final class Stranger: Sendable {
    let descriptor: Int32

    init(_ directory: String) throws {
        let name = try #require(AirDirectory(path: directory).nodes().first)
        descriptor = try #require(AirDirectory(path: directory).connect(to: name))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = Descriptor.send(descriptor, bytes) }

    /// The next message, if there is one.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .moved(let count) = Descriptor.receive(descriptor, into: &buffer) else { return nil }
        return Array(buffer[..<count])
    }

    /// Waits until the other side has ended it.
    func isRefused() async throws {
        let descriptor = descriptor
        try await until("the descriptor is at its end") {
            var buffer = [UInt8](repeating: 0, count: 4096)
            return Descriptor.receive(descriptor, into: &buffer) == .ended
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct SharedAirTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func air(_ notices: Notices = Notices()) throws -> SharedAir {
        try SharedAir(directory: directory.path, notice: notices.sink)
    }

    /// A device that is advertised every 20 ms.
    private func device(_ number: UInt8, on air: SharedAir) async throws -> HCIProbe {
        let probe = HCIProbe(air.transport(address: AirRig.address(number)))
        try await probe.open()
        try await advertise(probe)
        return probe
    }

    private func advertise(_ probe: HCIProbe) async throws {
        try await probe.command(.leSetAdvertisingParameters, "2000 2000 00 00 00 000000000000 07 00")
        try await probe.command(.leSetAdvertisingEnable, "01")
    }

    private func phone(_ number: UInt8, on air: SharedAir) async throws -> HCIProbe {
        let probe = HCIProbe(air.transport(address: AirRig.address(number)))
        try await probe.open()
        return probe
    }

    /// That a request arrives, and its answer.
    private func talk(
        _ phone: HCIProbe, _ phoneLink: ConnectionHandle, _ device: HCIProbe, _ link: ConnectionHandle
    ) async throws {
        phone.send([1, 2, 3], of: phoneLink)
        #expect(try await device.receive(of: link) == [1, 2, 3])
        device.send([4, 5], of: link)
        #expect(try await phone.receive(of: phoneLink) == [4, 5])
    }

    private func link(of device: HCIProbe) async throws -> ConnectionHandle {
        try await device.event("a connection") { content in
            guard case .connectionComplete(.success, let link) = content else { return nil }
            return link.handle
        }
    }

    @Test func `a process finds another one's advertising, scans it, and connects`() async throws {
        let first = try air()
        let second = try air()
        let device = try await device(1, on: first)
        let phone = try await phone(2, on: second)
        _ = try await phone.scan { $0.address == AirRig.address(1) && $0.kind == .scanResponse }
        let phoneLink = try await phone.connect(to: AirRig.address(1), isPatient: true)
        let link = try await link(of: device)
        for _ in 0..<50 { try await talk(phone, phoneLink, device, link) }
        try await phone.command(.disconnect, "4000 13")
        let reason = try await device.event("the disconnection") { content -> HCIStatus? in
            guard case .disconnectionComplete(_, _, let reason) = content else { return nil }
            return reason
        }
        #expect(reason == .remoteUserTerminatedConnection)
    }

    @Test func `those that start at once find each other, once`() async throws {
        let airs = try await withThrowingTaskGroup(of: SharedAir.self) { group in
            for _ in 0..<12 { group.addTask { try air() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await until("each of twelve airs knows eleven others") { airs.allSatisfy { $0.neighbours == 11 } }
        let device = try await device(1, on: airs[0])
        let phone = try await phone(2, on: airs[11])
        let link = try await phone.connect(to: AirRig.address(1), isPatient: true)
        try await talk(phone, link, device, try await self.link(of: device))
        for air in airs.dropFirst(6).prefix(4) { air.leave() }
        try await until("the ends of four airs are noticed") {
            airs[0].neighbours == 7 && airs[11].neighbours == 7
        }
        #expect(directory.files.count == 8)
    }

    @Test func `an air that is left disturbs no link of the others`() async throws {
        let airs = [try air(), try air()]
        let device = try await device(1, on: airs[0])
        let phone = try await phone(2, on: airs[1])
        let third = try air()
        let other = HCIProbe(third.transport(address: AirRig.address(3)))
        try await other.open()
        let phoneLink = try await phone.connect(to: AirRig.address(1), isPatient: true)
        let link = try await link(of: device)
        try await until("two airs know two others each") {
            airs[0].neighbours == 2 && airs[1].neighbours == 2
        }
        try await advertise(other)
        _ = try await phone.scan { $0.address == AirRig.address(3) }
        try await talk(phone, phoneLink, device, link)
        third.leave()
        try await until("each air knows one other") { airs.allSatisfy { $0.neighbours == 1 } }
        try await talk(phone, phoneLink, device, link)
        for probe in [phone, device] {
            #expect(!probe.hasEvent { if case .disconnectionComplete = $0 { true } else { false } })
            #expect(probe.ended.isEmpty)
        }
    }

    @Test func `an air is left when neither it nor a transport of it is kept`() async throws {
        var kept: SharedAir? = try air()
        var transport = kept?.transport()
        kept = nil
        #expect(directory.files.count == 1)
        let other = try air()
        #expect(directory.files.count == 2)
        #expect(transport?.station == nil)
        transport = nil
        #expect(directory.files.count == 1)
        try await until("the other air is alone") { other.neighbours == 0 }
    }

    @Test func `a process that is killed is missed by its link alone, and its socket is cleared away`()
        async throws
    {
        let output = try #require(OutputReader())
        let program = try #require(BuiltProgram.path("mynah-bench-hci"))
        let child = try #require(
            ChildProcess(program, ["device", directory.path], passing: [output.writer: 1]))
        output.start()
        #expect(try await output.line(containing: "ready") != nil)
        let here = try air()
        let phone = try await phone(2, on: here)
        _ = try await phone.scan { $0.address.value == 0xC000_0000_0001 }
        // Six intervals of a second until the other side is heard, and six seconds then: a busy machine keeps
        // such a link.
        let link = try await phone.connect(
            to: DeviceAddress(value: 0xC000_0000_0001, kind: .public),
            parameters: "2003 2003 0000 5802 0000 0000")
        #expect(try await phone.exchange("0A 0300", of: link).hasPrefix("0B"))
        child.stop()
        try await until("this air is alone") { here.neighbours == 0 }
        let reason = try await phone.event("the disconnection") { content -> HCIStatus? in
            guard case .disconnectionComplete(_, _, let reason) = content else { return nil }
            return reason
        }
        #expect(reason == .connectionTimeout)
        #expect(directory.files.count == 2)
        for name in directory.files { makeOld("\(directory.path)/\(name)") }
        let later = try air()
        #expect(directory.files.count == 2)
        try await until("both airs know each other") { here.neighbours == 1 && later.neighbours == 1 }
    }

    @Test(arguments: [
        ("air of another version", Array("mynah air".utf8) + [9, 0, 1, 2, 3], "airVersion"),
        ("nonsense", [1, 2, 3], "airNonsense"),
        ("too much", [UInt8](repeating: 7, count: 5000), "airNonsense"),
        ("a mark alone", Array("mynah air".utf8), "airNonsense"),
    ])
    func `an invalid first message is refused`(_: String, greeting: [UInt8], code: String) async throws {
        let notices = Notices()
        let here = try air(notices)
        let stranger = try Stranger(directory.path)
        stranger.send(greeting)
        try await stranger.isRefused()
        try await until("the warning \(code) is given") { notices.has(code) }
        #expect(here.neighbours == 0)
    }

    @Test(
        arguments: [[], [0], [UInt8](repeating: 0xFF, count: 60), [UInt8](repeating: 1, count: 3000)]
            as [[UInt8]])
    func `an invalid later message is refused, and other processes go on`(frame: [UInt8]) async throws {
        let notices = Notices()
        let here = try air(notices)
        let stranger = try Stranger(directory.path)
        let other = try air()
        stranger.send(AirGreeting(node: 77, wantsAdvertising: true).bytes)
        try await until("this air knows two others") { here.neighbours == 2 }
        // An empty message cannot be told from an end, and is one.
        if !frame.isEmpty { stranger.send(frame) } else { shutdown(stranger.descriptor, Int32(SHUT_RDWR)) }
        try await until("this air knows one other") { here.neighbours == 1 }
        let device = try await device(1, on: other)
        let phone = try await phone(2, on: here)
        _ = try await phone.connect(to: AirRig.address(1))
        _ = try await link(of: device)
        #expect(notices.has("airNonsense") == !frame.isEmpty)
    }

    @Test func `a process that does not read blocks nobody`() async throws {
        let notices = Notices()
        let heard = Lock(false)
        let directory = AirDirectory(path: directory.path)
        let one = AirMesh(directory, receive: { _ in }, notice: notices.sink)
        let marked = AirFrame(from: Station(9), to: Station(10), pdu: .advertisement(advertisement(0)))
        let other = AirMesh(
            directory,
            receive: { frames in if frames.contains(marked) { heard.withLock { $0 = true } } },
            notice: notices.sink)
        one.send(.wantsAdvertising(true))
        try one.join()
        let deaf = try Stranger(directory.path)
        deaf.send(AirGreeting(node: 77, wantsAdvertising: true).bytes)
        try other.join()
        try await until("the meshes know each other") { one.count == 2 && other.count >= 1 }
        let long = AirFrame(from: Station(8), to: nil, pdu: .advertisement(advertisement(1000)))
        for _ in 0..<5000 { one.send(.frame(long)) }
        #expect(notices.has("airNeighbourDeaf"))
        let known = AirFrame(from: Station(10), to: nil, pdu: .advertisement(advertisement(0)))
        other.send(.frame(known))
        try await until("the marked frame is heard") {
            one.send(.frame(marked))
            return heard.withLock { $0 }
        }
        one.leave()
        other.leave()
    }

    private func advertisement(_ length: Int) -> AirAdvertisement {
        AirAdvertisement([], address: AirRig.address(9), data: [UInt8](repeating: 0, count: length))
    }

    @Test func `a path that is not a directory, or that others can write to, is refused`() throws {
        chmod(directory.path, 0o777)
        #expect { try air() } throws: { ($0 as? RadioError)?.code == .notPermitted }
        chmod(directory.path, 0o700)
        try directory.write("", to: "file")
        #expect { try SharedAir(directory: directory.path + "/file") } throws: {
            ($0 as? RadioError)?.message.hasSuffix("/file is not a directory") == true
        }
        #expect { try SharedAir(directory: directory.path + "/missing/air") } throws: {
            ($0 as? RadioError)?.code == .unreachable
        }
        let long = directory.path + "/" + String(repeating: "l", count: 100)
        #expect { try SharedAir(directory: long) } throws: {
            ($0 as? RadioError)?.remedy == "set MYNAH_AIR to one with a shorter name"
        }
        rmdir(long)
    }

    @Test
    func `other processes learn that PDUs are wanted while a station listens or the air is monitored`()
        async throws
    {
        let air = LiveAir(time: .manual)
        let messages = Lock<[AirMessage]>([])
        air.share { message in messages.withLock { $0.append(message) } }
        func told() -> [Bool] {
            messages.withLock { messages in
                defer { messages = [] }
                return messages.compactMap {
                    if case .wantsAdvertising(let isWanted) = $0 { isWanted } else { nil }
                }
            }
        }
        let transports = [1, 2].map { number in
            air.transport(ControllerConfiguration(address: AirRig.address(number)))
        }
        let probes = transports.map { HCIProbe($0) }
        for probe in probes { try await probe.open() }
        try await advertise(probes[1])
        #expect(told() == [])
        try await probes[0].command(.leSetScanEnable, "0100")
        #expect(told() == [true])
        try await probes[1].command(.leSetScanEnable, "0100")
        try await probes[0].command(.leSetScanEnable, "0000")
        #expect(told() == [])
        transports[1].close()
        #expect(told() == [false])
        air.change { $0.isMonitored = true }
        #expect(told() == [true])
        try await probes[0].command(
            .leCreateConnection, "6000 6000 00 00 0900000000C0 00 1800 2800 0000 F401 0000 0000")
        air.change { $0.isMonitored = false }
        #expect(told() == [])
        try await probes[0].command(.leCreateConnectionCancel)
        #expect(told() == [false])
        air.advance(by: 1_000_000)
        // One who joins later has to be told as well.
        try await probes[0].command(.leSetScanEnable, "0100")
        air.share(nil)
        _ = told()
        air.share { message in messages.withLock { $0.append(message) } }
        #expect(told() == [true])
    }
}
