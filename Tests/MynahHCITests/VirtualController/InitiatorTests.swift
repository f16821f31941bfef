import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct InitiatorTests {
    private var initiator = Initiator()
    private var addresses = ControllerAddresses(Part.configuration())
    private var acceptList = FilterAcceptList(capacity: 4)
    private var random = SeededRandom(seed: 1)
    private var outbox = ControllerOutbox.open()
    private var connections = Connections(Part.configuration { $0.linkCount = 1 })

    private mutating func create(policy: String = "00", own: String = "00") -> CommandAnswer? {
        CommandAnswer.of(
            "1000 1000 \(policy) 00 0200000000C0 \(own) 1800 2800 0000 4800 0000 0000"
        ) { initiator.create(&$0, connections, addresses) }
    }

    private mutating func match(
        _ number: UInt8, _ properties: AirAdvertisement.Properties = [.connectable, .legacy],
        target: DeviceAddress? = nil
    ) -> Initiator.Match? {
        initiator.match(
            AirAdvertisement(properties, address: AirRig.address(number), target: target),
            Identity(address: AirRig.address(number)), acceptList, connections, &addresses, at: .zero, &random
        )
    }

    @Test mutating func `it connects once, to the device that it waits for, at the shortest interval`() {
        #expect(match(2) == nil)
        #expect(create() == .status(.success))
        #expect(create() == .status(.commandDisallowed))
        #expect(initiator.isOn && !initiator.usesAcceptList)
        #expect(match(3) == nil && match(2, [.legacy]) == nil)
        #expect(match(2, target: AirRig.address(7)) == nil)
        let expected = Initiator.Match(
            own: AirRig.address(1), parameters: LEConnection.Parameters(interval: 24, latency: 0, timeout: 72)
        )
        #expect(match(2, target: AirRig.address(1)) == expected)
        #expect(!initiator.isOn && match(2) == nil)
    }

    @Test mutating func `it connects to any device on the filter accept list`() {
        #expect(CommandAnswer.of("00 0300000000C0") { acceptList.add(&$0, isInUse: false) } == .success)
        #expect(create(policy: "01") == .status(.success))
        #expect(initiator.usesAcceptList)
        #expect(match(2) == nil)
        #expect(match(3) != nil)
    }

    @Test mutating func `it needs an address, and room for the connection`() {
        #expect(create(own: "01") == .status(.invalidCommandParameters))
        _ = CommandAnswer.of("0102030405C6") { addresses.setRandomAddress(&$0, isInUse: false) }
        let opened = connections.open(
            as: .peripheral, with: Part.station, access: 7, peer: Identity(address: AirRig.address(3)),
            local: AirRig.address(1), LEConnection.Parameters(), rssi: -40, at: .zero)
        #expect(opened?.handle == 0x40)
        #expect(create(own: "01") == .status(.connectionLimitExceeded))
        connections = Connections(Part.configuration())
        _ = connections.open(
            as: .central, with: Part.station, access: 7, peer: Identity(address: AirRig.address(2)),
            local: AirRig.address(1), LEConnection.Parameters(), rssi: -40, at: .zero)
        #expect(create(own: "01") == .status(.connectionAlreadyExists))
    }

    @Test(arguments: [LEConnection.Role.central, .peripheral])
    func `a device that it has a connection with, in either role, is not connected to again`(
        role: LEConnection.Role
    ) {
        var parts = self
        parts.connections = Connections(Part.configuration())
        #expect(CommandAnswer.of("00 0200000000C0") { parts.acceptList.add(&$0, isInUse: false) } == .success)
        #expect(CommandAnswer.of("00 0300000000C0") { parts.acceptList.add(&$0, isInUse: false) } == .success)
        #expect(parts.create(policy: "01") == .status(.success))
        _ = parts.connections.open(
            as: role, with: Part.station, access: 7, peer: Identity(address: AirRig.address(2)),
            local: AirRig.address(1), LEConnection.Parameters(), rssi: -40, at: .zero)
        #expect(parts.match(2) == nil && parts.initiator.isOn)
        #expect(parts.match(3) != nil)
        #expect(parts.create() == .status(.connectionAlreadyExists))
    }

    @Test mutating func `to cancel is answered with a failed connection`() {
        #expect(initiator.cancel(addresses, &outbox) == .disallowed)
        #expect(create() == .status(.success))
        #expect(initiator.cancel(addresses, &outbox) == .success)
        var expected = ControllerOutbox.open()
        ConnectionComplete(.unknownConnectionIdentifier, role: .central, peer: AirRig.address(2))
            .report(to: &expected)
        #expect(outbox.outputs == expected.outputs && !initiator.isOn)
    }

    @Test(arguments: [
        ("00 00 00 0200000000C0 01 1000 1000 1800 1800 0000 4800 0000 0000", CommandAnswer.status(.success)),
        ("00 00 00 0200000000C0 00", nil),
        ("00 00 00 0200000000C0 03 1000 1000 1800 1800 0000 4800 0000 0000", nil),
        ("00 00 00 0200000000C0 01 1000 1000 1800 1700 0000 4800 0000 0000", nil),
        ("00 00 00 0200000000C0 01 1000 1000 1800 1800 0000 0100 0000 0000", nil),
        ("00 00 00 0200000000C0 01 1000 1000 1800 1800 0000 4800 0100 0000", nil),
        ("02 00 00 0200000000C0 01 1000 1000 1800 1800 0000 4800 0000 0000", nil),
    ])
    func `an extended request is taken if it is valid`(command: String, answer: CommandAnswer?) {
        var initiator = initiator
        #expect(CommandAnswer.of(command) { initiator.createExtended(&$0, connections, addresses) } == answer)
        #expect(initiator.isOn == (answer != nil))
    }

    @Test(arguments: [(false, "043E1301"), (true, "043E1F0A")])
    func `a connection is reported as the host wants it`(isEnhanced: Bool, prefix: String) {
        var outbox = ControllerOutbox()
        _ = CommandAnswer.of("FFFFFFFFFFFFFFFF") { outbox.setEventMask(&$0) }
        _ = CommandAnswer.of(isEnhanced ? "0102000000000000" : "0100000000000000") {
            outbox.setLEEventMask(&$0)
        }
        var endpoints = Part.endpoints(.central)
        endpoints = ConnectionEndpoints(
            handle: 0x40, role: .central, station: Part.station, access: 7,
            peer: Identity(address: AirRig.address(2), onAir: Part.random(5, 0b01)),
            local: endpoints.local)
        ConnectionComplete(endpoints, LEConnection.Parameters(), isLocalMade: true).report(to: &outbox)
        let (peer, local, onAir) = ("0200000000C0", "0100000000C0", "050000000040")
        let end = "180000004800" + "00"
        #expect(
            outbox.take() == [
                prefix + "00" + "4000" + "00"
                    + (isEnhanced ? "02" + peer + local + onAir + end : "00" + peer + end)
            ])
    }
}
