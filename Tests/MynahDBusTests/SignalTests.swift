import MynahDBus
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct SignalTests {
    @Test func `signals that fit arrive in order, others not`() async throws {
        let pair = try await Pair()
        let seen = Mailbox<DBusValue>("the signals")
        let subscription = await GLibExecutor.shared.perform {
            pair.client.subscribe(
                to: DBusMatch(
                    sender: pair.server.uniqueName, pathNamespace: "/a", interface: "test.Signals",
                    member: "Moved",
                    argument0: "it's me")
            ) { message in
                if let value = try? message.values().last { seen.put(value) }
            }
        }
        // Answered after the rule has been added.
        _ = try await pair.call("Nothing")
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            func emit(
                _ path: ObjectPath, _ interface: String, _ member: String, _ first: String, _ number: UInt32
            ) throws(DBusError) {
                try pair.server.emit(path, interface, member) { body in
                    body.append(first)
                    body.append(number)
                }
            }
            try emit("/a", "test.Signals", "Moved", "it's me", 1)
            try emit("/ab", "test.Signals", "Moved", "it's me", 2)
            try emit("/a/b", "test.Others", "Moved", "it's me", 3)
            try emit("/a/b", "test.Signals", "Stayed", "it's me", 4)
            try emit("/a/b", "test.Signals", "Moved", "not me", 5)
            try emit("/a/b", "test.Signals", "Moved", "it's me", 6)
        }
        #expect(try await seen.take(2) == [.uint32(1), .uint32(6)])
        subscription.cancel()
    }

    @Test func `a cancelled subscription is quiet at once`() async throws {
        let pair = try await Pair()
        let seen = Mailbox<String>("the signals")
        let (one, two) = await GLibExecutor.shared.perform {
            (
                pair.client.subscribe(to: DBusMatch(interface: "test.Signals")) { _ in seen.put("one") },
                pair.client.subscribe(to: DBusMatch(interface: "test.Signals")) { _ in seen.put("two") }
            )
        }
        one.cancel()
        _ = try await pair.call("Nothing")
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try pair.server.emit("/a", "test.Signals", "Moved")
        }
        #expect(try await seen.take() == ["two"])
        two.cancel()
    }

    @Test func `an owner is told as it is and as it changes, and its signals are followed`() async throws {
        let pair = try await Pair()
        let owners = Mailbox<String?>("the owners of the name")
        let signals = Mailbox<String?>("the signals of the owner")
        let held = await GLibExecutor.shared.perform {
            [
                pair.client.watchOwner(of: "test.Name") { owners.put($0) },
                pair.client.subscribe(to: DBusMatch(sender: "test.Name", member: "Moved")) {
                    signals.put($0.sender)
                },
            ]
        }
        #expect(try await owners.take() == [nil])
        try await pair.server.requestName("test.Name")
        #expect(try await owners.take() == [pair.server.uniqueName])
        let third = try await DBusConnection.connect(to: .address(pair.bus.address))
        for connection in [third, pair.server] {
            try await GLibExecutor.shared.perform { () throws(DBusError) in
                try connection.emit("/a", "test.Signals", "Moved")
            }
        }
        #expect(try await signals.take() == [pair.server.uniqueName])
        await pair.server.close()
        #expect(try await owners.take() == [nil])
        try await third.requestName("test.Name")
        #expect(try await owners.take() == [third.uniqueName])
        // A later watcher gets the current state at once.
        let late = Mailbox<String?>("the owners after the release")
        let more = await GLibExecutor.shared.perform {
            pair.client.watchOwner(of: "test.Name") { late.put($0) }
        }
        #expect(try await late.take() == [third.uniqueName])
        for subscription in held + [more] {
            subscription.cancel()
        }
    }

    @Test func `a signal goes to one peer alone when it is told to`() async throws {
        let pair = try await Pair()
        let third = try await DBusConnection.connect(to: .address(pair.bus.address))
        let seen = Mailbox<String>("the signals")
        let held = await GLibExecutor.shared.perform {
            [("client", pair.client), ("third", third)].map { name, connection in
                connection.subscribe(to: DBusMatch(sender: pair.server.uniqueName)) { message in
                    if message.isMember("End") || message.isMember("Only") {
                        seen.put(name + (message.member ?? ""))
                    }
                }
            }
        }
        for connection in [pair.client, third] {
            _ = try await connection.call(pair.server.uniqueName, Pair.path, Pair.interface, "Nothing")
        }
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try pair.server.emit("/a", "test.Signals", "Only", to: third.uniqueName)
            try pair.server.emit("/a", "test.Signals", "End")
        }
        #expect(Set(try await seen.take(3)) == ["thirdOnly", "thirdEnd", "clientEnd"])
        for subscription in held {
            subscription.cancel()
        }
    }

    @Test func `changed properties are told as bytes and as values`() async throws {
        let pair = try await Pair()
        let seen = Mailbox<[DBusValue]>("the signals")
        let held = await GLibExecutor.shared.perform {
            pair.client.subscribe(to: DBusMatch(path: Pair.path, member: "PropertiesChanged")) { message in
                if let values = try? message.values() { seen.put(values) }
            }
        }
        _ = try await pair.call("Nothing")
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            try pair.server.emitPropertyChanged(Pair.path, "a.b", "Value", bytes: [1, 2])
            try pair.server.emitPropertiesChanged(Pair.path, "a.b", [("X", .byte(1))], invalidated: ["Y"])
        }
        #expect(
            try await seen.take(2) == [
                ["a.b", .options(["Value": .bytes([1, 2])]), .strings([])],
                ["a.b", .options(["X": .byte(1)]), .strings(["Y"])],
            ])
        held.cancel()
    }
}
