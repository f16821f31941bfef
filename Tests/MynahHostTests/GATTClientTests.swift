import MynahCore
import MynahHCI
import MynahSupport
import Testing

@testable import MynahHost

/// The clients of all links, with no radio.
@Suite struct GATTClientTests {
    var client = GATTClient(timeout: .seconds(30))
    let ended = Lock<[String]>([])

    private mutating func read(
        _ handle: AttributeHandle, on link: ConnectionHandle, at seconds: Int
    ) -> [ATTClient.Action] {
        var actions: [ATTClient.Action] = []
        let ended = ended
        client.perform(ValueRead(handle), on: link, at: .seconds(seconds), into: &actions) { result in
            let word =
                switch result {
                case .success(let value): Hex.encode(value)
                case .failure(.failed(let error)): error.code.rawValue
                case .failure(.refused(let error)): "\(error.code)"
                }
            ended.withLock { $0.append("\(link.rawValue) \(handle) \(word)") }
        }
        return actions
    }

    private mutating func hear(
        _ bytes: [UInt8], on link: ConnectionHandle, at seconds: Int
    ) -> [ATTClient.Action] {
        var actions: [ATTClient.Action] = []
        client.receive(bytes, on: link, at: .seconds(seconds), into: &actions)
        return actions
    }

    @Test mutating func `each link is asked by itself, and its requests have their own time`() {
        client.addLink(1)
        client.addLink(2)
        #expect(client.deadline(of: 1) == nil)
        #expect(read(3, on: 1, at: 10) == [.send([0x0A, 3, 0])])
        #expect(read(5, on: 1, at: 11) == [])
        #expect(read(3, on: 2, at: 12) == [.send([0x0A, 3, 0])])
        #expect(client.deadline(of: 1) == .seconds(40) && client.deadline(of: 2) == .seconds(42))
        #expect(hear([0x0B, 9], on: 1, at: 20) == [.send([0x0A, 5, 0])])
        #expect(client.deadline(of: 1) == .seconds(50))
        #expect(hear([0x0B, 8], on: 1, at: 21) == [])
        #expect(client.deadline(of: 1) == nil && client.deadline(of: 2) == .seconds(42))
        #expect(ended.withLock { $0 } == ["1 3 09", "1 5 08"])
    }

    @Test mutating func `a notification does not move a request's time`() {
        client.addLink(1)
        _ = read(3, on: 1, at: 10)
        #expect(hear([0x1B, 7, 0, 1], on: 1, at: 20) == [.notified(7, [1], .notification)])
        #expect(client.deadline(of: 1) == .seconds(40))
    }

    @Test mutating func `a request that is not answered in time is the link's last`() {
        client.addLink(1)
        _ = read(3, on: 1, at: 10)
        _ = read(5, on: 1, at: 10)
        client.expire(1, at: .seconds(39))
        #expect(client.deadline(of: 1) == .seconds(40) && ended.withLock { $0.isEmpty })
        client.expire(1, at: .seconds(40))
        #expect(client.deadline(of: 1) == nil)
        #expect(read(7, on: 1, at: 41) == [])
        #expect(ended.withLock { $0 } == ["1 3 timedOut", "1 5 timedOut", "1 7 timedOut"])
    }

    @Test mutating func `answers can be given less time, but not on a link that pairs`() {
        client.addLink(1)
        client.addLink(2)
        client.limitAnswers(to: .seconds(5))
        _ = read(3, on: 1, at: 10)
        _ = read(3, on: 2, at: 10)
        #expect(client.deadline(of: 1) == .seconds(15))
        client.expire(1, at: .seconds(15), isPairing: true)
        #expect(client.deadline(of: 1) == .seconds(40) && ended.withLock { $0.isEmpty })
        client.expire(2, at: .seconds(15))
        #expect(ended.withLock { $0 } == ["2 3 timedOut"])
        client.expire(1, at: .seconds(40), isPairing: true)
        #expect(ended.withLock { $0 } == ["2 3 timedOut", "1 3 timedOut"])
        for limit: Duration? in [nil, .seconds(90)] {
            client.addLink(1)
            client.limitAnswers(to: limit)
            _ = read(3, on: 1, at: 100)
            #expect(client.deadline(of: 1) == .seconds(130))
        }
    }

