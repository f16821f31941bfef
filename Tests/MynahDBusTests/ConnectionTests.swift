import MynahDBus
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    @Test func `a connection has a unique name`() async throws {
        let bus = try PrivateBus()
        let connection = try await DBusConnection.connect(to: .address(bus.address))
        #expect(connection.uniqueName.hasPrefix(":1."))
        await connection.close()
        #expect(connection.isClosed)
    }

    @Test(.timeLimit(.minutes(15)))
    func `any thread may read the unique name and whether the connection is closed`() async throws {
        let bus = try PrivateBus()
        let connection = try await DBusConnection.connect(to: .address(bus.address))
        let name = connection.uniqueName
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var isRight = true
                    for _ in 0..<1000 where !connection.isClosed {
                        isRight = isRight && connection.uniqueName == name
                    }
                    return isRight
                }
            }
            await connection.close()
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test(arguments: ["unix:path=/nowhere/at/all", "not an address", "", "with\0nul"])
    func `an address where nobody listens is an error`(address: String) async {
        await #expect(throws: DBusError.self) {
            _ = try await DBusConnection.connect(to: .address(address))
        }
    }

    @Test func `a bus that ends is told once, and calls under way fail`() async throws {
        let pair = try await Pair()
        pair.object.answer { _ in }
        let told = Mailbox<String>("the ends of the connection")
        let calls = Mailbox<MethodCall>("the calls")
        pair.object.answer { calls.put($0) }
        await GLibExecutor.shared.perform { pair.client.onDisconnect { told.put("disconnected") } }
        async let failure = error { () async throws(DBusError) in _ = try await pair.call("Nothing") }
        let held = try await calls.take()
        pair.bus.stop()
        #expect(await failure?.name == .disconnected)
        #expect(try await told.take() == ["disconnected"])
        #expect(pair.client.isClosed)
        // Later calls fail, and harm nobody.
        held.first?.reply()
        #expect(
            await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }?.name
                == .disconnected)
        await GLibExecutor.shared.perform { pair.client.onDisconnect { told.put("at once") } }
        #expect(try await told.take() == ["at once"])
        await pair.client.close()
    }

    @Test func `a second connection to a name that is taken is refused`() async throws {
        let pair = try await Pair()
        try await pair.server.requestName("test.Name")
        #expect(
            await error { () async throws(DBusError) in try await pair.client.requestName("test.Name") }
                != nil)
        try await pair.server.releaseName("test.Name")
        try await pair.client.requestName("test.Name")
    }

    @Test func `a call that the policy denies is an error`() async throws {
        let bus = try PrivateBus(
            policy: PrivateBus.openPolicy + "<policy context=\"default\"><deny own=\"test.Denied\"/></policy>"
        )
        let connection = try await DBusConnection.connect(to: .address(bus.address))
        #expect(
            await error { () async throws(DBusError) in try await connection.requestName("test.Denied") }?
                .name
                == .accessDenied)
    }

    @Test func `a caller that waits for the bus is notified when it has drained`() async throws {
        let pair = try await Pair()
        let drained = Mailbox<Int>("the sizes at which it has drained")
        // A bus that reads while this writes could keep up.
        pair.bus.freeze()
        let waiting = try await GLibExecutor.shared.perform { () throws(DBusError) in
            let bytes = [UInt8](repeating: 1, count: 4096)
            for _ in 0..<1000 {
                try pair.client.emit("/a", "a.b", "C") { $0.appendBytes(bytes) }
            }
            pair.client.whenOutgoing(isBelow: 4096) { drained.put(pair.client.outgoingSize) }
            return pair.client.outgoingSize
        }
        pair.bus.goOn()
        #expect(waiting > 100_000)
        let left = try await drained.take()
        #expect(left.allSatisfy { $0 < 4096 })
    }
}
