import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

/// A socket that keeps its messages.
private final class FakeSocket: NotificationSocket {
    var hasRoom = true
    var isWaiting = false
    var confirmations = 0
    var messages: [[UInt8]] = []

    func send(_ bytes: [UInt8]) { messages.append(bytes) }
    func waitForRoom() { isWaiting = true }
    func stopWaitingForRoom() { isWaiting = false }

    func takeConfirmations() -> Int {
        defer { confirmations = 0 }
        return confirmations
    }
}

@Suite struct NotifierTests {
    private typealias Machine = Notifier<FakeSocket>

    private let key = AttributeKey()
    private let first = Peer.ID(1)
    private let second = Peer.ID(2)

    private func send(
        _ machine: inout Machine, _ value: [UInt8] = [1], to centrals: [Peer.ID]? = nil,
        mtus: [Int?] = [185, 185], outgoing: Int = 0, at now: Duration = .zero
    ) throws(RadioError) -> (Machine.Sending, warnings: [String]) {
        let connected = mtus.enumerated().map {
            CentralTable.Central(id: Peer.ID(UInt32($0.offset + 1)), mtu: $0.element)
        }
        var warnings: [RadioWarning] = []
        let sending = try machine.send(
            value, of: (key, "2A37"), to: centrals, connected: connected, outgoing: outgoing, at: now,
            warnings: &warnings)
        return (sending, warnings.map(\.code))
    }

