import MynahCore
import MynahLifecycle

/// Asks the phone's user to consent to a pairing that an app's request needs or that a device began.
///
/// The radio asks for consent only if the device began the pairing. Before the phone begins one itself, the
/// phone asks its user.
struct PairingConsent {
    private let memory: CentralMemory
    private let reports: PhoneReports

    init(_ memory: CentralMemory, _ reports: PhoneReports) {
        self.memory = memory
        self.reports = reports
    }

    /// Asks the user whether to pair with the device of a link, and returns the answer.
    ///
    /// Returns `true` without asking if the phone has no `PhoneSink`, if the device is bonded, or if no app
    /// uses the link.
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

    /// Returns the answer to a pairing step.
    ///
    /// A manager that belongs to no app and uses the link gives the answer. If there is none, the phone's
    /// user does.
    func answer(to step: PairingStep, on link: Peer.ID) -> RadioAnswer {
        guard let address = memory.ledger.address(of: link) else { return .none }
        for manager in memory.holders(of: link) where manager.app == nil {
            guard let peripheral = manager.asked[address] else { continue }
            return manager.deliver(.pairing(peripheral, step))
        }
        return memory.links[link].map { reports.ask(.peripheralPairing($0.peer, step)) } ?? .none
    }
}
