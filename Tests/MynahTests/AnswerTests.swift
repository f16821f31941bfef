import MynahCore
import MynahSupport
import Testing

@testable import Mynah

/// How a reader of events answers a request.
@Suite struct AnswerTests {
    private let central = Central(Peer(id: Peer.ID(1)))

    private func read(offset: Int) -> PeripheralEvent {
        .read(ReadRequest(central: central.id, attribute: AttributeKey(), offset: offset), central)
    }

    /// The answer that the radio gets to an event, which `body` gives.
    private func answer(_ event: PeripheralEvent, _ body: (DeliveredEvent) -> Bool) -> PendingReply.Outcome? {
        let outcome = Lock<PendingReply.Outcome?>(nil)
        let reply = PendingReply()
        reply.pending.whenAnswered { given in outcome.withLock { $0 = given } }
        let event = DeliveredEvent(event, reply: reply)
        #expect(body(event))
        #expect(!body(event), "the first answer counts")
        return outcome.withLock { $0 }
    }

    @Test(arguments: [
        (0, PendingReply.Outcome.success([1, 2, 3])), (2, .success([3])), (3, .success([])),
        (4, .failure(.invalidOffset)),
    ])
    func `an accepted read gets the bytes from its offset on`(offset: Int, outcome: PendingReply.Outcome) {
        #expect(answer(read(offset: offset)) { $0.accept([1, 2, 3]) } == outcome)
    }

    @Test func `a write is accepted without bytes, and each is rejected with its error`() {
        let write = PeripheralEvent.write(
            WriteRequest(
                central: central.id, parts: [.init(attribute: AttributeKey(), offset: 0, value: [1])],
                wantsResponse: true), central)
        #expect(answer(write) { $0.accept([9]) } == .success([]))
        #expect(answer(write) { $0.reject(.writeNotPermitted) } == .failure(.writeNotPermitted))
        #expect(
            answer(read(offset: 0)) { $0.reject(.insufficientEncryption) }
                == .failure(.insufficientEncryption))
        #expect(!DeliveredEvent(.readyToUpdateSubscribers).accept())
    }
}
