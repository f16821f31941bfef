import Mynah
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ManagerChannelTests {
    @Test func `a channel goes to the manager that published its number`() async throws {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let first = await phone.makePeripheralManager()
        let second = await phone.makePeripheralManager()
        let one = try await first.publishL2CAPChannel(withEncryption: false)
        let two = try await second.publishL2CAPChannel(withEncryption: true)
        #expect(one == 0x80 && two == 0x81)
        #expect(await radio.channelNumbers == [one: false, two: true])
        var events = await second.events().makeAsyncIterator()
        let peer = Peer(id: .init(3))
        await radio.simulate(.connected(peer))
        let channel = await radio.openChannel(two, from: peer.id)
        _ = await events.next()
        guard case .channelOpened(let told, let central)? = await events.next()?.event else {
            Issue.record("the channel was not told")
            return
        }
        #expect(told === channel && central.id == peer.id)
        // Another's number is not given back.
        await first.unpublishL2CAPChannel(two)
        #expect(await radio.channelNumbers[two] == true && channel.isOpen)
        await second.unpublishL2CAPChannel(two)
        #expect(await radio.channelNumbers == [one: false] && !channel.isOpen)
    }

    @Test func `the radio's refusals and the central's actions are reported`() async throws {
        let radio = FakeRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "test"))
        try await phone.start()
        let manager = await phone.makePeripheralManager()
        await radio.fail(.publishL2CAPChannel, RadioError(.unsupported, "no"))
        let error = await #expect(throws: RadioError.self) {
            try await manager.publishL2CAPChannel(withEncryption: false)
        }
        #expect(error?.code == .unsupported)
        let peer = Peer.ID(1)
        #expect(try await manager.setDesiredConnectionLatency(.high, for: peer))
        #expect(try await !manager.setDesiredConnectionLatency(.low, for: peer))
        await radio.fail(.requestConnectionParameters, RadioError(.unsupported, "no"))
        await #expect(throws: RadioError.self) {
            try await manager.setDesiredConnectionLatency(.medium, for: peer)
        }
        #expect(await radio.wantedParameters == [.init(.high), .init(.low)])
    }

    // MARK: An app's life

    @Test func `a channel does not wake a suspended app, which goes on with it when it runs`() async throws {
        let rig = try await AppRig()
        let manager = try #require(rig.code.manager)
        let psm = try await manager.publishL2CAPChannel(withEncryption: false)
        let link = await rig.radio.openChannel(psm, from: rig.peer.id)
        let channel = try #require(rig.code.channels.first)
        let words = Lock<[String]>([])
        let talking = Task {
            while let piece = await channel.receive() {
                words.withLock { $0.append(Hex.encode(piece)) }
                try await channel.send(piece)
            }
            words.withLock { $0.append("closed") }
        }
        link.take([1])
        try await until("the first piece is sent and the next is awaited") {
            link.sent == [[1]] && link.isAwaited
        }
        await rig.app.suspend()
        rig.code.forget()
        link.take([2])
        let second = await rig.radio.openChannel(psm, from: rig.peer.id)
        await #expect(throws: RadioError.self) { try await manager.publishL2CAPChannel(withEncryption: true) }
        await manager.unpublishL2CAPChannel(psm)
        #expect(rig.code.words == [] && link.sent == [[1]] && link.isOpen && second.isOpen)
        #expect(words.withLock { $0 } == ["01"])
        await rig.app.enterForeground()
        try await until("both pieces are sent") { link.sent == [[1], [2]] }
        #expect(rig.code.words == ["foreground", "channel 128"])
        await manager.unpublishL2CAPChannel(psm)
        #expect(!link.isOpen && !second.isOpen)
        try await talking.value
        #expect(words.withLock { $0 } == ["01", "02", "closed"])
    }

    @Test(arguments: ["terminate", "crash", "quit", "radio"])
    func `an end of the app closes its channels and gives the number back`(end: String) async throws {
        let rig = try await AppRig(restoreIdentifier: "com.example.hrm")
        let manager = try #require(rig.code.manager)
        let psm = try await manager.publishL2CAPChannel(withEncryption: false)
        let link = await rig.radio.openChannel(psm, from: rig.peer.id)
        switch end {
        case "terminate": await rig.app.terminate()
        case "crash": await rig.app.crash()
        case "quit": await rig.app.quit()
        default: await rig.radio.simulate(.stateChanged(.unsupported))
        }
        #expect(await rig.radio.channelNumbers.isEmpty && !link.isOpen)
        // Services stay for the restored manager, and channels do not.
        if end == "terminate" || end == "crash" { #expect(await rig.radio.published.count == 1) }
        await rig.radio.simulate(.stateChanged(.poweredOn))
        await rig.app.enterForeground()
        #expect(await rig.radio.channelNumbers.isEmpty)
        let next = try #require(rig.code.manager)
        #expect(try await next.publishL2CAPChannel(withEncryption: false) == psm)
    }

    @Test func `of two apps each has its own number, and takes no other's with it when it ends`() async throws
    {
        let rig = try await AppRig()
        let code = TestApp()
        let other = await rig.phone.makeApp(
            AppDescription(name: "other"), delegate: code, clock: rig.clock)
        await other.enterForeground()
        let one = try await #require(rig.code.manager).publishL2CAPChannel(withEncryption: false)
        let two = try await #require(code.manager).publishL2CAPChannel(withEncryption: false)
        let first = await rig.radio.openChannel(one, from: rig.peer.id)
        let second = await rig.radio.openChannel(two, from: rig.peer.id)
        #expect(rig.code.channels.map(\.psm) == [one] && code.channels.map(\.psm) == [two])
        await rig.app.quit()
        #expect(!first.isOpen && second.isOpen)
        #expect(await rig.radio.channelNumbers == [two: false])
        // Given out again, it is whose it is now.
        #expect(try await #require(code.manager).publishL2CAPChannel(withEncryption: true) == one)
        _ = await rig.radio.openChannel(one, from: rig.peer.id)
        #expect(code.channels.map(\.psm) == [two, one])
    }

    @Test func `a number stays while Bluetooth is off, as services do`() async throws {
        let rig = try await AppRig()
        let psm = try await #require(rig.code.manager).publishL2CAPChannel(withEncryption: false)
        await rig.radio.simulate(.stateChanged(.poweredOff))
        #expect(await rig.radio.channelNumbers == [psm: false])
    }

    @Test func `a phone that stops lets go of who waits for a suspended app`() async throws {
        let rig = try await AppRig()
        let psm = try await #require(rig.code.manager).publishL2CAPChannel(withEncryption: false)
        let link = await rig.radio.openChannel(psm, from: rig.peer.id)
        let channel = try #require(rig.code.channels.first)
        await rig.app.suspend()
        async let next = channel.receive()
        await rig.phone.stop()
        link.end()
        #expect(await next == nil)
    }
}
