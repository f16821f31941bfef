import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct AirNeighboursTests {
    private struct Refused: Error {}

    private func connect(_ here: inout AirNeighbours, isOurs: Bool) throws -> AirNeighbours.Connection {
        guard let connection = here.connected(isOurs: isOurs) else { throw Refused() }
        return connection
    }

    private func frame(_ station: UInt64) -> AirFrame {
        AirFrame(
            from: Station(station), to: nil,
            pdu: .scanRequest(scanner: AirRig.address(1), advertiser: AirRig.address(2)))
    }

    @Test(arguments: [true, false]) func `two connections to one are settled alike on both sides`(isLow: Bool)
        throws
    {
        // The lower began the first; the other began the second.
        var here = AirNeighbours(node: isLow ? 1 : 2)
        let other: UInt64 = isLow ? 2 : 1
        let first = try connect(&here, isOurs: isLow)
        let second = try connect(&here, isOurs: !isLow)
        #expect(here.received(AirGreeting(node: other).bytes, on: second) == [])
        #expect(here.everyone == [second] && here.count == 1)
        #expect(here.received(AirGreeting(node: other).bytes, on: first) == [.close(second, nil)])
        #expect(here.everyone == [first] && here.count == 1)
        here.ended(second)
        #expect(here.count == 1)
    }

    @Test func `a station is reached through whoever spoke for it first`() throws {
        var here = AirNeighbours(node: 1)
        let one = try connect(&here, isOurs: true)
        let other = try connect(&here, isOurs: true)
        _ = here.received(AirGreeting(node: 2).bytes, on: one)
        _ = here.received(AirGreeting(node: 3).bytes, on: other)
        #expect(here.received(frame(7).bytes, on: one) == [.take(frame(7))])
        #expect(here.received(frame(7).bytes, on: other) == [])
        #expect(here.received(frame(8).bytes, on: other) == [.take(frame(8))])
        #expect(here.connection(of: Station(7)) == one && here.connection(of: Station(8)) == other)
        here.ended(one)
        #expect(here.connection(of: Station(7)) == nil)
        #expect(here.received(frame(7).bytes, on: one) == [])
        #expect(here.received(frame(7).bytes, on: other) == [.take(frame(7))])
    }

    @Test func `too many connections or stations are refused, and our own number with them`() throws {
        var here = AirNeighbours(node: 1)
        let one = try connect(&here, isOurs: true)
        _ = here.received(AirGreeting(node: 2).bytes, on: one)
        for number in 1...UInt64(AirNeighbours.stationLimit) {
            #expect(here.received(frame(number).bytes, on: one).count == 1)
        }
        #expect(here.received(frame(1 << 40).bytes, on: one) == [.close(one, .tooMany)])
        let own = try connect(&here, isOurs: false)
        #expect(here.received(AirGreeting(node: 1).bytes, on: own) == [.close(own, .nonsense)])
        var last: AirNeighbours.Connection?
        for _ in 0..<AirNeighbours.limit { last = here.connected(isOurs: false) }
        #expect(last != nil && here.count == 0)
        last = here.connected(isOurs: false)
        #expect(last == nil)
    }
}
