import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

@Suite(.timeLimit(.minutes(15))) struct ControllerServerTests {
    @Test(arguments: [true, false]) func `hosts on sockets meet on the air`(isUnix: Bool) async throws {
        let directory = try TemporaryDirectory()
        let server = ControllerServer(air: LiveAir()) { number in
            ControllerConfiguration(address: AirRig.address(UInt8(number)))
        }
        let path = directory.path + "/hci"
        let port = try await server.listen(
            on: isUnix ? .unixServer(path: path) : .tcpServer(host: "127.0.0.1", port: 0))
        #expect((port == nil) == isUnix)
        let address: HCITransportAddress =
            if let port { .tcpClient(host: "127.0.0.1", port: port) } else { .unixClient(path: path) }
        let device = HCIProbe(address.transport())
        try await device.open()
        let phone = HCIProbe(address.transport())
        try await phone.open()
        try await device.command(.leSetAdvertisingParameters, "2000 2000 00 00 00 000000000000 07 00")
        try await device.command(.leSetAdvertisingEnable, "01")
        _ = try await phone.scan { $0.address == AirRig.address(1) }
        let link = try await phone.connect(to: AirRig.address(1))
        for round in 0..<20 {
            phone.send([UInt8](repeating: UInt8(round), count: 40), of: link)
            #expect(try await device.receive(of: 0x40) == [UInt8](repeating: UInt8(round), count: 40))
        }
        #expect(server.count == 2)
        phone.transport.close()
        try await until("one host is connected") { server.count == 1 }
        let reason = try await device.event("the disconnection") { content -> HCIStatus? in
            guard case .disconnectionComplete(_, _, let reason) = content else { return nil }
            return reason
        }
        #expect(reason == .connectionTimeout)
        server.close()
        try await until("the connection of the device ends") { !device.ended.isEmpty }
        #expect(server.count == 0)
    }

    @Test func `a host that sends nonsense is sent away, and the next is served`() async throws {
        let server = ControllerServer(air: LiveAir()) {
            ControllerConfiguration(address: AirRig.address(UInt8($0)))
        }
        let port = try #require(try await server.listen(on: .tcpServer(host: "127.0.0.1", port: 0)))
        await #expect(throws: RadioError.self) { try await server.listen(on: .userChannel(0)) }
        let address = HCITransportAddress.tcpClient(host: "127.0.0.1", port: port)
        let bad = HCIProbe(address.transport())
        try await bad.open()
        // A length that another packet follows in the middle of.
        bad.transport.send(H4Packet(.command, [3, 0x0C, 0, 0xFF]))
        try await until("the connection of the bad host ends") { !bad.ended.isEmpty }
        let good = HCIProbe(address.transport())
        try await good.open()
        #expect(server.count == 1)
    }
}
