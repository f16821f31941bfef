import MynahCore
import Testing

@testable import MynahBlueZ

@Suite struct PendingRequestsTests {
    @Test func `a request is answered once, or is overdue`() {
        var pending = PendingRequests<String>()
        let key = AttributeKey()
        let numbers = [1, 2, 3].map { due in
            pending.add(
                .init(
                    call: "call \(due)", central: Peer.ID(1), attribute: key, isRead: true,
                    due: .seconds(due)))
        }
        #expect(pending.nextDue == .seconds(1))
        #expect(pending.remove(numbers[0])?.call == "call 1")
        #expect(pending.remove(numbers[0]) == nil)
        #expect(pending.takeOverdue(at: .milliseconds(1999)).isEmpty)
        #expect(pending.takeOverdue(at: .seconds(3)).map(\.call) == ["call 2", "call 3"])
        #expect(pending.remove(numbers[1]) == nil)
        #expect(pending.isEmpty && pending.nextDue == nil)
    }

    @Test func `no request waits for a link that is being ended`() {
        var pending = PendingRequests<String>()
        let (first, second) = (Peer.ID(1), Peer.ID(2))
        for (call, central) in [("a", first), ("b", second), ("c", first)] {
            _ = pending.add(
                .init(call: call, central: central, attribute: AttributeKey(), isRead: true, due: .seconds(1))
            )
        }
        #expect(pending.takeAll(ofLinksThatEnd: [Peer.ID(3)]).isEmpty)
        #expect(pending.takeAll(ofLinksThatEnd: [first]).map(\.call) == ["a", "c"])
        #expect(!pending.mayWait(first) && pending.mayWait(second))
        pending.linksEnded(of: [first])
        #expect(pending.mayWait(first))
        #expect(pending.takeAll(ofLinksThatEnd: [nil]).map(\.call) == ["b"])
        #expect(pending.isEmpty && !pending.mayWait(first) && !pending.mayWait(second))
        pending.removeAll()
        #expect(pending.mayWait(first) && pending.mayWait(second))
    }

    @Test func `a number is not used again after a stop`() {
        var pending = PendingRequests<String>()
        let request = PendingRequests<String>.Request(
            call: "", central: Peer.ID(1), attribute: AttributeKey(), isRead: false, due: .zero)
        let first = pending.add(request)
        pending.removeAll()
        #expect(pending.add(request) != first)
    }
}
