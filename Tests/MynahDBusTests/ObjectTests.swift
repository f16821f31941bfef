import MynahDBus
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ObjectTests {
    @Test func `a call that fits no object, interface, method or signature never reaches a handler`()
        async throws
    {
        let pair = try await Pair()
        pair.object.answer { $0.reply(.uint32(99)) }
        func failure(_ path: ObjectPath, _ interface: String, _ member: String, _ value: DBusValue?) async
            -> DBusError.Name?
        {
            await error { () async throws(DBusError) in
                _ = try await pair.call(member, path: path, interface: interface) { body in
                    if let value { body.append(value) }
                }
            }?.name
        }
        #expect(await failure("/nothing", Pair.interface, "Nothing", nil) == .unknownObject)
        #expect(await failure(Pair.path, "test.None", "Nothing", nil) == .unknownMethod)
        #expect(await failure(Pair.path, Pair.interface, "None", nil) == .unknownMethod)
        #expect(await failure(Pair.path, "test.Other", "Nothing", nil) == .unknownMethod)
        #expect(await failure(Pair.path, Pair.interface, "Nothing", .byte(1)) == .invalidArguments)
        #expect(await failure(Pair.path, Pair.interface, "Number", nil) == .invalidArguments)
        #expect(await failure(Pair.path, Pair.interface, "Number", .int32(1)) == .invalidArguments)
        #expect(await failure(Pair.path, Pair.interface, "Number", .uint32(1)) == nil)
    }

    @Test(.timeLimit(.minutes(15)))
    func `a handler gets the method that was found`() async throws {
        let pair = try await Pair()
        _ = try await pair.call("Number") { $0.append(UInt32(1)) }
        _ = try await pair.call("Nothing")
        _ = try await pair.call("Only", interface: "test.Other")
        #expect(try await pair.object.tags.take(3) == [2, 1, 3])
    }

    @Test func `a path is exported once`() async throws {
        let pair = try await Pair()
        let failure = await error { () async throws(DBusError) in
            try await pair.export(TestObject(), at: Pair.path)
        }
        #expect(failure?.name == .objectPathInUse)
    }

    @Test func `an object that is taken away while a call is under way still answers it`() async throws {
        let pair = try await Pair()
        let calls = Mailbox<MethodCall>("the calls")
        pair.object.answer { calls.put($0) }
        async let answer = pair.call("Number") { $0.append(UInt32(1)) }.values()
        let held = try await calls.take()
        await GLibExecutor.shared.perform { pair.server.unexport(Pair.path) }
        let failure = await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }
        #expect(failure?.name == .unknownObject)
        held.first?.reply(.uint32(2))
        #expect(try await answer == [.uint32(2)])
    }

    @Test func `properties are read, set and refused`() async throws {
        let pair = try await Pair()
        let name = pair.server.uniqueName
        func get(_ property: String, _ interface: String = Pair.interface) async throws(DBusError)
            -> DBusValue
        {
            try await pair.client.property(property, of: interface, at: Pair.path, on: name)
        }
        func set(_ property: String, _ value: DBusValue) async -> DBusError.Name? {
            await error { () async throws(DBusError) in
                try await pair.client.setProperty(
                    property, of: Pair.interface, at: Pair.path, on: name, to: value)
            }?.name
        }
        #expect(try await get("Name") == "first")
        #expect(await set("Name", "second") == nil)
        #expect(try await get("Name") == "second")
        #expect(await set("Name", .byte(1)) == .invalidArguments)
        #expect(await set("Name", "refused") == "test.Error.Refused")
        #expect(await set("Constant", .uint32(1)) == .propertyReadOnly)
        #expect(await set("None", .uint32(1)) == .unknownProperty)
        #expect(
            await error { () async throws(DBusError) in _ = try await get("Absent") }?.name
                == .unknownProperty)
        #expect(
            await error { () async throws(DBusError) in _ = try await get("None") }?.name == .unknownProperty)
        #expect(
            await error { () async throws(DBusError) in _ = try await get("Name", "a.b") }?.name
                == .unknownInterface)
        let all = try await pair.call("GetAll", interface: "org.freedesktop.DBus.Properties") { body in
            body.append(Pair.interface)
        }
        #expect(try all.values() == [.options(["Name": "second", "Constant": .uint32(7)])])
    }

    @Test func `managed objects come in the order of their export, from below the manager only`() async throws
    {
        let pair = try await Pair()
        let paths: [ObjectPath] = ["/app/z", "/app/z/a", "/app/b", "/application"]
        for path in paths {
            try await pair.export(TestObject(), at: path)
        }
        await GLibExecutor.shared.perform { pair.server.exportObjectManager(at: "/app") }
        let message = try await pair.call(
            "GetManagedObjects", path: "/app", interface: "org.freedesktop.DBus.ObjectManager")
        let objects = try #require(try message.values().first?.entries)
        #expect(objects.compactMap(\.key.objectPathValue) == ["/app/z", "/app/z/a", "/app/b"])
        #expect(objects.first?.value[Pair.interface]?["Constant"] == .uint32(7))
        await GLibExecutor.shared.perform { pair.server.unexportObjectManager(at: "/app") }
        let failure = await error { () async throws(DBusError) in
            _ = try await pair.call(
                "GetManagedObjects", path: "/app", interface: "org.freedesktop.DBus.ObjectManager")
        }
        #expect(failure?.name == .unknownObject)
    }

    @Test func `objects describe themselves and lead to those below`() async throws {
        let pair = try await Pair()
        func describe(_ path: ObjectPath) async throws -> String {
            let message = try await pair.call(
                "Introspect", path: path, interface: "org.freedesktop.DBus.Introspectable")
            var reader = message.reader()
            return try reader.readString()
        }
        #expect(try await describe("/").contains("<node name=\"test\"/>"))
        #expect(try await describe("/test").contains("<node name=\"object\"/>"))
        let description = try await describe(Pair.path)
        #expect(description.contains("<interface name=\"test.Interface\">"))
        #expect(description.contains("<property name=\"Name\" type=\"s\" access=\"readwrite\"/>"))
        #expect(description.contains("<arg type=\"ay\" direction=\"out\"/>"))
    }

    @Test func `every path answers a ping`() async throws {
        let pair = try await Pair()
        for path in ["/", Pair.path, "/nothing/is/exported/here"] as [ObjectPath] {
            let answer = try await pair.call("Ping", path: path, interface: "org.freedesktop.DBus.Peer")
            #expect(try answer.values() == [])
        }
    }

    @Test func `a path knows what lies below it`() throws {
        let path: ObjectPath = "/a/b"
        #expect(path.isBelow("/a"))
        #expect(path.isBelow("/"))
        #expect(!path.isBelow("/a/b"))
        #expect(!path.isBelow("/a/b/c"))
        #expect(!ObjectPath("/ab").isBelow("/a"))
        #expect(try path.appending("c") == "/a/b/c")
        #expect(try ObjectPath.root.appending("c") == "/c")
        #expect(throws: DBusError.self) { try path.appending("c-d") }
    }
}
