import MynahBlueZStandIn
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct StandInTests {
    @Test func `a phone reads, with an offset only if it is not 0`() async throws {
        let scene = try await Scene()
        let options = Lock<[[String]]>([])
        scene.characteristic.answer { call in
            var keys: [String] = []
            var offset = 0
            var reader = call.reader()
            try? reader.readOptions { key, value throws(DBusError) in
                keys.append(key)
                if key == "offset" { offset = Int(try value.readUInt16()) }
            }
            options.withLock { $0.append(keys) }
            let value = (0..<100).map { UInt8($0) }
            call.reply { $0.appendBytes(Array(value.dropFirst(offset))) }
        }
        let phone = await scene.standIn.central()
        try await phone.connect()
        #expect(try await phone.read("2a37") == Array(0..<22))
        #expect(try await phone.readLong("2a37") == Array(0..<100))
        #expect(options.withLock { $0.first } == ["device", "link", "mtu"])
        #expect(options.withLock { $0.last } == ["device", "link", "mtu", "offset"])
        #expect(await scene.standIn.violations.isEmpty)
    }

    @Test func `registration is answered after the objects were asked for, and once for a path`() async throws
    {
        let scene = try await Scene()
        let services = await scene.standIn.services()
        #expect(services.map(\.handle) == [0x12])
        #expect(services.first?.endHandle == 0x15)
        #expect(services.first?.characteristics.first?.handle == 0x14)
        #expect(services.first?.characteristics.first?.configurationHandle == 0x15)
        let again = await busError { () async throws(DBusError) in
            try await scene.manage("GattManager1", "RegisterApplication", "/app")
        }
        #expect(again?.name == "org.bluez.Error.AlreadyExists")
        try await scene.manage("GattManager1", "UnregisterApplication", "/app")
        let gone = await busError { () async throws(DBusError) in
            try await scene.manage("GattManager1", "UnregisterApplication", "/app")
        }
        #expect(gone?.name == "org.bluez.Error.DoesNotExist")
        let nothing = await busError { () async throws(DBusError) in
            try await scene.manage("GattManager1", "RegisterApplication", "/nothing")
        }
        #expect(nothing == DBusError("org.bluez.Error.Failed", "No object received"))
        // Handles only grow.
        try await scene.manage("GattManager1", "RegisterApplication", "/app")
        #expect(await scene.standIn.services().map(\.handle) == [0x16])
    }

    @Test func `a handle of zero is told, and one of 0xFFFF fails`() async throws {
        let scene = try await Scene(extra: ["Handle": .uint16(0)])
        #expect(scene.characteristic.property("Handle", of: "org.bluez.GattCharacteristic1") == .uint16(0x14))
        let failed = await busError { () async throws(any Error) -> Void in
            _ = try await Scene(extra: ["Handle": .uint16(0xFFFF)])
        }
        #expect(failed == DBusError("org.bluez.Error.Failed", "Failed to create entry in database"))
    }

    @Test func `the services of a connection that leaves the bus are removed`() async throws {
        let scene = try await Scene()
        await scene.application.close()
        try await scene.standIn.wait("nothing is registered any more") {
            $0.applicationCount() == 0 && $0.advertisementCount() == 0
        }
        #expect(await scene.standIn.services().isEmpty)
    }
}

/// As `busError`, of anything.
private func busError(_ body: () async throws -> Void) async -> DBusError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? DBusError
    }
}