    @Test
    mutating func `a deadline that moves with each request is watched once, and again when its time comes`() {
        client.addLink(1)
        _ = read(3, on: 1, at: 10)
        let first = client.takeWatch(of: 1)
        #expect(first == .seconds(40))
        _ = hear([0x0B, 1], on: 1, at: 20)
        _ = read(5, on: 1, at: 20)
        let second = client.takeWatch(of: 1)
        #expect(second == nil)
        client.expire(1, at: .seconds(40))
        let third = client.takeWatch(of: 1)
        #expect(third == .seconds(50) && ended.withLock { $0.count } == 1)
        _ = hear([0x0B, 1], on: 1, at: 41)
        client.expire(1, at: .seconds(50))
        let last = client.takeWatch(of: 1)
        #expect(last == nil && ended.withLock { $0.count } == 2)
    }

    @Test mutating func `a link that ends ends what was asked on it, and is asked nothing more`() {
        client.addLink(1)
        _ = read(3, on: 1, at: 10)
        client.end(1)
        #expect(read(5, on: 1, at: 11) == [])
        #expect(ended.withLock { $0 } == ["1 3 disconnected", "1 5 disconnected"])
        #expect(client.deadline(of: 1) == nil && client.mtu(of: 1) == 23)
        #expect(hear([0x0B, 1], on: 1, at: 12) == [])
        // The handle is another link's later.
        client.addLink(1)
        #expect(read(7, on: 1, at: 13) == [.send([0x0A, 7, 0])])
    }

    @Test mutating func `both ends of a link agree on its MTU`() {
        client.addLink(1)
        client.agreed(on: 100, 1)
        #expect(client.mtu(of: 1) == 100)
        var actions: [ATTClient.Action] = []
        client.perform(MTUExchange(ownMTU: 517), on: 1, at: .zero, into: &actions) { _ in }
        #expect(actions == [.send([0x02, 0x05, 0x02])])
        #expect(hear([0x03, 0xF7, 0x00], on: 1, at: 1) == [.mtuChanged(247)])
        #expect(client.mtu(of: 1) == 247)
    }

    @Test mutating func `a command goes out if it fits and there is room, and is reported later if not`()
        throws
    {
        var outbound = Outbound(limit: 1)
        outbound.configure(.init(size: 251, count: 1))
        client.addLink(1)
        #expect(throws: RadioError.self) {
            try client.write([UInt8](repeating: 1, count: 21), to: 9, on: 1, &outbound)
        }
        #expect(try client.write([7], to: 9, on: 1, &outbound))
        #expect(try !client.write([8], to: 9, on: 1, &outbound))
        #expect(outbound.hasRefused && !client.hasRoom(on: 1, &outbound))
        #expect(outbound.takeNext().map { Hex.encode($0.body.dropFirst(8)) } == "52090007")
        #expect(outbound.takeReady { _ in true } == Outbound.Ready(writes: [1]))
        #expect(client.hasRoom(on: 1, &outbound))
        #expect(outbound.takeNext() == nil)
    }

    @Test mutating func `a signed command needs a key, and room for its signature`() throws {
        var outbound = Outbound(limit: 1)
        outbound.configure(.init(size: 251, count: 1))
        client.addLink(1)
        func write(_ count: Int, sign: ([UInt8]) -> [UInt8]?) throws -> Bool {
            try client.writeSigned(
                [UInt8](repeating: 7, count: count), to: 9, on: 1, &outbound, sign: sign)
        }
        let tooLong = #expect(throws: RadioError.self) { try write(9) { $0 } }
        #expect(tooLong?.code == .valueTooLong)
        let keyless = #expect(throws: RadioError.self) { try write(1) { _ in nil } }
        #expect(keyless?.code == .insufficientSecurity)
        #expect(try write(1) { $0 + [1, 2] })
        // A write that finds no room is not signed, because that would use up a counter.
        #expect(
            try !write(1) {
                Issue.record("it was signed")
                return $0
            })
        #expect(outbound.takeNext().map { Hex.encode($0.body.dropFirst(8)) } == "D20900070102")
    }
}
