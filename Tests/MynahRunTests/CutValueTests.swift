import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// Values of an app that a link cuts.
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
}
