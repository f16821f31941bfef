import MynahCore
import MynahLifecycle

/// The consent of a phone's user to a pairing that a request of an app needs.
///
/// The radio asks only for a pairing that the other side began, so the phone asks before it begins one.
struct PairingConsent {
    private let memory: CentralMemory
    private let reports: PhoneReports

    init(_ memory: CentralMemory, _ reports: PhoneReports) {
        self.memory = memory
        self.reports = reports
    }

    /// Asks the user, and returns the answer; returns `true` if nobody listens, or the device is bonded.
    func ask(for link: Peer.ID) async -> Bool {
        guard let peer = memory.links[link]?.peer, !peer.isPaired,
            memory.holders(of: link).contains(where: { $0.app != nil })
        else { return true }
        switch reports.ask(.peripheralPairing(peer, .agree)) {
        case .pairing(let answer): return answer == .agreed
        case .pairingLater(let pending):
            return await withCheckedContinuation { continuation in
                pending.whenAnswered { continuation.resume(returning: $0 == .agreed) }
            }
        case .none, .answer, .later: return true
        }
    }
}
