import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct HostRulesTests {
    private let command = HCICommand(.reset).packet
    private let data = ACLPacket(handle: 0x40, boundary: .first, data: [1]).packet
    private let credits = HCIEvent(HCIEvent.numberOfCompletedPackets, [1, 0x40, 0, 1, 0]).packet

    @Test func `a host that waits for each answer may send as many commands as it likes`() {
        var rules = HostRules()
        for _ in 0..<1000 { #expect(rules.check([command], isLast: true) == nil) }
    }

    @Test func `commands that come while none can have been answered are counted over all reads`() {
        var rules = HostRules()
        for _ in 0..<HostRules.commandLimit { #expect(rules.check([command], isLast: false) == nil) }
        #expect(rules.check([command], isLast: true) == .commands)
        #expect(HostRules.Breach.commands.text.contains("64 commands"))
        rules = HostRules()
        let many = [H4Packet](repeating: command, count: HostRules.commandLimit)
        #expect(rules.check(many, isLast: true) == nil)
        #expect(rules.check(many, isLast: true) == nil)
        #expect(rules.check(many + [command], isLast: true) == .commands)
    }

    @Test(arguments: [
        HCIEvent(HCIEvent.numberOfCompletedPackets, [1, 0x40, 0, 1, 0]),
        HCIEvent(HCIEvent.disconnectionComplete, [0, 0x40, 0, 0x13]),
        HCIEvent(HCIEvent.leMeta, [HCIEvent.LESubevent.connectionComplete]),
        HCIEvent(HCIEvent.leMeta, [HCIEvent.LESubevent.enhancedConnectionComplete]),
    ]) func `data may come again after an event that frees a buffer`(event: HCIEvent) {
        var rules = HostRules()
        let many = [H4Packet](repeating: data, count: HostRules.dataLimit)
        #expect(rules.check(many, isLast: true) == nil)
        rules.note(event.packet)
        #expect(rules.check(many, isLast: true) == nil)
        #expect(rules.check([data], isLast: true) == .data)
    }

    @Test func `events that free no buffer let no data pass`() {
        var rules = HostRules()
        let many = [H4Packet](repeating: data, count: HostRules.dataLimit)
        #expect(rules.check(many, isLast: true) == nil)
        rules.note(HCIEvent(HCIEvent.dataBufferOverflow, [1]).packet)
        rules.note(HCIEvent(HCIEvent.leMeta, [HCIEvent.LESubevent.advertisingReport, 0]).packet)
        rules.note(H4Packet(.event, []))
        #expect(rules.check([data], isLast: true) == .data)
    }

    @Test(arguments: [H4PacketType.synchronousData, .isochronousData, .aclData])
    func `data of every kind counts`(type: H4PacketType) {
        var rules = HostRules()
        let packets = [H4Packet](repeating: H4Packet(type, [0x40, 0, 0, 0]), count: HostRules.dataLimit + 1)
        #expect(rules.check(packets, isLast: true) == .data)
    }

    @Test func `an event comes from a controller, not from a host`() {
        var rules = HostRules()
        #expect(rules.check([command, credits], isLast: true) == .event)
    }
}
