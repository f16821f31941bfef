import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Our host on a virtual controller, and a phone beside it on the same air.
@Suite(.timeLimit(.minutes(15))) struct VirtualRadioTests {
    static func address(_ number: UInt8) throws -> DeviceAddress {
        try #require(DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public))
    }

    /// A heart-rate monitor that is advertised.
    static func play(
        on transport: any HCITransport, _ sink: HostSink, name: String = "Mynah"
    ) async throws -> HostRadio {
        let radio = HostRadio(transport: transport)
        _ = try await radio.start(DeviceIdentity(name: name), sink: sink)
        _ = try await radio.publish([
            ServiceDefinition(
                uuid: "180D",
                characteristics: [
                    CharacteristicDefinition(uuid: "2A37", properties: [.read, .notify]),
                    CharacteristicDefinition(uuid: "2A38", properties: .read, value: [1]),
                ])
        ])
        var advertisement = Advertisement()
        advertisement.localName = name
        advertisement.serviceUUIDs = ["180D"]
        advertisement.interval = .milliseconds(20)
        _ = try await radio.advertise(advertisement)
        return radio
    }

    /// A phone's actions on the device: find, connect, discover, read, subscribe.
    static func look(at device: DeviceAddress, from phone: HCIProbe) async throws {
        _ = try await phone.scan { $0.address == device }
        let link = try await phone.connect(to: device)
        #expect(try await phone.exchange("02 F700", of: link) == "030502")
        #expect(
            try await phone.exchange("10 0100 FFFF 0028", of: link)
                == "110601000500001806000F000118100015000D18")
        #expect(try await phone.exchange("08 1000 1500 0328", of: link) == "09071100121200372A1400021500382A")
        #expect(try await phone.exchange("0A 1200", of: link) == "0B63")
        #expect(try await phone.exchange("0A 1500", of: link) == "0B01")
        #expect(try await phone.exchange("12 1300 0100", of: link) == "13")
    }

    @Test func `a phone finds the device, connects, discovers, reads and subscribes`() async throws {
        let air = LiveAir()
        let sink = HostSink()
        let device = try Self.address(1)
        let radio = try await Self.play(on: air.transport(ControllerConfiguration(address: device)), sink)
        let phone = HCIProbe(air.transport(ControllerConfiguration(address: try Self.address(2))))
        try await phone.open()
        try await Self.look(at: device, from: phone)
        #expect(sink.words.contains("subscribed notification"))
        phone.transport.send(HCICommand(.disconnect, [0x40, 0, 0x13]).packet)
        try await until("the disconnection is reported") { sink.words.contains("disconnected") }
        await radio.stop()
        phone.transport.close()
        #expect(air.count == 0)
    }

    @Test func `time that nobody moves brings no advertisement`() async throws {
        let air = LiveAir(seed: 1, time: .manual)
        let device = try Self.address(1)
        let radio = try await Self.play(
            on: air.transport(ControllerConfiguration(address: device)), HostSink())
        let phone = HCIProbe(air.transport(ControllerConfiguration(address: try Self.address(2))))
        try await phone.open()
        try await phone.command(.leSetScanParameters, "00 1000 1000 00 00")
        try await phone.command(.leSetScanEnable, "01 00")
        let before = air.now
        air.advance(by: 30_000)
        #expect(air.now - before == 30_000)
        let report = try await phone.event("an advertising report") { content in
            guard case .advertisingReports(let reports) = content else { return nil as LEAdvertisingReport? }
            return reports.first
        }
        #expect(report.address == device)
        await radio.stop()
    }

    @Test func `a transport opens again, with a new controller, and tells nothing after it is closed`()
        async throws
    {
        let air = LiveAir()
        let transport = air.transport(ControllerConfiguration(address: try Self.address(1)))
        let probe = HCIProbe(transport)
        try await probe.open()
        let first = transport.station
        await #expect(throws: RadioError.self) { try await probe.open() }
        transport.close()
        #expect(air.count == 0)
        transport.send(HCICommand(.reset).packet)
        try await probe.open()
        #expect(transport.station != first)
        #expect(probe.ended.isEmpty)
    }
}
