import MynahCore
import MynahDBus

extension PendingRequests<MethodCall> {
    /// Answers a request as the sink decided.
    ///
    /// If the sink postpones its answer, keeps the request, and returns its number and the pending answer.
    mutating func answer(
        _ request: Request, with answer: RadioAnswer
    ) -> (number: UInt64, answer: PendingAnswer)? {
        if request.call.wantsNoReply { return nil }
        switch answer {
        case .none, .pairing, .pairingLater: request.finish(.failure(.unlikelyError))
        case .answer(let outcome): request.finish(outcome)
        case .later(let later) where mayWait(request.central): return (add(request), later)
        case .later: request.finish(.failure(.unlikelyError))
        }
        return nil
    }

    /// Refuses the pending requests of some centrals before their links are ended.
    ///
    /// If the list contains `nil`, this refuses the requests of all centrals.
    ///
    /// Until `linksEnded` is called, a new request that the sink cannot answer at once is refused too.
    ///
    /// bluetoothd can crash if a link ends during an unanswered request; 5.66 crashes 5 s later (bluez#2447).
    mutating func linksEnd(of centrals: [Peer.ID?]) {
        for request in takeAll(ofLinksThatEnd: centrals) { request.finish(.failure(.unlikelyError)) }
    }
}

extension PendingRequests<MethodCall>.Request {
    func finish(_ outcome: PendingReply.Outcome) { call.finish(outcome, isRead: isRead) }
}