    /// A machine with a socket for each of two centrals.
    private func withSockets() -> (Machine, [FakeSocket]) {
        var machine = Machine(rate: nil)
        machine.usesSockets = true
        let sockets = [FakeSocket(), FakeSocket()]
        for (peer, socket) in zip([first, second], sockets) {
            #expect(
                machine.acquired(.init(attribute: key, peer: peer), socket, delivery: .notification)
                    == [.subscribed(key, peer, .notification)])
        }
        return (machine, sockets)
    }

    // MARK: Subscriptions

    @Test func `a subscription is reported while a central is connected`() {
        var machine = Machine(rate: nil)
        #expect(machine.connected(first) == [])
        #expect(machine.startNotify(key) == [.subscribed(key, nil, nil)])
        #expect(machine.startNotify(key) == [.subscribed(key, nil, nil)], "of another central")
        #expect(machine.disconnected(first, isBonded: false, isLast: false, at: .zero) == [])
        #expect(
            machine.disconnected(second, isBonded: true, isLast: true, at: .zero) == [.unsubscribed(key, nil)]
        )
        #expect(machine.connected(second) == [.subscribed(key, nil, nil)])
        #expect(machine.stopNotify(key) == [.unsubscribed(key, nil)])
        #expect(machine.stopNotify(key) == [])
    }

    @Test func `the end of a subscription whose centrals are away is not reported twice`() {
        var machine = Machine(rate: nil)
        _ = machine.startNotify(key)
        _ = machine.disconnected(first, isBonded: true, isLast: true, at: .zero)
        #expect(machine.stopNotify(key) == [])
        #expect(machine.connected(first) == [])
    }

    @Test(arguments: [true, false])
    func `subscriptions survive only a power cycle`(isPowerCycle: Bool) {
        var machine = Machine(rate: nil)
        _ = machine.startNotify(key)
        #expect(machine.lost(keepsSubscriptions: isPowerCycle) == [.unsubscribed(key, nil)])
        #expect(machine.connected(first) == (isPowerCycle ? [.subscribed(key, nil, nil)] : []))
    }

    @Test func `an attribute that is removed has no subscribers`() throws {
        var (machine, sockets) = withSockets()
        _ = machine.startNotify(key)
        #expect(machine.remove(key) == [])
        #expect(try send(&machine).0 == .sent(0))
        #expect(sockets.flatMap(\.messages) == [])
    }

    // MARK: Sockets

    @Test func `confirmations come from the socket's central`() {
        var (machine, sockets) = withSockets()
        sockets[1].confirmations = 2
        #expect(
            machine.handle(.readable, of: .init(attribute: key, peer: second), at: .zero) == [
                .confirmed(key, second), .confirmed(key, second),
            ])
        #expect(machine.handle(.readable, of: .init(attribute: AttributeKey(), peer: first), at: .zero) == [])
    }

    @Test func `a closed socket ends the subscription after a while`() throws {
        var (machine, _) = withSockets()
        let doubt = SocketSubscriptions.doubtTime
        #expect(
            machine.handle(.hangUp, of: .init(attribute: key, peer: first), at: .zero) == [
                .resolveDoubts(after: doubt)
            ])
        #expect(try send(&machine).0 == .changeProperty, "reached with all others until then")
        #expect(machine.resolveDoubts(at: .zero) == [.resolveDoubts(after: doubt)])
        #expect(machine.resolveDoubts(at: doubt) == [.unsubscribed(key, first)])
        #expect(try send(&machine).0 == .sent(1))
    }

    @Test func `a bonded central that returns is subscribed without a socket`() throws {
        var (machine, _) = withSockets()
        #expect(machine.disconnected(first, isBonded: true, isLast: false, at: .zero) == [])
        #expect(try send(&machine).0 == .sent(1))
        #expect(machine.connected(first) == [.subscribed(key, first, nil)])
        #expect(try send(&machine).0 == .changeProperty)
        #expect(throws: RadioError.self) { try send(&machine, to: [first]) }
    }

    @Test func `a value goes to all sockets or to none`() throws {
        var (machine, sockets) = withSockets()
        #expect(try send(&machine, [7]).0 == .sent(2))
        #expect(try send(&machine, [8], to: [second]).0 == .sent(1))
        sockets[1].hasRoom = false
        #expect(try send(&machine, [9]).0 == .full)
        #expect(sockets[1].isWaiting)
        #expect(sockets.map(\.messages) == [[[7]], [[7], [8]]])
        sockets[1].hasRoom = true
        #expect(
            machine.handle(.writable, of: .init(attribute: key, peer: second), at: .zero) == [.readyToSend])
        #expect(!sockets[1].isWaiting)
        #expect(try send(&machine, [9]).0 == .sent(2))
    }

    @Test func `a full socket that is closed holds nothing back`() throws {
        var (machine, sockets) = withSockets()
        sockets[1].hasRoom = false
        let replacement = FakeSocket()
        replacement.hasRoom = false
        #expect(try send(&machine).0 == .full)
        #expect(
            machine.acquired(.init(attribute: key, peer: second), replacement, delivery: nil)
                == [.readyToSend])
        #expect(try send(&machine).0 == .full)
        #expect(
            machine.disconnected(second, isBonded: false, isLast: false, at: .zero) == [.readyToSend])
        #expect(try send(&machine).0 == .sent(1))
        sockets[0].hasRoom = false
        #expect(try send(&machine).0 == .full)
        #expect(machine.remove(key) == [.readyToSend])
    }

    @Test func `an empty value never goes through a socket`() throws {
        var (machine, sockets) = withSockets()
        #expect(try send(&machine, []).0 == .changeProperty)
        #expect(throws: RadioError.self) { try send(&machine, [], to: [first]) }
        #expect(sockets.flatMap(\.messages) == [])
    }

    // MARK: Room

    @Test func `past the rate the queue is full for a while`() throws {
        var machine = Machine(rate: 10)
        #expect(try send(&machine).0 == .changeProperty)
        guard case .fullFor(let pause) = try send(&machine).0 else {
            Issue.record("the queue is not full")
            return
        }
        #expect(try send(&machine, at: pause).0 == .full, "until the room is reported")
        #expect(machine.hasRoom() == [.readyToSend])
        #expect(machine.hasRoom() == [])
        #expect(try send(&machine, at: pause).0 == .changeProperty)
    }

    @Test func `a bus that takes nothing fills the queue`() throws {
        var machine = Machine(rate: nil)
        #expect(try send(&machine, outgoing: Machine.outgoingLimit - 1).0 == .changeProperty)
        #expect(
            try send(&machine, outgoing: Machine.outgoingLimit).0
                == .fullUntilBusTakes(below: Machine.outgoingRoom))
        #expect(try send(&machine).0 == .full)
        #expect(machine.hasRoom() == [.readyToSend])
    }

    @Test func `room is reported after a loss only when the radio is back`() throws {
        var machine = Machine(rate: nil)
        _ = try send(&machine, outgoing: Machine.outgoingLimit)
        #expect(machine.lost(keepsSubscriptions: false) == [])
        #expect(machine.hasRoom() == [])
        #expect(machine.recovered() == [.readyToSend])
        #expect(machine.recovered() == [])
        #expect(try send(&machine).0 == .changeProperty)
    }

    // MARK: Length

    @Test(arguments: [
        (20, [Int?.none], nil, []), (21, [nil], nil, ["mtuUnknown"]), (47, [50], nil, []),
        (48, [50], RadioError.Code.valueTooLong, []), (47, [50, nil], nil, ["mtuUnknown"]),
        (48, [nil, 50], .valueTooLong, []), (100, [], nil, []),
    ])
    func `a value that a link cuts is an error, or a warning if that is not known`(
        count: Int, mtus: [Int?], code: RadioError.Code?, warnings: [String]
    ) {
        var machine = Machine(rate: nil)
        let value = [UInt8](repeating: 0, count: count)
        do throws(RadioError) {
            let result = try send(&machine, value, mtus: mtus)
            #expect(code == nil && result.warnings == warnings)
            let again = try send(&machine, value, mtus: mtus)
            #expect(again.warnings == [], "once")
        } catch {
            #expect(error.code == code)
        }
    }

    @Test func `through sockets only the addressed links count`() throws {
        var (machine, _) = withSockets()
        let value = [UInt8](repeating: 0, count: 100)
        #expect(try send(&machine, value, to: [second], mtus: [23, 185]).0 == .sent(1))
        #expect(throws: RadioError.self) { try send(&machine, value, mtus: [23, 185]) }
    }

    @Test func `without sockets no central can be addressed`() {
        var machine = Machine(rate: nil)
        #expect(throws: RadioError.self) { try send(&machine, to: [first]) }
    }
}
