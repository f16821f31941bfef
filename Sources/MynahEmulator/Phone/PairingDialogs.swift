import MynahCore
import MynahProfiles

/// The pairings that wait for the answer of a phone's user, the last one on top.
///
/// iOS asks by a dialog if the app is on the screen, and otherwise by a notification, which the user opens to
/// see the dialog; this is an assumption. A question ends with its link.
final class PairingDialogs {
    /// The causes of the alerts, as events have them.
    private enum Cause: String {
        case pairing
        case pairingNotification
    }

    private struct Question {
        let peer: Peer.ID
        /// The peer and the app, for events.
        let link: EventPayload.PeripheralLink
        let reply: PendingPairingReply
        /// Whether the user sees a notification, and not the dialog yet.
        var isNotification: Bool

        func alert(_ name: DeviceEvent.Name) -> (DeviceEvent.Name, EventPayload) {
            var link = link
            link.cause = (isNotification ? Cause.pairingNotification : .pairing).rawValue
            return (name, .link(link))
        }
    }

    private var questions: [Question] = []
    /// The peers whose pairing the user has accepted on this link.
    private var accepted: Set<Peer.ID> = []

    /// Whether the user has accepted the pairing with a peer on this link: a number is not asked about again.
    func hasAccepted(_ peer: Peer.ID) -> Bool { accepted.contains(peer) }

    /// A pairing with a peer asks the user; another question about the same peer is declined.
    func ask(
        _ peer: Peer.ID, _ link: EventPayload.PeripheralLink, isInFront: Bool, _ events: EventReporter
    ) -> PendingPairingAnswer {
        end(for: peer, events)
        let question = Question(
            peer: peer, link: link, reply: PendingPairingReply(), isNotification: !isInFront)
        questions.append(question)
        report(question, .alertShown, events)
        return question.reply.pending
    }

    /// The user opens the notification on top, and sees the dialog; returns `false` if a dialog or nothing is
    /// on top.
    func open(_ events: EventReporter) -> Bool {
        guard let last = questions.indices.last, questions[last].isNotification else { return false }
        report(questions[last], .alertOpened, events)
        questions[last].isNotification = false
        report(questions[last], .alertShown, events)
        return true
    }

    /// The user answers the question on top, after opening its notification; returns `false` if there is
    /// none.
    func answer(agrees: Bool, _ events: EventReporter) -> Bool {
        _ = open(events)
        return end(agrees: agrees, events)
    }

    /// The user dismisses the question on top, which declines; returns `false` if there is none.
    func dismiss(_ events: EventReporter) -> Bool { end(agrees: false, events) }

    private func end(agrees: Bool, _ events: EventReporter) -> Bool {
        guard let question = questions.popLast() else { return false }
        report(question, .alertDismissed, events)
        if agrees { accepted.insert(question.peer) }
        question.reply.answer(agrees ? .agreed : .declined)
        return true
    }

    /// The link to a peer has ended.
    func end(for peer: Peer.ID, _ events: EventReporter) {
        accepted.remove(peer)
        let over = questions.filter { $0.peer == peer }
        questions.removeAll { $0.peer == peer }
        for question in over { report(question, .alertDismissed, events) }
    }

    /// The run is over; what is not answered is declined.
    func end() {
        questions = []
    }

    private func report(_ question: Question, _ name: DeviceEvent.Name, _ events: EventReporter) {
        let (name, payload) = question.alert(name)
        events.report(name, payload)
    }
}
