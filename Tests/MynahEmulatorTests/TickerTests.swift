import MynahCore
import Testing

@testable import MynahEmulator

/// The due values, and those that wait for room, without a radio.
@Suite struct TickerTests {
    private let slow = Peer.ID(1)
    private let rate = AttributeKey()
    private let level = AttributeKey()
    private var ticker = Ticker()

    private func tick(_ attribute: AttributeKey, _ number: Int64 = 1) -> TickSchedule.Tick {
        TickSchedule.Tick(attribute: attribute, number: number, due: .seconds(number))
    }

    @Test mutating func `a full link keeps the newest value of each attribute, and warns once`() {
        #expect(ticker.fullLinks.isEmpty)
        let warned = [
            ticker.wait([1], of: tick(rate), for: slow, now: .seconds(1)),
            ticker.wait([2], of: tick(level), for: slow, now: .seconds(1)),
            ticker.wait([3], of: tick(rate, 9), for: slow, now: .seconds(60)),
        ]
        #expect(warned == [true, false, false])
        #expect(ticker.fullLinks == [slow])
        #expect(ticker.waiting(for: slow) == .init(attribute: rate, value: [3], tick: 9))
        ticker.took(slow)
        #expect(ticker.waiting(for: slow) == .init(attribute: level, value: [2], tick: 1))
        ticker.took(slow)
        #expect(ticker.waiting(for: slow) == nil)
        #expect(ticker.fullLinks.isEmpty)
        ticker.took(slow)
    }

    @Test(arguments: [(500, false), (1000, true)])
    mutating func `a link that was full again before it had recovered is not warned of again`(
        pause: Int, isWarnedOf: Bool
    ) {
        _ = ticker.wait([1], of: tick(rate), for: slow, now: .zero)
        ticker.took(slow)
        let isWarned = ticker.wait([2], of: tick(rate), for: slow, now: .milliseconds(pause))
        #expect(isWarned == isWarnedOf)
    }

    @Test mutating func `values without subscribers do not wait`() {
        _ = ticker.wait([1], of: tick(rate), for: slow, now: .zero)
        _ = ticker.wait([2], of: tick(level), for: slow, now: .zero)
        ticker.forget(rate, of: slow)
        #expect(ticker.waiting(for: slow)?.attribute == level)
        ticker.stop(level)
        #expect(ticker.fullLinks.isEmpty)
        _ = ticker.wait([3], of: tick(rate), for: slow, now: .zero)
        ticker.forget(slow)
        #expect(ticker.fullLinks.isEmpty)
        // A link that begins anew is warned of anew.
        let isWarned = ticker.wait([4], of: tick(rate), for: slow, now: .zero)
        #expect(isWarned)
    }

    @Test mutating func `an attribute that the table no longer holds keeps no other from being sent`() {
        var table = AttributeTable()
        table.add(
            .init(
                service: "180D", characteristic: "2A37", source: .stored([7]), maximumLength: 1,
                every: .seconds(1)), as: rate)
        // Of two ticks at one time the one of the earlier definition is first.
        let gone = AttributeKey()
        for attribute in [gone, rate, level] { ticker.start(attribute, every: .seconds(1), now: .zero) }
        var sent: [AttributeKey] = []
        while let due = ticker.due(at: .seconds(2), in: table) {
            #expect(due.value == [7])
            sent.append(due.tick.attribute)
            ticker.sent(due.tick)
        }
        #expect(sent == [rate, rate])
        #expect(ticker.attributes == [rate])
        #expect(ticker.next == .seconds(3))
    }

    @Test mutating func `a value for everyone without room stops all ticks, and none is skipped`() throws {
        ticker.start(rate, every: .seconds(1), now: .zero)
        #expect(ticker.next == .seconds(1))
        #expect(ticker.due(at: .milliseconds(999)) == nil)
        let tick = try #require(ticker.due(at: .seconds(3)))
        ticker.block()
        #expect(ticker.next == nil)
        #expect(ticker.due(at: .seconds(3)) == nil)
        ticker.unblock()
        #expect(ticker.due(at: .seconds(3)) == tick)
        ticker.sent(tick)
        #expect(ticker.due(at: .seconds(3))?.number == 2)
        ticker.stopAll()
        #expect(ticker.next == nil)
    }

    @Test mutating func `a delay of more than a second is reported once`() {
        let said = [Duration.seconds(1), .milliseconds(1001), .seconds(5)].map { ticker.isNewlyBehind($0) }
        #expect(said == [false, true, false])
    }
}
