import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct AirNeighboursTests {
    private struct Refused: Error {}

    private func connect(_ here: inout AirNeighbours, isOurs: Bool) throws -> AirNeighbours.Connection {
        // The number that was called matters to `knows` only.
        guard let connection = here.connected(to: isOurs ? 99 : nil) else { throw Refused() }
        return connection
    }

    private func frame(_ station: UInt64) -> AirFrame {
        AirFrame(
            from: Station(station), to: nil,
            pdu: .scanRequest(scanner: AirRig.address(1), advertiser: AirRig.address(2)))
    }

    private func message(_ station: UInt64) -> [UInt8] { AirMessage.frame(frame(station)).bytes }

    private func greeting(_ node: UInt64, wantsAdvertising: Bool = true) -> [UInt8] {
        AirGreeting(node: node, wantsAdvertising: wantsAdvertising).bytes
    }

    @Test(arguments: [true, false]) func `two connections to one are settled alike on both sides`(isLow: Bool)
        throws
    {
        // The lower began the first; the other began the second.
        var here = AirNeighbours(node: isLow ? 1 : 2)
        let other: UInt64 = isLow ? 2 : 1
        let first = try connect(&here, isOurs: isLow)
        let second = try connect(&here, isOurs: !isLow)
        #expect(here.received(greeting(other), on: second) == [])
        #expect(here.audience == [second] && here.count == 1)
        #expect(here.received(greeting(other), on: first) == [.close(second, nil)])
        #expect(here.audience == [first] && here.count == 1)
        here.ended(second)
        #expect(here.count == 1)
    }

    @Test func `a station is reached through the process that first sent for it`() throws {
        var here = AirNeighbours(node: 1)
        let one = try connect(&here, isOurs: true)
        let other = try connect(&here, isOurs: true)
        _ = here.received(greeting(2), on: one)
        _ = here.received(greeting(3), on: other)
        #expect(here.received(message(7), on: one) == [.take(frame(7))])
        #expect(here.received(message(7), on: other) == [])
        #expect(here.received(message(8), on: other) == [.take(frame(8))])
        #expect(here.connection(of: Station(7)) == one && here.connection(of: Station(8)) == other)
        here.ended(one)
        #expect(here.connection(of: Station(7)) == nil)
        #expect(here.received(message(7), on: one) == [])
        #expect(here.received(message(7), on: other) == [.take(frame(7))])
    }

    @Test func `the stations of a connection that is given up are reached through the one that is kept`()
        throws
    {
        var here = AirNeighbours(node: 1)
        let theirs = try connect(&here, isOurs: false)
        let ours = try connect(&here, isOurs: true)
        _ = here.received(greeting(2), on: theirs)
        _ = here.received(message(7), on: theirs)
        #expect(here.received(greeting(2), on: ours) == [.close(theirs, nil)])
        #expect(here.connection(of: Station(7)) == ours)
        #expect(here.received(message(7), on: ours) == [.take(frame(7))])
        here.ended(ours)
        #expect(here.connection(of: Station(7)) == nil)
    }

    @Test func `the audience is every process that wants advertising now`() throws {
        var here = AirNeighbours(node: 1)
        let one = try connect(&here, isOurs: true)
        let other = try connect(&here, isOurs: false)
        #expect(here.received(greeting(2, wantsAdvertising: false), on: one) == [])
        #expect(here.audience == [])
        #expect(here.received(greeting(3), on: other) == [])
        #expect(here.audience == [other])
        let wanted = AirMessage.wantsAdvertising(true).bytes
        for _ in 0..<2 { #expect(here.received(wanted, on: one) == []) }
        #expect(here.audience == [one, other])
        #expect(here.received(AirMessage.wantsAdvertising(false).bytes, on: other) == [])
        #expect(here.audience == [one])
        here.ended(one)
        #expect(here.audience == [])
        for spoilt: [UInt8] in [[], [1], [1, 2], [1, 1, 1], [2, 0]] {
            let third = try connect(&here, isOurs: true)
            _ = here.received(greeting(4), on: third)
            #expect(here.received(spoilt, on: third) == [.close(third, .nonsense)])
        }
    }

    @Test func `a process is known from when it is called until it is gone`() throws {
        var here = AirNeighbours(node: 1)
        #expect(!here.knows(2))
        guard let one = here.connected(to: 2) else { throw Refused() }
        #expect(here.knows(2) && !here.knows(3))
        _ = here.received(greeting(2), on: one)
        #expect(here.knows(2))
        here.ended(one)
        #expect(!here.knows(2))
    }

    @Test func `too many connections or stations are refused, and our own number with them`() throws {
        var here = AirNeighbours(node: 1)
        let one = try connect(&here, isOurs: true)
        _ = here.received(greeting(2), on: one)
        for number in 1...UInt64(AirNeighbours.stationLimit) {
            #expect(here.received(message(number), on: one).count == 1)
        }
        #expect(here.received(message(1 << 40), on: one) == [.close(one, .tooMany)])
        let own = try connect(&here, isOurs: false)
        #expect(here.received(greeting(1), on: own) == [.close(own, .nonsense)])
        var last: AirNeighbours.Connection?
        for _ in 0..<AirNeighbours.limit { last = here.connected() }
        #expect(last != nil && here.count == 0)
        last = here.connected()
        #expect(last == nil)
    }
}
