import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct ControllerOutboxTests {
    @Test(arguments: [
        // Disconnection Complete has bit 4, and LE Meta has bit 61.
        ("FFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF", ["04050101", "043E020707", "04130101"]),
        ("EFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF", ["043E020707", "04130101"]),
        ("FFFFFFFFFFFFFFDF", "FFFFFFFFFFFFFFFF", ["04050101", "04130101"]),
        ("FFFFFFFFFFFFFFFF", "BFFFFFFFFFFFFFFF", ["04050101", "04130101"]),
        ("0000000000000000", "FFFFFFFFFFFFFFFF", ["04130101"]),
    ])
    func `the masks keep events from the host, but not its credits`(
        mask: String, leMask: String, reported: [String]
    ) {
        var outbox = ControllerOutbox()
        #expect(CommandAnswer.of(mask) { outbox.setEventMask(&$0) } == .success)
        #expect(CommandAnswer.of(leMask) { outbox.setLEEventMask(&$0) } == .success)
        outbox.report(HCIEvent.disconnectionComplete, [1])
        outbox.reportLE(HCIEvent.LESubevent.dataLengthChange, [7])
        outbox.report(HCIEvent.numberOfCompletedPackets, [1])
        #expect(outbox.take() == reported)
    }

    @Test func `an answer comes before what follows from the command`() {
        var outbox = ControllerOutbox.open()
        outbox.report(HCIEvent.disconnectionComplete, [1])
        let place = outbox.outputs.count
        outbox.report(HCIEvent.disconnectionComplete, [2])
        outbox.answer(.reset, .complete(.success, [5]), isLong: false, at: place)
        #expect(outbox.take() == ["04050101", "040E0501030C0005", "04050102"])
    }

    @Test(arguments: [
        (CommandAnswer.success, false, "040E0401030C00"), (.success, true, "040F040001030C"),
        (.disallowed, false, "040E0401030C0C"), (.status(.commandDisallowed), true, "040F040C01030C"),
    ])
    func `a command that takes long is answered with its status`(
        answer: CommandAnswer, isLong: Bool, packet: String
    ) {
        var outbox = ControllerOutbox()
        outbox.answer(.reset, answer, isLong: isLong, at: 0)
        #expect(outbox.take() == [packet])
    }

    @Test func `the first command decides on the generation, until a reset`() {
        var outbox = ControllerOutbox()
        #expect(outbox.generation == nil && !outbox.isExtended)
        #expect(outbox.admits(.extended) && outbox.admits(.extended))
        #expect(!outbox.admits(.legacy) && outbox.isExtended)
        outbox.report(HCIEvent.disconnectionComplete, [1])
        outbox.reset()
        #expect(outbox.outputs.count == 1)
        #expect(outbox.admits(.legacy) && !outbox.isExtended)
    }

    @Test func `after a reset the host takes the events that every host knows`() {
        var outbox = ControllerOutbox.open()
        #expect(outbox.takesLE(HCIEvent.LESubevent.enhancedConnectionComplete))
        outbox.reset()
        // The default mask has no LE Meta (Core Specification, Vol 4, Part E, 7.3.1).
        #expect(!outbox.takesLE(HCIEvent.LESubevent.connectionComplete))
        outbox.report(HCIEvent.disconnectionComplete, [1])
        #expect(outbox.take() == ["04050101"])
    }
}
