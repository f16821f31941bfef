import MynahCore
import MynahLifecycle

/// The consent of a phone's user to a pairing that a request of an app needs.
///
/// The radio asks only for a pairing that the other side began, so the phone asks before it begins one.
enum PairingConsent {
    /// Asks the user, and returns the answer; returns `true` if nobody listens, or the device is bonded.
    static func ask(for link: Peer.ID, on phone: isolated Phone) async -> Bool {
        guard let peer = phone.central.connections.links[link]?.peer, !peer.isPaired,
            phone.central.connections.ledger.holders(of: link).contains(where: {
                phone.central.manager($0)?.app != nil
            })
        else { return true }
        switch phone.ask(.peripheralPairing(peer, .agree)) {
        case .pairing(let answer): return answer == .agreed
        case .pairingLater(let pending):
            return await withCheckedContinuation { continuation in
                pending.whenAnswered { continuation.resume(returning: $0 == .agreed) }
            }
        case .none, .answer, .later: return true
        }
    }
}
