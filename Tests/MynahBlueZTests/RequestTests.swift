import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestTests {
    /// A rig whose services are published and whose phone is connected.
    private func connected(
        _ configuration: StandInConfiguration = StandInConfiguration(),
        services: [ServiceDefinition], mtu: Int = 23,
        options: (inout BlueZRadio.Options) -> Void = { _ in }
    ) async throws -> (Rig, VirtualCentral) {
        let rig = try await Rig(configuration, options: options)
        try await rig.radio.publish(services)
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect(mtu: mtu)
        try await rig.sink.wait(for: "connected")
        return (rig, phone)
    }

    @Test func `a value of the radio's own is sliced, and told`() async throws {
        let (rig, phone) = try await connected(services: [Definitions().service])
        #expect(try await phone.readLong("2a38") == Array(0..<40))
        #expect(
            rig.sink.words("answered") == [
                "answered 0 \(Hex.encode(Array(0..<40)))", "answered 22 \(Hex.encode(Array(22..<40)))",
            ])
        #expect(try await phone.read("2a38", offset: 40) == [])
        #expect(
            await attError { () async throws(ATTFailure) in _ = try await phone.read("2a38", offset: 41) }
                == 0x07)
        #expect(try await phone.read("2a38/2901") == [0x61])
        #expect(await rig.violations() == [])
    }

    @Test func `a value that is set answers reads, and one that is taken back asks the sink`() async throws {
        let definitions = Definitions()
        let (rig, phone) = try await connected(services: [definitions.service])
        await rig.radio.setValue([7], of: definitions.location.key)
        #expect(try await phone.read("2a38") == [7])
        await rig.radio.setValue(nil, of: definitions.location.key)
        rig.sink.answer { _ in .answer(.success([8])) }
        #expect(try await phone.read("2a38") == [8])
        #expect(await rig.violations() == [])
    }

    @Test func `a read reaches the sink with its offset, and the answer starts there`() async throws {
        let (rig, phone) = try await connected(services: [Definitions().service], mtu: 185)
        rig.sink.answer { event in
            guard case .read(let request) = event else { return .none }
            return .answer(.success(Array((0..<200).map { UInt8($0) }[request.offset...])))
        }
        #expect(try await phone.readLong("2a37") == (0..<200).map { UInt8($0) })
        #expect(rig.sink.words("read") == ["read 0", "read 184"])
        #expect(rig.sink.words("mtu") == ["mtu 185"])
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [UInt8](0x80...0x9F) + [0x02, 0x06, 0x07, 0x08, 0x0D, 0x0E, 0xFE])
    func `an error that BlueZ carries reaches the reader`(code: UInt8) async throws {
        let (rig, phone) = try await connected(services: [Definitions().service])
        rig.sink.answer { _ in .answer(.failure(ATTError(code: code))) }
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == code)
        #expect(BlueZCapabilities.capabilities().readErrors.contains(ATTError(code: code)))
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [UInt8](0x80...0x9F) + [0x03, 0x06, 0x07, 0x08, 0x0D, 0x0E, 0xFE])
    func `an error that BlueZ carries reaches the writer`(code: UInt8) async throws {
        let (rig, phone) = try await connected(services: [Definitions().service])
        rig.sink.answer { _ in .answer(.failure(ATTError(code: code))) }
        #expect(await attError { () async throws(ATTFailure) in try await phone.write("2a39", [1]) } == code)
        #expect(BlueZCapabilities.capabilities().writes.errors.contains(ATTError(code: code)))
        #expect(await rig.violations() == [])
    }

    @Test(
        arguments: [0x01, 0x04, 0x05, 0x09, 0x0A, 0x0B, 0x0C, 0x0F, 0x10, 0x11, 0x12, 0x13, 0xFC, 0xFD, 0xFF]
            as [UInt8])
    func `an error that BlueZ does not carry arrives as 0x0E, and is not claimed`(code: UInt8) async throws {
        let (rig, phone) = try await connected(services: [Definitions().service])
        rig.sink.answer { _ in .answer(.failure(ATTError(code: code))) }
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0x0E)
        #expect(!BlueZCapabilities.capabilities().readErrors.contains(ATTError(code: code)))
        #expect(await rig.violations() == [])
    }

    @Test func `0xFD is carried from 5.76 on`() async throws {
        let (rig, phone) = try await connected(
            StandInConfiguration(.trixie), services: [Definitions().service])
        rig.sink.answer { _ in .answer(.failure(.cccdImproperlyConfigured)) }
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0xFD)
        await rig.radio.stop()
    }

    @Test func `a write reaches the sink, and one that is too long does not`() async throws {
        let (rig, phone) = try await connected(services: [Definitions().service], mtu: 517)
        rig.sink.answer { _ in .answer(.success([])) }
        try await phone.write("2a39", [1, 2])
        #expect(
            await attError { () async throws(ATTFailure) in
                try await phone.write("2a39", [UInt8](repeating: 0, count: 101))
            } == 0x0D)
        try await phone.writePrepared("2a39", [(0, [1, 2]), (2, [3, 4])])
        #expect(
            await attError { () async throws(ATTFailure) in
                try await phone.writePrepared("2a39", [(99, [1, 2])])
            } == 0x0D)
        #expect(rig.sink.words("write") == ["write 0:0102", "write 0:01020304"])
        #expect(await rig.violations() == [])
    }

    @Test(arguments: [66, 82])
    func `a long write reaches as far as the radio says, and no further`(minor: Int) async throws {
        let length = BlueZCapabilities.capabilities(version: .init(5, minor)).writes.maximumLongLength
        let control = CharacteristicDefinition(uuid: "2A39", properties: [.write])
        let (rig, phone) = try await connected(
            StandInConfiguration(.init(minor)),
            services: [ServiceDefinition(uuid: "180D", characteristics: [control])])
        rig.sink.answer { _ in .answer(.success([])) }
        // A phone cuts at MTU − 5; long parts keep the queue short.
        try await phone.writePrepared(
            "2a39", [(0, Array(repeating: 1, count: 300)), (300, Array(repeating: 1, count: length - 300))])
        #expect(rig.sink.words("write") == ["write 0:" + String(repeating: "01", count: length)])
        #expect(
            await attError { () async throws(ATTFailure) in
                try await phone.writePrepared("2a39", [(length, [1])])
            } == 0x0D)
        #expect(await rig.violations() == [])
    }

    @Test func `a command is never answered, and one that is too long is dropped with a warning`()
        async throws
    {
        let both = CharacteristicDefinition(
            uuid: "2A06", properties: [.write, .writeWithoutResponse], maximumLength: 4)
        let (rig, phone) = try await connected(
            services: [ServiceDefinition(uuid: "1802", characteristics: [both])])
        rig.sink.answer { _ in .answer(.failure(.writeNotPermitted)) }
        try await phone.write("2a06", [1], command: true)
        try await phone.write("2a06", [2])
        try await phone.write("2a06", [1, 2, 3, 4, 5], command: true)
        try await rig.sink.wait(for: "warning writeDropped")
        #expect(rig.sink.words("write") == ["write 0:01 silently", "write 0:02 silently"])
        #expect(await rig.violations() == [])
    }

    @Test func `a late answer arrives, and one that is dropped is 0x0E`() async throws {
        let (rig, phone) = try await connected(services: [Definitions().service])
        let replies = Mailbox<PendingReply>("the reads")
        rig.sink.answer { event in
            guard case .read = event else { return .none }
            let reply = PendingReply()
            replies.put(reply)
            return .later(reply.pending)
        }
        async let first = phone.read("2a37")
        try await replies.take()[0].answer(.success([9]))
        #expect(try await first == [9])
        async let second = attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") }
        _ = try await replies.take()
        #expect(await second == 0x0E)
        #expect(rig.sink.words("warning") == [])
        #expect(await rig.violations() == [])
    }

    @Test func `an answer that does not come is 0x0E before bluetoothd gives up, and later does no harm`()
        async throws
    {
        let (rig, phone) = try await connected(services: [Definitions().service]) {
            $0.answerLimit = .milliseconds(20)
        }
        let reply = PendingReply()
        rig.sink.answer { event in
            guard case .read = event else { return .none }
            return .later(reply.pending)
        }
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0x0E)
        #expect(rig.sink.words("warning") == ["warning answerTooLate"])
        reply.answer(.success([9]))
        #expect(await rig.violations() == [])
    }

    @Test func `an attribute that needs consent is refused until the central has paired`() async throws {
        let guarded = CharacteristicDefinition(
            uuid: "2A39", properties: [.read, .write],
            permissions: .init(read: .authorized, write: .authorized))
        let (rig, phone) = try await connected(
            services: [ServiceDefinition(uuid: "180D", characteristics: [guarded])])
        rig.sink.answer { event in
            if case .pairing = event { .pairing(.agreed) } else { .answer(.success([])) }
        }
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a39") } == 0x08)
        #expect(await attError { () async throws(ATTFailure) in try await phone.write("2a39", [1]) } == 0x08)
        #expect(
            await attError { () async throws(ATTFailure) in
                try await phone.writePrepared("2a39", [(0, [1])])
            } == 0x08)
        #expect(rig.sink.words("write") == [])
        try await phone.pair()
        try await rig.sink.wait(for: "paired")
        try await phone.write("2a39", [1])
        try await phone.writePrepared("2a39", [(0, [1])])
        #expect(rig.sink.words("write") == ["write 0:01", "write 0:01"])
        #expect(rig.sink.words("paired").count == 1)
        #expect(await rig.violations() == [])
    }

    @Test func `encryption is the daemon's to ask for`() async throws {
        let guarded = CharacteristicDefinition(
            uuid: "2A39", properties: [.read], permissions: .init(read: .encrypted), value: [1])
        let (rig, phone) = try await connected(
            services: [ServiceDefinition(uuid: "180D", characteristics: [guarded])])
        #expect(await attError { () async throws(ATTFailure) in _ = try await phone.read("2a39") } == 0x0F)
        try await phone.pair()
        #expect(try await phone.read("2a39") == [1])
        #expect(await rig.violations() == [])
    }
}
