import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Our central against our peripheral, over the air of one process.
@Suite(.timeLimit(.minutes(15))) struct CentralTests {
    @Test func `two phones that connect at one moment are both connected`() async throws {
        for _ in 0..<10 {
            let rig = try await SecureRig()
            let address = try #require(DeviceAddress("C0:00:00:00:00:03", kind: .public))
            let second = HostRadio(transport: rig.air.transport(ControllerConfiguration(address: address)))
            try await second.start(
                DeviceIdentity(name: "Second"), central: SecureSink(PairingUser()))
            async let first = rig.connect()
            async let other = second.connect(rig.address, timeout: .seconds(20)).id
            let handle = try await rig.handle(of: rig.signed)
            #expect(try await rig.phone.read(handle, of: try await first) == [0x63])
            #expect(try await second.read(handle, of: try await other) == [0x63])
            await second.stop()
            await rig.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a device is heard, with what it advertises and what it answers`(isExtended: Bool) async throws {
        let rig = try await CentralRig(isExtended: isExtended)
        try await rig.phone.scan(ScanOptions())
        try await until("the phone has two advertising reports") { rig.phoneSink.reports.count >= 2 }
        await rig.phone.stopScan()
        let reports = rig.phoneSink.reports
        #expect(reports.map(\.kind).prefix(2) == [.connectable, .scanResponse])
        #expect(reports.allSatisfy { $0.address == rig.address && $0.rssi == -40 && !$0.isExtended })
        #expect(AdvertisementData(reports[0].data).localName == "Mynah")
        #expect(AdvertisementData(reports[0].data).serviceUUIDs == ["180D"])
        await rig.stop()
    }

    @Test func `a device is heard once, or each time, as it is asked for`() async throws {
        let rig = try await CentralRig()
        try await rig.phone.scan(ScanOptions(isActive: false, allowsDuplicates: true))
        try await until("the phone has four advertising reports") { rig.phoneSink.reports.count >= 4 }
        #expect(rig.phoneSink.reports.allSatisfy { $0.kind == .connectable })
        // Another scan takes the place of the first.
        try await rig.phone.scan(ScanOptions(isActive: true))
        try await until("the phone has a scan response") {
            rig.phoneSink.reports.contains { $0.kind == .scanResponse }
        }
        await rig.stop()
    }

    @Test(arguments: [true, false])
    func `the whole of a heart-rate monitor: found, read, written, subscribed`(isExtended: Bool) async throws
    {
        let rig = try await CentralRig(isExtended: isExtended)
        let peer = try await rig.connect()
        #expect(try await rig.phone.exchangeMTU(with: peer) == 517)
        try await rig.phoneSink.wait(for: "mtu 517")
        let services = try await rig.phone.discoverServices(nil, of: peer)
        #expect(services.map(\.uuid) == ["1800", "1801", "180D"])
        let heart = try #require(try await rig.phone.discoverServices("180D", of: peer).first)
        #expect(heart == services.last)
        let included = try await rig.phone.discoverIncludedServices(in: heart, of: peer)
        #expect(included.map(\.uuid) == ["180F"])
        #expect(try await rig.phone.discoverSecondaryServices(of: peer).map(\.uuid) == ["180F"])
        let found = try await rig.phone.discoverCharacteristics(in: heart, of: peer)
        #expect(found.map(\.uuid) == [rig.rate.uuid, rig.control.uuid, rig.text.uuid])
        #expect(found[1].properties == [.read, .write, .writeWithoutResponse])
        let descriptors = try await rig.phone.discoverDescriptors(of: found[2], of: peer)
        #expect(descriptors.map(\.uuid) == ["2901"])
        #expect(try await rig.phone.read(descriptors[0].handle, of: peer) == Array("Pulse".utf8))

        // Long and short, fixed and asked for.
        #expect(try await rig.phone.read(found[2].handle, of: peer) == rig.text.value)
        #expect(try await rig.phone.read(found[1].handle, of: peer) == [0x63])
        rig.sink.answer(.answer(.success([])))
        try await rig.phone.write([1, 2], to: found[1].handle, of: peer)
        #expect(try await rig.phone.writeWithoutResponse([3], to: found[1].handle, of: peer))
        try await until("the device has the write") { rig.sink.words.contains("write 03 false") }
        #expect(rig.sink.words.contains("write 0102 true"))

        let configuration = try #require(
            try await rig.phone.discoverDescriptors(of: found[0], of: peer).first)
        #expect(configuration.uuid == GATT.clientConfiguration)
        try await rig.phone.write([1, 0], to: configuration.handle, of: peer)
        _ = try await rig.device.send([0, 72], of: rig.rate.key, as: .asSubscribed, to: nil)
        try await rig.phoneSink.wait(for: "notification \(found[0].handle) 0048")
        try await rig.phone.write([2, 0], to: configuration.handle, of: peer)
        _ = try await rig.device.send([0, 73], of: rig.rate.key, as: .asSubscribed, to: nil)
        try await rig.phoneSink.wait(for: "indication \(found[0].handle) 0049")
        try await until("the indication is confirmed") { rig.sink.words.contains("confirmed") }

        await rig.phone.disconnect(peer)
        try await rig.phoneSink.wait(for: "disconnected here")
        try await until("the device reports the disconnection") { rig.sink.words.contains("disconnected") }
        let again = try await rig.connect()
        #expect(again != peer)
        #expect(try await rig.phone.read(found[1].handle, of: again) == [])
        await rig.stop()
    }

    @Test func `several values are read in one request, and those that are cut by themselves`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        let (rate, text) = (found[0].handle, found[2].handle)
        rig.sink.answer(.answer(.success([0x63])))
        let long = try #require(rig.text.value)
        #expect(try await rig.phone.read([rate, text, rate], of: peer) == [[0x63], long, [0x63]])
        // Two of them are more than an answer carries.
        let many = [text, text, rate, text]
        #expect(try await rig.phone.read(many, of: peer) == [long, long, [0x63], long])
        #expect(try await rig.phone.read([], of: peer) == [])
        #expect(try await rig.phone.read([rate], of: peer) == [[0x63]])
        #expect(try await rig.phone.readConcatenated([rate, rate], of: peer) == [0x63, 0x63])
        await #expect(throws: RequestError.refused(.invalidHandle)) {
            try await rig.phone.read([rate, 0xFFF0], of: peer)
        }
        await rig.stop()
    }

    @Test func `an error of the device comes back as it was sent`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        rig.sink.answer(.answer(.failure(ATTError(code: 0x80))))
        await #expect(throws: RequestError.refused(ATTError(code: 0x80))) {
            try await rig.phone.write([1], to: found[1].handle, of: peer)
        }
        await #expect(throws: RequestError.refused(.writeNotPermitted)) {
            try await rig.phone.write([1], to: found[2].handle, of: peer)
        }
        await #expect(throws: RequestError.refused(.invalidHandle)) {
            try await rig.phone.read(0x0999, of: peer)
        }
        await rig.stop()
    }

    @Test func `requests made at once are answered one after the other`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        rig.sink.answer(.answer(.success([])))
        async let one: Void = rig.phone.write(Array(repeating: 1, count: 512), to: found[1].handle, of: peer)
        async let two: Void = rig.phone.write(Array(repeating: 2, count: 512), to: found[1].handle, of: peer)
        async let three = rig.phone.read(found[2].handle, of: peer)
        try await one
        try await two
        #expect(try await three.count == 300)
        await rig.stop()
    }

    @Test func `a connection that nobody answers holds up no other, and can be given up`() async throws {
        let rig = try await CentralRig()
        let nobody = try #require(DeviceAddress("C0:00:00:00:00:99", kind: .public))
        let waiting = Task { try await rig.phone.connect(nobody, timeout: .seconds(10)) }
        try await until("the phone begins one connection") {
            await rig.phone.waitingConnections == 1
        }
        let peer = try await rig.connect()
        // No command is under way, whose time would be over too.
        try await until("no command waits for its answer") {
            await rig.phone.due(.command) == nil
        }
        rig.clock.advance(by: .seconds(10))
        await #expect { try await waiting.value } throws: { ($0 as? RadioError)?.code == .timedOut }
        let cancelled = Task { try await rig.phone.connect(nobody, timeout: nil) }
        cancelled.cancel()
        await #expect(throws: RadioError.self) { try await cancelled.value }
        #expect(try await rig.phone.discoverServices("180D", of: peer).count == 1)
        // And it is found when it is there.
        await rig.phone.disconnect(peer)
        try await rig.phoneSink.wait(for: "disconnected here")
        _ = try await rig.connect()
        await rig.stop()
    }

    @Test func `a device that goes away is told, and what was asked of it fails`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        let reply = PendingReply()
        rig.sink.answer(.later(reply.pending))
        let reading = Task { try await rig.phone.read(found[1].handle, of: peer) }
        try await until("the device has the read") { rig.sink.words.contains("read 0") }
        await rig.device.stop()
        await #expect { try await reading.value } throws: { error in
            guard case .failed(let error)? = error as? RequestError else { return false }
            return error.code == .disconnected
        }
        try await rig.phoneSink.wait(for: "disconnected the peripheral ended the link")
        await #expect(throws: RequestError.self) { try await rig.phone.read(1, of: peer) }
        reply.answer(.success([]))
        await rig.phone.stop()
    }

    @Test func `a request that is not answered for 30 seconds is the link's last`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        let reply = PendingReply()
        rig.sink.answer(.later(reply.pending))
        let reading = Task { try await rig.phone.read(found[1].handle, of: peer) }
        try await until("the device has the read") { rig.sink.words.contains("read 0") }
        rig.clock.advance(by: .seconds(30))
        await #expect { try await reading.value } throws: { error in
            guard case .failed(let error)? = error as? RequestError else { return false }
            return error.code == .timedOut
        }
        await #expect(throws: RequestError.self) { try await rig.phone.read(found[2].handle, of: peer) }
        reply.answer(.success([]))
        await rig.stop()
    }

    @Test func `thousands of values both ways arrive in the order in which they were sent`() async throws {
        let rig = try await CentralRig()
        let peer = try await rig.connect()
        let found = try await rig.characteristics(peer)
        let configuration = try #require(
            try await rig.phone.discoverDescriptors(of: found[0], of: peer).first)
        try await rig.phone.write([1, 0], to: configuration.handle, of: peer)
        let count = 2000
        func bytes(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }
        async let commands: Void = {
            for number in 0..<count {
                try await until("the phone has room for a command") {
                    try await rig.phone.writeWithoutResponse(bytes(number), to: found[1].handle, of: peer)
                }
            }
        }()
        for number in 0..<count {
            try await until("the device has room for a notification") {
                try await rig.device.send(bytes(number), of: rig.rate.key, as: .asSubscribed, to: nil)
                    != .full
            }
        }
        try await commands
        let wanted = (0..<count).map { Hex.encode(bytes($0)) }
        try await until("every notification has come") {
            rig.phoneSink.words.count { $0.hasPrefix("notification ") } == count
        }
        try await until("every write has come") { rig.sink.words.count { $0.hasPrefix("write ") } == count }
        let notified = rig.phoneSink.words.filter { $0.hasPrefix("notification ") }.map { $0.suffix(4) }
        #expect(notified.map(String.init) == wanted)
        let written = rig.sink.words.filter { $0.hasPrefix("write ") }.map { $0.dropFirst(6).prefix(4) }
        #expect(written.map(String.init) == wanted)
        await rig.stop()
    }

    enum Order: CaseIterable { case centralFirst, centralConnectedFirst, peripheralFirst, advertisedFirst }

    /// Both radios are peripheral and central at once, and each connects to the other: over one link.
    @Test(arguments: [false, true], Order.allCases)
    func `one radio plays a central and a peripheral at once, whichever it began with`(
        isExtended: Bool, order: Order
    ) async throws {
        let rig = try await CentralRig(isExtended: isExtended, starts: false)
        try await rig.playDevice()
        let (sink, deviceSink) = (HostSink(), CentralWords())
        let both = DeviceIdentity(name: "Both")
        func advertise() async throws {
            var advertisement = Advertisement()
            advertisement.localName = "Both"
            advertisement.interval = .milliseconds(20)
            let report = try await rig.phone.advertise(advertisement)
            #expect(
                Hex.encode(report.data) == "0201060509426F7468"
                    && report.interval == .milliseconds(20)...(.milliseconds(20)))
        }
        var peer: Peer.ID?
        switch order {
        case .centralFirst:
            try await rig.phone.start(both, central: rig.phoneSink)
            _ = try await rig.phone.start(both, sink: sink)
        case .centralConnectedFirst:
            try await rig.phone.start(both, central: rig.phoneSink)
            try await rig.phone.scan(ScanOptions())
            peer = try await rig.connect()
            _ = try await rig.phone.start(both, sink: sink)
        case .peripheralFirst:
            _ = try await rig.phone.start(both, sink: sink)
            try await rig.phone.start(both, central: rig.phoneSink)
        case .advertisedFirst:
            _ = try await rig.phone.start(both, sink: sink)
            try await advertise()
            try await rig.phone.start(both, central: rig.phoneSink)
        }
        if order != .advertisedFirst { try await advertise() }
        let value = CharacteristicDefinition(uuid: "FFE1", properties: .read, value: [7])
        let published = try await rig.phone.publish([
            ServiceDefinition(uuid: "FFE0", characteristics: [value])
        ])
        try await rig.device.start(DeviceIdentity(name: "Mynah"), central: deviceSink)
        try await rig.device.scan(ScanOptions())
        try await until("the device hears the phone advertise") {
            deviceSink.reports.contains { $0.address == rig.phoneAddress }
        }
        let heard = try #require(deviceSink.reports.first { $0.address == rig.phoneAddress })
        #expect(Hex.encode(heard.data) == "0201060509426F7468")
        let away = try await rig.device.connect(rig.phoneAddress, timeout: nil).id
        if peer == nil { peer = try await rig.connect() }
        let link = try #require(peer)
        #expect(try await rig.phone.discoverServices("180D", of: link).count == 1)
        #expect(try await rig.device.discoverServices("180D", of: away).isEmpty)
        let name = try await rig.device.read(3, of: away)
        #expect(name == Array("Both".utf8))
        // A peripheral is a central too when it asks for what is published.
        #expect(sink.words.contains { $0.hasPrefix("connected") } == (order != .centralConnectedFirst))
        #expect(try await rig.device.read(try #require(published.handles[value.key]), of: away) == [7])
        #expect(await rig.phone.look { $0.acl.table.handles.count } == 1)
        #expect(await rig.device.look { $0.acl.table.handles.count } == 1)
        // It can be found again, after the link.
        try await until("the connection is reported") { sink.words.contains { $0.hasPrefix("connected") } }
        await rig.device.disconnect(away)
        try await until("the disconnection is reported") { sink.words.contains("disconnected") }
        _ = try await rig.device.connect(rig.phoneAddress, timeout: nil)
        #expect(!sink.words.contains { $0.hasPrefix("warning") })
        await rig.stop()
    }

    @Test func `a half that has been started is not started again`() async throws {
        let rig = try await CentralRig()
        let sink = HostSink()
        await #expect(throws: RadioError.self) {
            try await rig.phone.start(DeviceIdentity(name: "Phone"), central: CentralWords())
        }
        _ = try await rig.phone.start(DeviceIdentity(name: "Phone"), sink: sink)
        await #expect(throws: RadioError.self) {
            _ = try await rig.phone.start(DeviceIdentity(name: "Phone"), sink: HostSink())
        }
        await rig.stop()
    }

    @Test func `an address that changes is that of extended advertising too`() async throws {
        let air = LiveAir(seed: 1)
        let clock = ManualClock()
        var options = HostRadio.Options()
        options.address = .resolvablePrivate(every: .seconds(60))
        options.commandTimeout = .seconds(100_000)
        let own = try #require(DeviceAddress("C0:00:00:00:00:02", kind: .public))
        let radio = HostRadio(
            transport: air.transport(ControllerConfiguration(address: own)), options: options,
            clock: clock)
        try await radio.start(DeviceIdentity(name: "Both"), central: CentralWords())
        _ = try await radio.start(DeviceIdentity(name: "Both"), sink: HostSink())
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        _ = try await radio.advertise(advertisement)
        #expect(await radio.session.profile.style == .extended)
        let scanner = HostRadio(
            transport: air.transport(
                ControllerConfiguration(
                    address: try #require(DeviceAddress("C0:00:00:00:00:03", kind: .public)))))
        let words = CentralWords()
        try await scanner.start(DeviceIdentity(name: "Scanner"), central: words)
        try await scanner.scan(ScanOptions())
        let first = try #require(await radio.ownAddress)
        try await until("the first address is heard") { words.reports.contains { $0.address == first } }
        try await until("the private address changes") {
            clock.advance(by: .seconds(1))
            return await radio.ownAddress != first
        }
        let second = try #require(await radio.ownAddress)
        try await until("the second address is heard") { words.reports.contains { $0.address == second } }
        #expect(!words.reports.contains { $0.address == own })
        await radio.stop()
        await scanner.stop()
    }

    @Test func `a central that was stopped starts again`() async throws {
        let rig = try await CentralRig()
        _ = try await rig.connect()
        await rig.phone.stop()
        #expect(await rig.phone.look { $0.acl.table.isEmpty })
        try await rig.phone.start(DeviceIdentity(name: "Phone"), central: rig.phoneSink)
        try await until("the device reports the disconnection") { rig.sink.words.contains("disconnected") }
        _ = try await rig.connect()
        await rig.stop()
    }
}

extension CentralRig {
    func characteristics(_ peer: Peer.ID) async throws -> [RemoteCharacteristic] {
        let heart = try #require(try await phone.discoverServices("180D", of: peer).first)
        return try await phone.discoverCharacteristics(in: heart, of: peer)
    }
}
