import MynahCore
import MynahHCI
import MynahSupport
import Testing

@testable import MynahHost

@Suite struct OutboundTests {
    private func frame(_ bytes: [UInt8]) -> L2CAPFrame {
        L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: bytes)
    }

    /// An outbound queue on a controller with room for so many packets.
    private func outbound(limit: Int = 4, capacity: Int = 1) -> Outbound {
        var outbound = Outbound(limit: limit)
        outbound.configure(.init(size: 251, count: capacity))
        return outbound
    }

    /// The ATT PDU of a packet.
    private func pdu(_ packet: H4Packet?) -> String? {
        packet.map { Hex.encode($0.body.dropFirst(8)) }
    }

    @Test func `notifications that wait go out together to a client that takes them, before anything else`() {
        var outbound = outbound()
        func notify(_ value: UInt8, _ outbound: inout Outbound) {
            outbound.notify(0x12, [value], to: 1, mtu: 23, takesMultiple: true)
        }
        notify(1, &outbound)
        #expect(pdu(outbound.takeNext()) == "1B120001")
        #expect(outbound.takeNext() == nil)
        for value: UInt8 in 2...4 { notify(value, &outbound) }
        outbound.completed(1, 1)
        #expect(pdu(outbound.takeNext()) == "1B120002")
        let isTaken = outbound.send(frame([0x0B]), to: 1)
        #expect(isTaken)
        outbound.completed(1, 1)
        #expect(pdu(outbound.takeNext()) == "23120001000312000100" + "04")
        outbound.completed(1, 1)
        #expect(pdu(outbound.takeNext()) == "0B")
    }

    @Test func `no more is collected than one PDU carries`() {
        var outbound = outbound()
        for value: UInt8 in 0..<6 {
            outbound.notify(0x12, [value, 0, 0, 0], to: 1, mtu: 23, takesMultiple: true)
        }
        var pdus: [String] = []
        while let packet = outbound.takeNext() {
            outbound.completed(1, 1)
            pdus.append(pdu(packet) ?? "")
        }
        #expect(pdus.count == 4)
        #expect(pdus.allSatisfy { $0.count <= 2 * 23 })
    }

    @Test func `a link that is full says so, and has room when half of it is gone`() {
        var outbound = outbound(limit: 4)
        for value: UInt8 in 0..<5 { outbound.send(frame([value]), to: 1) }
        #expect(outbound.takeNext() != nil)
        #expect(!outbound.takes(on: 1) && outbound.takes(on: 2))
        outbound.refuse(.notification, on: 1)
        outbound.refuse(.notification, on: 1)
        for _ in 0..<2 {
            #expect(outbound.takeReady { _ in true } == .init())
            outbound.completed(1, 1)
            #expect(outbound.takeNext() != nil)
        }
        #expect(outbound.takeReady { _ in true } == .init(values: true))
        #expect(outbound.takeReady { _ in true } == .init())
    }

    @Test func `one refused link that has room is reported, also if another has none`() {
        var outbound = outbound(limit: 2, capacity: 2)
        for link: ConnectionHandle in [1, 2] {
            for value: UInt8 in 0..<3 { outbound.send(frame([value]), to: link) }
        }
        while outbound.takeNext() != nil {}
        outbound.refuse(.notification, on: 1)
        outbound.refuse(.write, on: 2)
        outbound.refuse(.indication, on: 2)
        outbound.completed(2, 1)
        _ = outbound.takeNext()
        // Its packets have room, and its indications wait for a confirmation.
        #expect(outbound.takeReady { _ in false } == .init(writes: [2]))
        #expect(outbound.takeReady { _ in true } == .init(values: true))
        #expect(outbound.takeReady { _ in true } == .init())
        outbound.linkEnded(1)
        #expect(outbound.takeReady { _ in true } == .init(values: true))
    }

    @Test func `a controller that is gone takes what waited with it`() {
        var outbound = outbound()
        for value: UInt8 in 0..<5 {
            outbound.notify(0x12, [value], to: 1, mtu: 23, takesMultiple: true)
        }
        outbound.refuse(.notification, on: 1)
        outbound.controllerEnded()
        #expect(outbound.takeNext() == nil && outbound.queue.count == 0)
        #expect(outbound.takeReady { _ in true } == .init(values: true))
    }
}
