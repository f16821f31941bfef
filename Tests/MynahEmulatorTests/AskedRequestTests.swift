import MynahCore
import Testing

@testable import Mynah
@testable import MynahEmulator

/// The requests that wait for a test's answer, without a device.
@Suite struct AskedRequestTests {
    typealias Asked = AskedRequests<Int>

    static let attribute = AttributeKey()

    static func read(_ central: UInt32 = 1, offset: Int = 0) -> ReadRequest {
        ReadRequest(central: Peer.ID(central), attribute: attribute, offset: offset)
    }

    static func request(_ id: Int, due: Int = 10, of central: UInt32 = 1, offset: Int = 0) -> Asked.Request {
        Asked.Request(
            id: id, access: .read(read(central, offset: offset)), attribute: attribute,
            central: Central(Peer(id: Peer.ID(central))), due: due, reply: PendingReply())
    }

    @Test(arguments: [
        (RequestEnd.answered, "request 3 was answered before"),
        (.timeout, "request 3 was not answered in time: its central got 0x0E"),
        (.disconnected, "the central of request 3 has disconnected"),
        (.reset, "request 3 was answered with 0x0E, because its device was reset"),
        (
            .ended,
            "request 3 was answered with 0x0E, because its app has ended or its device was removed"
        ),
    ])
    func `a request that has ended says why it cannot be answered`(end: RequestEnd, message: String) {
        let numbers = RequestNumbers()
        #expect(numbers.refusal(of: 3) == nil)
        numbers.note(end, of: 3)
        #expect(numbers.refusal(of: 3) == .conflict(message))
        #expect(numbers.refusal(of: 2) == nil)
    }

    @Test func `a request waits until it ends`() {
        var asked = Asked()
        asked.add(Self.request(3, of: 1))
        #expect(asked[3]?.id == 3 && asked[2] == nil)
        #expect(asked.hasRequest(of: Peer.ID(1)) && !asked.hasRequest(of: Peer.ID(2)))
        #expect(asked.end(3)?.id == 3)
        #expect(asked[3] == nil && asked.end(3) == nil)
        #expect(!asked.hasRequest(of: Peer.ID(1)))
    }

    @Test func `a request is overdue when its time has come, and not before`() {
        var asked = Asked()
        for (id, due) in [(1, 10), (2, 12), (3, 12), (4, 20)] { asked.add(Self.request(id, due: due)) }
        #expect(asked.nextDue == 10)
        #expect(asked.endOverdue(at: 9).isEmpty)
        #expect(asked.endOverdue(at: 12).map(\.id) == [1, 2, 3])
        #expect(asked.nextDue == 20)
        asked.end(4)
        #expect(asked.nextDue == nil)
        #expect(asked.endOverdue(at: 100).isEmpty)
    }

    @Test func `the end of a link ends the requests of its central alone`() {
        var asked = Asked()
        for (id, central) in [(1, 1), (2, 2), (3, 1)] as [(Int, UInt32)] {
            asked.add(Self.request(id, of: central))
        }
        #expect(asked.endAll(of: Peer.ID(1)).map(\.id) == [1, 3])
        #expect(asked[2] != nil)
        #expect(asked.endAll().map(\.id) == [2])
        #expect(asked.endAll().isEmpty)
    }

    @Test func `a central reads on in the value that it was answered with`() {
        var asked = Asked()
        #expect(asked.value(continuedBy: Self.read(offset: 22)) == nil)
        asked.add(Self.request(1))
        asked.keep([1, 2, 3], for: Self.read())
        #expect(asked.value(continuedBy: Self.read(offset: 2)) == [1, 2, 3])
        #expect(asked.value(continuedBy: Self.read()) == nil)
        #expect(asked.value(continuedBy: Self.read(2, offset: 2)) == nil)
        // It reads from the start again.
        asked.add(Self.request(2))
        #expect(asked.value(continuedBy: Self.read(offset: 2)) == nil)
        asked.keep([4, 5, 6], for: Self.read())
        _ = asked.endAll(of: Peer.ID(1))
        #expect(asked.value(continuedBy: Self.read(offset: 2)) == nil)
        asked.keep([4, 5, 6], for: Self.read())
        _ = asked.endAll()
        #expect(asked.value(continuedBy: Self.read(offset: 2)) == nil)
    }

    @Test func `only the last ends are remembered`() {
        let numbers = RequestNumbers()
        for id in 1...(RequestNumbers.memory + 2) { numbers.note(.answered, of: id) }
        #expect(numbers.refusal(of: 2) == nil)
        #expect(numbers.refusal(of: 3) != nil && numbers.refusal(of: RequestNumbers.memory + 2) != nil)
    }

    @Test func `a test has until a second before the radio or the central gives up`() {
        var capabilities = RadioCapabilities(name: "x")
        #expect(capabilities.askLimit == .seconds(29))
        capabilities.answerDeadline = .seconds(5)
        #expect(capabilities.askLimit == .seconds(4))
    }
}
