import Logging
import MynahDBus
import MynahTestSupport
import Testing

@Suite struct ConnectionTests {
    @Test func `a connection has a unique name`() async throws {
        let bus = try PrivateBus()
        let connection = try await DBusConnection.connect(to: .address(bus.address))
        #expect(connection.uniqueName.hasPrefix(":1."))
        await connection.close()
        #expect(connection.isClosed)
    }

    @Test func `an address where nobody listens is an error`() async throws {
        await #expect(throws: DBusError.self) {
            try await DBusConnection.connect(to: .address("unix:path=/nowhere/at/all"))
        }
        await #expect(throws: DBusError.self) {
            try await DBusConnection.connect(to: .address("not an address"))
        }
    }
}
