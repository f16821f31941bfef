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
        case .later(let later): return (add(request), later)
        }
        return nil
    }

    /// Refuses what a central, or every central if it is `nil`, still waits for, before its link is ended.
    ///
    /// bluetoothd can crash if a link ends with a request that is not answered, 5 s later in 5.66
    /// (bluez#2447).
    mutating func refuse(of central: Peer.ID?) {
        for request in takeAll(of: central) { request.finish(.failure(.unlikelyError)) }
    }
}

extension PendingRequests<MethodCall>.Request {
    func finish(_ outcome: PendingReply.Outcome) { call.finish(outcome, isRead: isRead) }
}
