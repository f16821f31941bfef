import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

/// A socket that keeps its messages.
private final class FakeSocket: NotificationSocket {
    var hasRoom: Bool {
        get { isOpen && messages.count < limit ?? .max }
        set { isOpen = newValue }
    }
    /// The most messages that fit, or `nil` for any number.
    var limit: Int?
    private var isOpen = true
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
        _ machine: inout Machine, _ value: [UInt8] = [1], inPieces: Bool = false,
        to centrals: [Peer.ID]? = nil, mtus: [Int?] = [185, 185], outgoing: Int = 0, at now: Duration = .zero
    ) throws(RadioError) -> (Machine.Sending, warnings: [String]) {
        let connected = mtus.enumerated().map {
            CentralTable.Central(id: Peer.ID(UInt32($0.offset + 1)), mtu: $0.element)
        }
        var warnings: [RadioWarning] = []
        let sending = try machine.send(
            value, of: (key, "2A37"), inPieces: inPieces, to: centrals, connected: connected,
            outgoing: outgoing, at: now, warnings: &warnings)
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

    @Test(
        arguments: [
            (20, [nil], []), (21, [nil], ["mtuUnknown"]), (47, [50], []), (48, [50], ["valueTooLong"]),
            (47, [50, nil], ["mtuUnknown"]), (48, [nil, 50], ["valueTooLong", "mtuUnknown"]),
            (48, [23, 50, 185], ["valueTooLong", "valueTooLong"]), (100, [], []),
        ] as [(Int, [Int?], [String])])
    func `a value that links cut is sent, with one warning for each link, or one if that is not known`(
        count: Int, mtus: [Int?], warnings: [String]
    ) throws {
        var machine = Machine(rate: nil)
        let value = [UInt8](repeating: 0, count: count)
        let result = try send(&machine, value, mtus: mtus)
        #expect(result.0 == .changeProperty && result.warnings == warnings)
        #expect(try send(&machine, value, mtus: mtus).warnings == [], "once")
        // A new link of the same central is warned of again.
        _ = machine.disconnected(first, isBonded: true, isLast: false, at: .zero)
        let again = warnings.contains("valueTooLong") && mtus.first != .some(nil)
        #expect(try send(&machine, value, mtus: mtus).warnings == (again ? ["valueTooLong"] : []))
    }

    @Test(
        arguments: [
            (20, [23], nil), (21, [23], 20), (100, [185], nil), (100, [50], 47), (100, [50, 60], 47),
            (100, [50, nil], 20), (21, [nil], 20), (20, [nil], nil), (100, [], nil),
        ] as [(Int, [Int?], Int?)])
    func `a value in pieces fits every link, without a warning`(
        count: Int, mtus: [Int?], length: Int?
    ) throws {
        var machine = Machine(rate: nil)
        let value = [UInt8](repeating: 0, count: count)
        let result = try send(&machine, value, inPieces: true, mtus: mtus)
        #expect(result.0 == length.map { .changePropertyInPieces(of: $0) } ?? .changeProperty)
        #expect(result.warnings == [])
    }

    @Test func `through sockets each link gets what it carries`() throws {
        var (machine, sockets) = withSockets()
        let value = Array<UInt8>(0..<100)
        let one = try send(&machine, value, to: [second], mtus: [23, 185])
        #expect(one.0 == .sent(1) && one.warnings == [], "only the addressed link counts")
        let both = try send(&machine, value, mtus: [23, 185])
        #expect(both.0 == .sent(2) && both.warnings == ["valueTooLong"])
        #expect(sockets.map(\.messages) == [[Array(value.prefix(20))], [value, value]])
    }

    @Test func `through sockets each link gets its own pieces, and the rest when there is room`() throws {
        var (machine, sockets) = withSockets()
        let value = Array<UInt8>(0..<50)
        sockets[0].limit = 2
        #expect(try send(&machine, value, inPieces: true, mtus: [23, 33]).0 == .sent(2))
        #expect(sockets[0].messages == [Array(0..<20), Array(20..<40)])
        #expect(sockets[1].messages == [Array(0..<30), Array(30..<50)])
        #expect(sockets[0].isWaiting)
        #expect(try send(&machine, [1]).0 == .full)
        let link = NotificationSocketKey(attribute: key, peer: first)
        #expect(machine.handle(.writable, of: link, at: .zero) == [], "there is no room yet")
        sockets[0].limit = nil
        #expect(machine.handle(.writable, of: link, at: .zero) == [.readyToSend])
        #expect(sockets[0].messages == [Array(0..<20), Array(20..<40), Array(40..<50)])
        #expect(try send(&machine, [1]).0 == .sent(2))
    }

    @Test func `without sockets no central can be addressed`() {
        var machine = Machine(rate: nil)
        #expect(throws: RadioError.self) { try send(&machine, to: [first]) }
    }
}
