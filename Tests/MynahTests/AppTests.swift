import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AppTests {
    static let foreground = ["02011A030307C005094672 6564".filter { $0 != " " }, ""]
    static let background = ["02011A", "14FF4C000100000000100000000000000000000000"]

    @Test func `an app on the screen advertises name and UUID, off it the overflow area, and again`()
        async throws
    {
        let rig = try await AppRig()
        #expect(await rig.air == Self.foreground)
        #expect(await rig.radio.advertisement?.interval == .milliseconds(30))
        await rig.app.enterBackground()
        try await until("the background advertisement is on the air") { await rig.air == Self.background }
        #expect(await rig.radio.advertisement?.interval == .microseconds(181_250))
        #expect(await rig.code.manager?.advertising.omitted.map(\.item) == ["localName", "serviceUUIDs[0]"])
        await rig.app.suspend()
        #expect(await rig.air == Self.background)
        await rig.app.enterForeground()
        try await until("the foreground advertisement is on the air") { await rig.air == Self.foreground }
        #expect(await rig.code.manager?.isAdvertising == true)
    }

    @Test func `a foreground-only app is silent off the screen, and says so`() async throws {
        let rig = try await AppRig(background: false)
        await rig.app.enterBackground()
        try await until("the app is off the air") { await rig.air == nil }
        try await until("the manager no longer advertises") { await rig.code.manager?.isAdvertising == false }
        #expect(await rig.code.manager?.advertising.data == [])
        #expect(rig.sink.advertised.last == false)
        await rig.app.enterForeground()
        try await until("the foreground advertisement is on the air") { await rig.air == Self.foreground }
        #expect(await rig.code.manager?.isAdvertising == true)
        #expect(rig.sink.advertised == [true, false, true])
    }

    @Test func `a suspended foreground-only app is asked nothing, and hears in order what happened`()
        async throws
    {
        let rig = try await AppRig(background: false)
        await rig.app.enterBackground()
        try await rig.advance(.seconds(5), expecting: "suspended")
        await rig.radio.simulate(.connected(rig.peer))
        await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
        #expect(try await rig.read() == .failure(.unlikelyError))
        #expect(try await rig.write([1]) == .failure(.unlikelyError))
        _ = try await rig.write([2], wantsResponse: false)
        // Static values are the radio's to answer, and stay so.
        #expect(await rig.radio.values[rig.fixed.key] == [1, 2])
        let manager = try #require(rig.code.manager)
        #expect(await manager.hasSubscribers(of: rig.level.key))
        #expect(await rig.radio.modes[rig.service.uuid] == .disabled)
        await rig.radio.simulate(.unsubscribed(rig.level.key, rig.peer.id))
        await rig.radio.simulate(.disconnected(rig.peer.id))
        #expect(await !manager.hasSubscribers(of: rig.level.key))
        #expect(rig.code.words == ["background", "suspended"])
        await rig.app.enterForeground()
        #expect(
            rig.code.words.dropFirst(2) == [
                "foreground", "connected", "subscribed", "unsubscribed", "disconnected",
            ])
        #expect(await rig.radio.modes[rig.service.uuid] == .app)
        #expect(rig.sink.refusals.last == "write of 7 with 0E because suspended")
    }

    @Test func `a request that a radio refuses for a disabled app is refused for the app's reason`()
        async throws
    {
        let rig = try await AppRig(background: false)
        let refused = RefusedRequest(
            central: rig.peer.id, attribute: rig.level.key, access: .write, error: .unlikelyError)
        await rig.radio.simulate(.refused(refused))
        await rig.app.enterBackground()
        await rig.radio.simulate(.refused(refused))
        await rig.app.suspend()
        await rig.radio.simulate(.refused(refused))
        #expect(
            rig.sink.refusals == [
                "write of 7 with 0E because other", "write of 7 with 0E because background",
                "write of 7 with 0E because suspended",
            ])
    }

    @Test(arguments: ["foreground", "suspended", "terminated"])
    func `Bluetooth that is turned off ends subscriptions without a callback, and wakes and launches no app`(
        state: String
    ) async throws {
        let rig = try await AppRig(restoreIdentifier: "com.example.level")
        await rig.radio.simulate(.connected(rig.peer))
        await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
        switch state {
        case "suspended": await rig.app.suspend()
        case "terminated": await rig.app.terminate()
        default: break
        }
        let manager = rig.code.manager
        rig.code.forget()
        await rig.radio.turnOff()
        await rig.radio.simulate(.unsubscribed(rig.level.key, rig.peer.id))
        await rig.radio.simulate(.disconnected(rig.peer.id))
        await rig.radio.simulate(.stateChanged(.poweredOff))
        await rig.radio.simulate(.stateChanged(.poweredOn))
        let heard = ["disconnected", "state poweredOff", "state poweredOn"]
        #expect(rig.code.words == (state == "foreground" ? heard : []))
        #expect(await rig.app.state.rawValue == state)
        if state != "terminated" { #expect(await manager?.hasSubscribers(of: rig.level.key) == false) }
    }

    @Test func `a read wakes a suspended app, which is suspended again after ten seconds`() async throws {
        let rig = try await AppRig()
        await rig.app.suspend()
        #expect(try await rig.read() == .success([7]))
        #expect(rig.code.words == ["background", "suspended", "woken by read", "read"])
        rig.code.forget()
        try await rig.clock.waitForSleepers(1)
        rig.clock.advance(by: .milliseconds(9999))
        #expect(await rig.app.state == .background)
        rig.clock.advance(by: .milliseconds(1))
        try await rig.wait(for: "suspended")
        #expect(await rig.app.state == .suspended)
    }

    @Test func `a suspended app cannot send`() async throws {
        let rig = try await AppRig()
        await rig.radio.simulate(.subscribed(rig.level.key, nil, nil))
        await rig.app.suspend()
        let manager = try #require(rig.code.manager)
        let level = rig.level.key
        let error = await #expect(throws: RadioError.self) {
            _ = try await manager.updateValue([1], for: level)
        }
        #expect(error?.code == .invalidState)
    }

    @Test
    func `a request answered later is work: throttled after ten seconds, ended after twenty, and answered`()
        async throws
    {
        let rig = try await AppRig()
        let slow = PendingReply()
        rig.code.answer(.later(slow.pending))
        await rig.app.suspend()
        async let outcome = rig.read()
        try await rig.wait(for: "read")
        try await rig.advance(.seconds(10), expecting: "throttled")
        try await rig.advance(.seconds(10), expecting: "terminated overran")
        #expect(try await outcome == .failure(.unlikelyError))
        // Too late, and of no consequence.
        slow.answer(.success([1]))
        #expect(await rig.app.state == .terminated)
    }

    @Test func `a request answered in time ends the work`() async throws {
        let rig = try await AppRig()
        let slow = PendingReply()
        rig.code.answer(.later(slow.pending))
        await rig.app.suspend()
        async let outcome = rig.read()
        try await rig.wait(for: "read")
        try await rig.advance(.seconds(10), expecting: "throttled")
        rig.code.forget()
        slow.answer(.success([1]))
        #expect(try await outcome == .success([1]))
        try await rig.wait(for: "suspended")
    }

    @Test func `an app without a restore identifier that is terminated is gone`() async throws {
        let rig = try await AppRig()
        await rig.app.terminate()
        try await until("no service is published") { await rig.radio.published.isEmpty }
        try await until("the app is off the air") { await rig.air == nil }
        #expect(try await rig.read() == .failure(.unlikelyError))
    }

    @Test func `a restorable one stays on the air, and the next event relaunches it, restored`() async throws
    {
        let rig = try await AppRig(restoreIdentifier: "com.example.hrm")
        await rig.radio.simulate(.connected(rig.peer))
        await rig.radio.simulate(.subscribed(rig.level.key, rig.peer.id, .notification))
        await rig.app.suspend()
        rig.code.forget()
        await rig.app.receiveMemoryPressure()
        #expect(rig.code.words == ["terminated memoryPressure"])
        #expect(await rig.radio.published.count == 1)
        try await until("the background advertisement is on the air") { await rig.air == Self.background }
        #expect(try await rig.read() == .success([7]))
        #expect(
            rig.code.words == [
                "terminated memoryPressure", "launched in background", "willRestoreState", "state poweredOn",
                "woken by read", "read",
            ])
        let options = rig.code.state.withLock { $0.options.last }
        #expect(options == LaunchOptions(restoreIdentifiers: ["com.example.hrm"], isInBackground: true))
        let restored = try #require(rig.code.restored.last)
        #expect(restored.services.map(\.uuid) == ["1810"])
        #expect(restored.advertisement?.localName == "Fred")
        #expect(
            restored.subscribers == [
                .init(attribute: rig.level.key, address: rig.peer.address, isLive: true)
            ])
        // The manager of this launch has it all, and the air is one.
        let manager = try #require(rig.code.manager)
        #expect(await manager.hasSubscribers(of: rig.level.key))
        #expect(try await manager.updateValue([9], for: rig.level.key))
        #expect(await rig.radio.sent.map(\.value) == [[9]])
        await rig.app.enterForeground()
        try await until("the foreground advertisement is on the air") { await rig.air == Self.foreground }
        await manager.stopAdvertising()
        #expect(await rig.air == nil)
    }

    @Test func `an app that the user quits is gone, and only the user brings it back`() async throws {
        let rig = try await AppRig(restoreIdentifier: "com.example.hrm")
        await rig.app.quit()
        try await until("no service is published") { await rig.radio.published.isEmpty }
        try await until("the app is off the air") { await rig.air == nil }
        #expect(try await rig.read() == .failure(.unlikelyError))
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words == ["launched", "state poweredOn", "foreground"])
        #expect(rig.code.restored.isEmpty)
        try await rig.publish()
        #expect(try await rig.read() == .success([7]))
    }

    @Test func `a radio that is off takes the advert away and gives it back`() async throws {
        let rig = try await AppRig()
        await rig.radio.simulate(.stateChanged(.poweredOff))
        try await until("the app is off the air") { await rig.air == nil }
        #expect(await rig.code.manager?.isAdvertising == false)
        #expect(await rig.radio.published.count == 1)
        await rig.radio.simulate(.stateChanged(.poweredOn))
        try await until("the foreground advertisement is on the air") { await rig.air == Self.foreground }
        #expect(rig.code.words == ["state poweredOff", "state poweredOn"])
    }

    @Test(arguments: [RadioState.resetting, .unsupported, .unauthorized])
    func `below that the database is cleared, and the app publishes again`(state: RadioState) async throws {
        let rig = try await AppRig()
        await rig.radio.simulate(.stateChanged(state))
        try await until("no service is published") { await rig.radio.published.isEmpty }
        #expect(await rig.code.manager?.services.isEmpty == true)
        await rig.radio.simulate(.stateChanged(.poweredOn))
        #expect(await rig.air == nil)
        try await rig.publish()
        #expect(await rig.air == Self.foreground)
        #expect(try await rig.read() == .success([7]))
    }

    @Test func `an app advertises a name and UUIDs, and nothing else`() async throws {
        let rig = try await AppRig()
        var advertisement = Advertisement()
        advertisement.manufacturerData = [.init(company: 0x59, data: [1])]
        let manager = try #require(rig.code.manager)
        let error = await #expect(throws: RadioError.self) {
            try await manager.startAdvertising(advertisement)
        }
        #expect(error?.code == .advertisementRefused)
        #expect(error?.message.contains("manufacturerData") == true)
        #expect(await rig.air == Self.foreground)
    }

    @Test func `from iOS 14 on UUIDs that are changed in the background wait for the foreground`()
        async throws
    {
        let rig = try await AppRig()
        await rig.app.enterBackground()
        try await until("the background advertisement is on the air") { await rig.air == Self.background }
        let manager = try #require(rig.code.manager)
        var changed = Advertisement()
        changed.serviceUUIDs = ["C008"]
        let report = try await manager.startAdvertising(changed)
        #expect(await rig.air == Self.background)
        #expect(report.omitted.contains { $0.item == "serviceUUIDs[0]" && $0.reason.contains("iOS 14") })
        // Stopped and started again it is no way round.
        await manager.stopAdvertising()
        try await manager.startAdvertising(changed)
        #expect(await rig.air == nil)
        await rig.app.enterForeground()
        try await until("the other UUID is advertised in the foreground") {
            await rig.air == ["02011A030308C0", ""]
        }
        await rig.app.enterBackground()
        try await until("the other UUID is in the overflow area") {
            await rig.air == ["02011A", "14FF4C000100000000000000080000000000000000"]
        }
    }

    @Test func `two apps of one phone share the mask, the name and the rate`() async throws {
        let rig = try await AppRig()
        let code = TestApp()
        var rules = AppRules()
        rules.backgroundModes = [.bluetoothPeripheral]
        let other = await rig.phone.makeApp(
            AppDescription(name: "other", rules: rules), delegate: code, clock: rig.clock)
        // Opened, it takes the screen from the first, whose UUID goes to the overflow area.
        await other.enterForeground()
        #expect(rig.code.words == ["background"])
        var advertisement = Advertisement()
        advertisement.localName = "Barney"
        advertisement.serviceUUIDs = ["1001"]
        let report = try await #require(code.manager).startAdvertising(advertisement)
        #expect(
            await rig.air == ["02011A0303011007094261726E6579", "14FF4C000100000000100000000000000000000000"])
        #expect(report.omitted == [])
        await rig.app.enterForeground()
        #expect(code.words == ["launched", "state poweredOn", "foreground", "background"])
        try await until("the UUID of the background app is in the overflow area") {
            await rig.air == [Self.foreground[0], "14FF4C000100000000000000020000000000000000"]
        }
        #expect(await rig.radio.advertisement?.interval == .milliseconds(30))
        await rig.app.enterBackground()
        try await until("both UUIDs are in the overflow area") {
            await rig.air == ["02011A", "14FF4C000100000000100000020000000000000000"]
        }
        #expect(await rig.radio.advertisement?.interval == .microseconds(181_250))
    }

    @Test(arguments: ["background", "suspended"])
    func `a request that a foreground-only app may not serve is refused, and reported`(state: String)
        async throws
    {
        let rig = try await AppRig(background: false)
        if state == "background" { await rig.app.enterBackground() } else { await rig.app.suspend() }
        #expect(try await rig.read() == .failure(.unlikelyError))
        #expect(try await rig.write([1]) == .failure(.unlikelyError))
        #expect(
            rig.sink.refusals == [
                "read of 7 with 0E because \(state)", "write of 7 with 0E because \(state)",
            ])
    }

    @Test func `a request that an app has not answered when it ends is refused, and reported`() async throws {
        let rig = try await AppRig()
        let reply = PendingReply()
        rig.code.answer(.later(reply.pending))
        let part = WriteRequest.Part(attribute: rig.level.key, value: [1])
        let parts = [part, WriteRequest.Part(attribute: rig.level.key, offset: 1, value: [2])]
        let write = WriteRequest(central: rig.peer.id, parts: parts, wantsResponse: true)
        let radio = rig.radio
        async let outcome = radio.request(.write(write))
        try await rig.wait(for: "write 01")
        await rig.app.crash()
        #expect(try await outcome == .failure(.unlikelyError))
        #expect(rig.sink.refusals == ["write of 7 with 0E because ended"])
    }

    @Test func `a static read of an app that was terminated is reported by the phone`() async throws {
        let rig = try await AppRig(restoreIdentifier: "com.example.hrm")
        let read = ReadRequest(central: rig.peer.id, attribute: rig.fixed.key)
        await rig.radio.simulate(.answeredRead(read, [1, 2]))
        #expect(rig.sink.answered == [])
        await rig.app.terminate()
        await rig.radio.simulate(.answeredRead(read, [1, 2]))
        #expect(rig.sink.answered == [[1, 2]])
        #expect(await rig.app.state == .terminated)
    }

    @Test func `opening one app sends the one on the screen to the background first, and no other`()
        async throws
    {
        let rig = try await AppRig()
        let words = Lock([String]())
        let names = ["one", "two", "three"]
        var apps: [App] = []
        for name in names {
            let code = NamedApp(name) { word in words.withLock { $0.append(word) } }
            apps.append(
                await rig.phone.makeApp(AppDescription(name: name), delegate: code, clock: rig.clock))
        }
        await apps[0].enterForeground()
        #expect(rig.code.words == ["background"])
        await apps[1].enterForeground()
        await apps[1].enterForeground()
        await apps[1].suspend()
        await apps[2].enterForeground()
        await apps[0].enterForeground()
        #expect(
            words.withLock { $0 } == [
                "one launched", "one foreground", "one background", "two launched", "two foreground",
                "two background", "two suspended", "three launched", "three foreground", "three background",
                "one foreground",
            ])
        #expect(await apps[0].state == .foreground)
        #expect(await rig.app.state == .background)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `after any events, at most one app is on the screen`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let phone = Phone(radio: FakeRadio(), identity: DeviceIdentity(name: "iPhone"))
        let onScreen = Lock(Set<String>())
        let most = Lock(0)
        var apps: [App] = []
        for name in ["one", "two", "three"] {
            let code = NamedApp(name) { word in
                let count = onScreen.withLock { onScreen in
                    if word == "\(name) foreground" { onScreen.insert(name) } else { onScreen.remove(name) }
                    return onScreen.count
                }
                most.withLock { $0 = max($0, count) }
            }
            apps.append(await phone.makeApp(AppDescription(name: name), delegate: code, clock: clock))
        }
        for _ in 0..<60 {
            let index = Int.random(in: 0..<apps.count, using: &random)
            let transition = try #require(AppTransition.allCases.randomElement(using: &random))
            await apps[index].carryOut(transition)
            var states: [AppState] = []
            for app in apps { states.append(await app.state) }
            #expect(states.count { $0 == .foreground } == onScreen.withLock { $0.count })
            if transition == .enterForeground { #expect(states[index] == .foreground) }
        }
        #expect(most.withLock { $0 } == 1)
    }

    @Test func `services published again while they are still being withdrawn wait, and are served`()
        async throws
    {
        let rig = try await AppRig()
        await rig.radio.holdWithdrawing()
        await rig.app.crash()
        try await until("one call of the radio is held") { await rig.radio.heldCount == 1 }
        await rig.app.enterForeground()
        let publishing = Task { try await rig.publish() }
        #expect(try await rig.read() == .failure(.unlikelyError))
        await rig.radio.release()
        try await publishing.value
        #expect(await rig.radio.published.count == 1)
        #expect(await rig.radio.values[rig.fixed.key] == [1, 2])
        #expect(try await rig.read() == .success([7]))
    }

    @Test func `the preserved state of an app is not for its ended manager to delete`() async throws {
        let rig = try await AppRig(restoreIdentifier: "com.example.hrm")
        let manager = try #require(rig.code.manager)
        await rig.app.terminate()
        try await until("the background advertisement is on the air") { await rig.air == Self.background }
        await manager.stopAdvertising()
        await manager.removeAllServices()
        #expect(await rig.air == Self.background)
        #expect(try await rig.read() == .success([7]))
        #expect(rig.code.restored.first?.services.count == 1)
    }

    @Test func `two managers of an app with one restore identifier are an error, and of two apps are not`()
        async throws
    {
        let rig = try await AppRig(restoreIdentifier: "same")
        let again = await rig.app.makingPeripheralManager(restoreIdentifier: "same")
        #expect(again == .invalidState)
        for (name, error) in [("other", nil), ("test", .invalidState)] as [(String, RadioError.Code?)] {
            let code = TestApp(restoreIdentifier: "same")
            let other = await rig.phone.makeApp(
                AppDescription(name: name, restoreIdentifiers: ["same"]), delegate: code, clock: rig.clock)
            await other.enterForeground()
            #expect(code.state.withLock { $0.errors.map(\.code) } == [error].compactMap { $0 })
            #expect((code.manager == nil) == (error != nil))
        }
    }

    @Test func `a flood while an app is suspended is bounded, and what was dropped is counted`() async throws
    {
        let rig = try await AppRig(background: false)
        await rig.app.suspend()
        for _ in 0..<5000 { await rig.radio.simulate(.connected(rig.peer)) }
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words.count { $0 == "connected" } == 4096)
        #expect(rig.code.words.last == "missed 904")
    }
}
