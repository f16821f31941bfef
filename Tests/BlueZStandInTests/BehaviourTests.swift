import Glibc
import MynahBlueZStandIn
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct BehaviourTests {
    /// Calls that the application has received, in order.
    private func record(_ scene: Scene) -> Lock<[String]> {
        let calls = Lock<[String]>([])
        scene.characteristic.answer { call in
            let member = call.member
            calls.withLock { $0.append(member) }
            if !call.wantsNoReply { call.reply() }
        }
        return calls
    }

    /// Waits until all that was sent to the application has reached it.
    private func settle(_ scene: Scene) async throws {
        _ = try? await scene.standIn.central("00:00:00:00:00:99").read("2a37")
        _ = try await scene.application.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
    }

    @Test func `an answer to a call that wants none is a violation`() async throws {
        let scene = try await Scene(flags: ["write-without-response"])
        let phone = await scene.standIn.central()
        try await phone.connect()
        // Our own module keeps from answering, so the answer is put together as a careless library does.
        let seen = Lock<[MethodCall]>([])
        scene.characteristic.answer { call in seen.withLock { $0.append(call) } }
        try await phone.write("2a37", [1])
        try await settle(scene)
        let call = try #require(seen.withLock { $0.first })
        #expect(call.wantsNoReply)
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try scene.application.sendReply(to: call.message)
        }
        try await scene.standIn.wait("the contract is violated") { !$0.violations.isEmpty }
        #expect(await scene.standIn.violations == ["a call that wants no reply was answered"])
    }

    @Test func `a write beside commands is never refused, one alone is`() async throws {
        let both = try await Scene(flags: ["write", "write-without-response"])
        both.characteristic.answer { $0.fail(DBusError("org.bluez.Error.NotPermitted")) }
        let first = await both.standIn.central()
        try await first.connect()
        try await first.write("2a37", [1])
        let alone = try await Scene(flags: ["write"])
        alone.characteristic.answer { $0.fail(DBusError("org.bluez.Error.NotPermitted")) }
        let second = await alone.standIn.central()
        try await second.connect(mtu: 517)
        #expect(await failure { () async throws(ATTFailure) in try await second.write("2a37", [1]) } == 0x03)
        alone.characteristic.answer { $0.reply() }
        try await second.write("2a37", [UInt8](repeating: 0, count: 510))
        let long = [UInt8](repeating: 0, count: 511)
        #expect(await failure { () async throws(ATTFailure) in try await second.write("2a37", long) } == 0x0D)
        #expect(await failure { () async throws(ATTFailure) in _ = try await second.read("2a37") } == 0x02)
        #expect(await failure { () async throws(ATTFailure) in _ = try await second.read("2a99") } == 0x0A)
    }

    @Test func `an answer after the attribute's time is too late`() async throws {
        var configuration = StandInConfiguration()
        configuration.attributeTimeout = .milliseconds(1)
        let scene = try await Scene(configuration)
        let held = Lock<MethodCall?>(nil)
        scene.characteristic.answer { call in held.withLock { $0 = call } }
        let phone = await scene.standIn.central()
        try await phone.connect()
        #expect(await failure { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0x0E)
        // On a busy machine the phone can hear of its failure before the application hears of the read.
        try await settle(scene)
        try #require(held.withLock { $0 }).reply { $0.appendBytes([1]) }
        try await scene.standIn.wait("the daemon logs something") { !$0.log.isEmpty }
        #expect(await scene.standIn.violations.isEmpty)
    }

    @Test func `prepared parts that follow each other become one write`() async throws {
        let scene = try await Scene(flags: ["write", "authorize"])
        let writes = Lock<[String]>([])
        scene.characteristic.answer { call in
            var reader = call.reader()
            let bytes = (try? reader.readBytes()) ?? []
            let options = try? reader.readValue()
            let offset = options?["offset"]?.integer(as: Int.self) ?? 0
            let asks = options?["prepare-authorize"]?.boolValue == true
            writes.withLock { $0.append("\(asks ? "?" : "")\(bytes.count)@\(offset)") }
            call.reply()
        }
        let phone = await scene.standIn.central()
        try await phone.connect()
        try await phone.writeLong("2a37", [UInt8](repeating: 7, count: 100))
        #expect(writes.withLock { $0 } == ["?0@0", "100@0"])
        try await phone.writePrepared("2a37", [(4, [1, 2]), (6, [3])])
        #expect(writes.withLock { $0.last } == "3@4")
        let apart = await failure { () async throws(ATTFailure) in
            try await phone.writePrepared("2a37", [(0, [1]), (5, [2])])
        }
        #expect(apart == 0x06)
    }

    @Test func `subscriptions are counted, and the count leaks when 1 becomes 2`() async throws {
        let scene = try await Scene(flags: ["notify", "indicate"])
        let calls = record(scene)
        let one = await scene.standIn.central("00:00:00:00:00:01")
        let two = await scene.standIn.central("00:00:00:00:00:02")
        try await one.connect()
        try await scene.update([("ServiceUUIDs", .strings(["180d"]))])
        try await two.connect()
        try await one.subscribe("2a37")
        try await two.subscribe("2a37")
        try await scene.notify([1, 2])
        #expect(try await one.notifications().map(\.value) == [[1, 2]])
        #expect(try await two.notifications().map(\.isIndication) == [false])
        try await one.unsubscribe("2a37")
        await two.disconnect()
        try await settle(scene)
        #expect(calls.withLock { $0 } == ["StartNotify", "StartNotify", "StopNotify"])
        try await one.subscribe("2a37")
        try await one.subscribeToIndications("2a37")
        try await scene.notify([3])
        #expect(try await one.notifications().map(\.isIndication) == [true])
        try await one.unsubscribe("2a37")
        try await settle(scene)
        #expect(calls.withLock { $0.suffix(3) } == ["StartNotify", "StartNotify", "Confirm"])
    }

    @Test func `a notification is cut to the link, silently`() async throws {
        let scene = try await Scene()
        let phone = await scene.standIn.central()
        try await phone.connect()
        _ = record(scene)
        try await phone.subscribe("2a37")
        try await scene.notify([UInt8](repeating: 9, count: 30))
        #expect(try await phone.notifications().first?.value.count == 20)
        for number in UInt8(0)..<50 {
            try await scene.notify([number])
        }
        #expect(try await phone.notifications(50).map(\.value) == (0..<50).map { [$0] })
    }

    @Test func `an over-long live update ends an old daemon, and only an old one`() async throws {
        let long = DBusValue.dictionary(
            key: "q", value: "v", [.init(.uint16(1), .variant(.bytes([UInt8](repeating: 0, count: 27))))])
        let new = try await Scene(StandInConfiguration(.trixie))
        try await new.update([("ManufacturerData", long)])
        #expect(await new.standIn.hasAborted == false)
        #expect(await new.standIn.violations.count == 1)
        let old = try await Scene()
        let fit = await old.standIn.advertisements()
        #expect(fit.first?.data == [3, 0x03, 0x0D, 0x18, 2, 0x01, 0x06])
        try await old.update([("ServiceUUIDs", .strings(["180f"])), ("LocalName", "New")])
        #expect(await old.standIn.advertisements().first?.data == [3, 0x03, 0x0F, 0x18, 2, 0x01, 0x06])
        _ = await busError { () async throws(DBusError) in try await old.update([("ManufacturerData", long)])
        }
        #expect(await old.standIn.hasAborted)
    }

    @Test func `a connection stops the advert until it is refreshed or the link ends`() async throws {
        let scene = try await Scene()
        let phone = await scene.standIn.central()
        try await phone.connect()
        #expect(await scene.standIn.advertisements().isEmpty)
        try await scene.update([("Discoverable", true)])
        #expect(await scene.standIn.advertisements().isEmpty)
        try await scene.update([("ServiceUUIDs", .strings(["180d"]))])
        #expect(await scene.standIn.advertisements().count == 1)
        let second = await scene.standIn.central("00:00:00:00:00:02")
        try await second.connect()
        await phone.disconnect()
        #expect(await scene.standIn.advertisements().count == 1)
        try await scene.standIn.setPowered(false)
        #expect(await !scene.standIn.isConnected(second.address))
        try await scene.standIn.setPowered(true)
        #expect(await scene.standIn.advertisements().isEmpty)
        #expect(await scene.standIn.advertisementCount() == 1)
        try await scene.manage("LEAdvertisingManager1", "UnregisterAdvertisement", "/advert")
        try await scene.manage("LEAdvertisingManager1", "RegisterAdvertisement", "/advert")
        #expect(await scene.standIn.advertisements().count == 1)
    }

    @Test func `advertisements run out, and rfkill blocks`() async throws {
        var configuration = StandInConfiguration()
        configuration.maximumAdvertisements = 0
        configuration.isBlocked = true
        let scene = try await Scene(registers: false, configuration)
        let refused = await busError { () async throws(DBusError) in
            try await scene.manage("LEAdvertisingManager1", "RegisterAdvertisement", "/advert")
        }
        #expect(refused == DBusError("org.bluez.Error.NotPermitted", "Maximum advertisements reached"))
        let blocked = await busError { () async throws(DBusError) in
            try await scene.application.setProperty(
                "Powered", of: "org.bluez.Adapter1", at: "/org/bluez/hci0", on: "org.bluez", to: true)
        }
        #expect(blocked?.name == "org.bluez.Error.Blocked")
    }

    @Test func `an advertisement whose properties never come holds its instance`() async throws {
        var configuration = StandInConfiguration()
        configuration.maximumAdvertisements = 1
        let scene = try await Scene(registers: false, configuration)
        let silent = try await DBusConnection.connect(to: .address(scene.bus.address))
        let asked = Lock<[MethodCall]>([])
        let object = TestObject(
            DBusInterface(
                "org.freedesktop.DBus.Properties", methods: [.init("GetAll", "s", returns: "a{sv}")]), [:]
        ) { call in asked.withLock { $0.append(call) } }
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try silent.export(object, at: "/advert")
            try silent.send(
                "org.bluez", "/org/bluez/hci0", "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement",
                body: { body in
                    body.append(ObjectPath("/advert"))
                    body.appendOptions()
                }, completion: { _ in })
        }
        _ = try await silent.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
        let refused = await busError { () async throws(DBusError) in
            try await scene.manage("LEAdvertisingManager1", "RegisterAdvertisement", "/advert")
        }
        #expect(refused?.name == "org.bluez.Error.NotPermitted")
        await silent.close()
        try await scene.standIn.wait("every registration is answered") { $0.unansweredCount() == 0 }
        try await scene.manage("LEAdvertisingManager1", "RegisterAdvertisement", "/advert")
    }

    @Test func `an agent makes the adapter pairable and is asked as it can answer`() async throws {
        let scene = try await Scene(flags: ["secure-read"])
        scene.characteristic.answer { $0.reply { $0.appendBytes([1]) } }
        let phone = await scene.standIn.central()
        try await phone.connect()
        #expect(await failure { () async throws(ATTFailure) in try await phone.pair() } == 0x05)
        let asked = Lock<[String]>([])
        let agent = TestObject(AppInterfaces.agent, [:]) { call in
            let member = call.member
            asked.withLock { $0.append(member) }
            if member == "RequestPasskey" { call.reply(.uint32(123_456)) } else { call.reply() }
        }
        let application = scene.application
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try application.export(agent, at: "/agent")
        }
        for (member, capability) in [("RegisterAgent", "KeyboardOnly"), ("RequestDefaultAgent", nil)] {
            _ = try await application.call("org.bluez", "/org/bluez", "org.bluez.AgentManager1", member) {
                body in
                body.append(ObjectPath("/agent"))
                if let capability { body.append(capability) }
            }
        }
        #expect(await scene.standIn.isPairable())
        #expect(await failure { () async throws(ATTFailure) in _ = try await phone.read("2a37") } == 0x05)
        #expect(await failure { () async throws(ATTFailure) in try await phone.pair(passkey: 1) } == 0x05)
        try await phone.pair()
        #expect(try await phone.read("2a37") == [1])
        #expect(asked.withLock { $0 } == ["RequestPasskey", "RequestPasskey"])
    }

    @Test func `a restart takes everything, and tells it in bluetoothd's order`() async throws {
        let scene = try await Scene()
        let told = Lock<[String]>([])
        let application = scene.application
        let held = await GLibExecutor.shared.perform {
            [
                application.watchOwner(of: "org.bluez") { owner in
                    told.withLock { $0.append(owner == nil ? "gone" : "here") }
                },
                application.subscribe(
                    to: DBusMatch(sender: "org.bluez", interface: "org.freedesktop.DBus.ObjectManager")
                ) { message in
                    var reader = message.reader()
                    let path = try? reader.readObjectPath()
                    let member = message.member ?? ""
                    told.withLock { $0.append("\(member) \(path?.string ?? "")") }
                },
            ]
        }
        _ = try await application.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
        await scene.standIn.stop()
        try await scene.standIn.start()
        _ = try await application.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(
            told.withLock { $0 } == [
                "here", "InterfacesRemoved /org/bluez/hci0", "InterfacesRemoved /org/bluez", "gone", "here",
                "InterfacesAdded /org/bluez", "InterfacesAdded /org/bluez/hci0",
                "InterfacesAdded /org/bluez/hci0",
            ])
        #expect(await scene.standIn.services().isEmpty)
        told.withLock { $0 = [] }
        await scene.standIn.crash()
        #expect(
            await busError { () async throws(DBusError) in
                _ = try await application.call("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping")
            } != nil)
        #expect(told.withLock { $0 } == ["gone"])
        for subscription in held { subscription.cancel() }
    }

    @Test func `a notification socket serves one central, from 5.80 with confirmations`() async throws {
        let scene = try await Scene(
            flags: ["indicate"], extra: ["NotifyAcquired": false], StandInConfiguration(.trixie))
        let near = Lock<DBusFileDescriptor?>(nil)
        scene.characteristic.answer { call in
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else { return }
            let far = DBusFileDescriptor(owning: ends[1])
            near.withLock { $0 = DBusFileDescriptor(owning: ends[0]) }
            call.reply { body in
                body.append(far)
                body.append(UInt16(23))
            }
        }
        let phone = await scene.standIn.central()
        try await phone.connect()
        try await phone.subscribeToIndications("2a37")
        let socket = try #require(near.withLock { $0 })
        let sent: [UInt8] = [5, 6]
        #expect(send(socket.rawValue, sent, 2, 0) == 2)
        #expect(try await phone.notifications().map(\.value) == [[5, 6]])
        let confirmed = Lock<[UInt8]>([])
        var buffer: [UInt8] = [0]
        #expect(recv(socket.rawValue, &buffer, 1, 0) == 1)
        confirmed.withLock { $0 = buffer }
        #expect(confirmed.withLock { $0 } == [1])
        await phone.disconnect()
        #expect(recv(socket.rawValue, &buffer, 1, 0) == 0)
    }
}
