import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Values that a link cuts.
@Suite(.timeLimit(.minutes(5))) struct CutValueTests {
    private static let value = String(repeating: "AB", count: 200)

    private static let sender = """
        mynah: 1
        name: Sender
        app: {}
        advertising: {localName: Sender, serviceUUIDs: [FFE0]}
        services:
          - uuid: FFE0
            characteristics:
              - {uuid: FFE2, properties: [notify], value: {hex: \(value)}, every: 1 s}
        """

    private static func listener(_ name: String, iOS: Int) -> String {
        """
        mynah: 1
        name: \(name)
        phone: {name: \(name)}
        app: {iOS: \(iOS)}
        central:
          scan: {services: [FFE0]}
          peripherals: [{name: Peer, match: {services: [FFE0]}, subscribe: [FFE0/FFE2]}]
        """
    }

    @Test func `each central that gets less than the value has an event of its own`() async throws {
        let log = try await RunRig.playFast(
            [Self.sender, Self.listener("Old", iOS: 9), Self.listener("New", iOS: 17)])
        let sent = log.events(.notified)
        let cut = sent.filter { $0["length"] != nil }
        let whole = sent.filter { $0["length"] == nil }
        #expect(!cut.isEmpty && !whole.isEmpty)
        // Up to iOS 9 an iPhone offers an ATT_MTU of 158 bytes.
        #expect(Set(cut.map { $0.string("value") ?? "" }) == [String(Self.value.prefix(2 * 155))])
        #expect(cut.allSatisfy { $0["length"] == .integer(200) && $0.string("central") != nil })
        #expect(whole.allSatisfy { $0.string("value") == Self.value && $0.string("central") == nil })
        // It is what the app of that phone gets.
        let received = log.events(.valueUpdated).filter { $0.string("device") == "Old" }
        #expect(Set(received.map { $0.string("value") ?? "" }) == Set(cut.map { $0.string("value") ?? "" }))
    }

    private static func faulty(_ app: String, _ faults: String) -> String {
        """
        mynah: 1
        name: Sender
        \(app)
        advertising: {localName: Sender, serviceUUIDs: [FFE0]}
        services:
          - uuid: FFE0
            characteristics:
              - {uuid: FFE2, properties: [notify], value: {hex: "0102030405"}, every: 1 s}
        faults: [\(faults)]
        """
    }

    private static let long = String(repeating: "CD", count: 31)
    private static let small = "{name: small, on: mtu, mtu: 23}"

    /// Faults, and what the central receives of the value of the first tick; `length` is reported if its link
    /// cuts that.
    @Test(
        arguments: [
            ("{name: f, on: notify, nth: 1, truncate: 2}", "0102", nil),
            ("{name: f, on: notify, nth: 1, corrupt: xor FF@0}", "FE02030405", nil),
            ("{name: f, on: notify, nth: 1, do: drop}", nil, nil),
            ("{name: f, on: notify, nth: 1, do: duplicate}", "0102030405", nil),
            (
                "\(small), {name: f, on: notify, nth: 1, value: {hex: \(long)}}", String(long.prefix(40)), 31
            ),
        ] as [(String, String?, Int?)])
    func `of a value that a fault has changed, what its central receives is reported`(
        faults: String, value: String?, length: Int?
    ) async throws {
        for app in ["app: {}", ""] {
            let log = try await RunRig.playFast(
                [Self.faulty(app, faults), Self.listener("Ear", iOS: 17)], seconds: 6)
            let sent = log.events(.notified)
            let isSent = value != nil
            #expect(sent.first?["tick"] == .integer(isSent ? 1 : 2))
            #expect(sent.first?.string("value") == value ?? "0102030405")
            #expect(sent.first?["length"] == length.map { .integer($0) })
            let received = log.events(.valueUpdated).map { $0.string("value") }
            #expect(received.prefix(3) == sent.prefix(3).map { $0.string("value") }[...])
            let codes = log.events(.warning).compactMap { $0.string("code") }
            #expect(!codes.contains("faultFailed"))
            #expect(codes.contains("valueTooLong") == (length != nil))
        }
    }

    @Test(arguments: ["do: reorder", "delay: 500 ms"])
    func `a value that waits, and that its link cuts, is reported as it is sent`(effect: String) async throws
    {
        let value =
            "{layout: [{n: uint16}, {fill: bytes}], fields: {n: {generate: counter}, fill: \"\(Self.long)\"}}"
        let accessory = Self.faulty("", "\(Self.small), {name: f, on: notify, nth: every 3, \(effect)}")
            .replacing("{hex: \"0102030405\"}", with: value)
        let log = try await RunRig.playFast([accessory, Self.listener("Ear", iOS: 17)], seconds: 12)
        let received = log.events(.valueUpdated).compactMap { $0.string("value") }
        let sent = log.events(.notified)
        #expect(received.count > 2 && received.allSatisfy { $0.count == 40 })
        #expect(Set(received).isSubset(of: sent.compactMap { $0.string("value") }))
        #expect(sent.allSatisfy { $0["length"] == .integer(33) })
        #expect(log.events(.faultApplied).count > 2)
    }
}
