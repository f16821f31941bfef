import MynahCore
import MynahDBus

extension PendingRequests<MethodCall> {
    /// Gives the sink's answer to a request, or keeps the request and returns its number with the answer that
    /// comes later.
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

    /// Refuses the pending requests of some centrals, or of all if one of them is `nil`, before their links
    /// are ended.
    ///
    /// Until `linksEnded`, a later request is refused too if it has no answer at once.
    ///
    /// bluetoothd can crash if a link ends with a request that is not answered, 5 s later in 5.66
    /// (bluez#2447).
    mutating func linksEnd(of centrals: [Peer.ID?]) {
        for request in takeAll(ofLinksThatEnd: centrals) { request.finish(.failure(.unlikelyError)) }
    }
}

extension PendingRequests<MethodCall>.Request {
    func finish(_ outcome: PendingReply.Outcome) { call.finish(outcome, isRead: isRead) }
}
