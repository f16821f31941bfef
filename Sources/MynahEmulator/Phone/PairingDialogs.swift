import MynahCore
import MynahProfiles

/// The pairings that wait for the answer of the phone's user; the newest question is on top.
///
/// If the app is in the foreground, iOS asks with a dialog. Otherwise it asks with a notification, which the
/// user opens to see the dialog; this is an assumption. A question is removed when its link ends.
final class PairingDialogs {
    /// The form of a question, dialog or notification, as in events.
    private enum Cause: String {
        case pairing
        case pairingNotification
    }

    private struct Question {
        let peer: Peer.ID
        /// The peer and the app, for events.
        let link: EventPayload.PeripheralLink
        let reply: PendingPairingReply
        /// `true` if the question is still a notification that the user has not opened.
        var isNotification: Bool

        func alert(_ name: DeviceEvent.Name) -> (DeviceEvent.Name, EventPayload) {
            var link = link
            link.cause = (isNotification ? Cause.pairingNotification : .pairing).rawValue
            return (name, .link(link))
        }
    }

    private var questions: [Question] = []
    /// The peers with which the user has accepted a pairing on the current link.
    private var accepted: Set<Peer.ID> = []

    /// Whether the user has accepted a pairing with this peer on the current link.
    ///
    /// If so, the user is not asked again for a numeric comparison.
    func hasAccepted(_ peer: Peer.ID) -> Bool { accepted.contains(peer) }

    /// Asks the user about a pairing; an earlier question about the same peer is declined.
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

    /// Opens the notification on top, as the user would.
    ///
    /// Returns `false` if there is no question, or if a dialog is on top.
    func open(_ events: EventReporter) -> Bool {
        guard let last = questions.indices.last, questions[last].isNotification else { return false }
        report(questions[last], .alertOpened, events)
        questions[last].isNotification = false
        report(questions[last], .alertShown, events)
        return true
    }

    /// Answers the question on top, as the user would; a notification is opened first.
    ///
    /// Returns `false` if there is no question.
    func answer(agrees: Bool, _ events: EventReporter) -> Bool {
        _ = open(events)
        return end(agrees: agrees, events)
    }

    /// Dismisses the question on top, which declines the pairing; returns `false` if there is no question.
    func dismiss(_ events: EventReporter) -> Bool { end(agrees: false, events) }

    private func end(agrees: Bool, _ events: EventReporter) -> Bool {
        guard let question = questions.popLast() else { return false }
        report(question, .alertDismissed, events)
        if agrees { accepted.insert(question.peer) }
        question.reply.answer(agrees ? .agreed : .declined)
        return true
    }

    /// Removes the question about a peer whose link has ended.
    func end(for peer: Peer.ID, _ events: EventReporter) {
        accepted.remove(peer)
        let over = questions.filter { $0.peer == peer }
        questions.removeAll { $0.peer == peer }
        for question in over { report(question, .alertDismissed, events) }
    }

    /// Declines all questions at the end of the run.
    func end() {
        questions = []
    }

    private func report(_ question: Question, _ name: DeviceEvent.Name, _ events: EventReporter) {
        let (name, payload) = question.alert(name)
        events.report(name, payload)
    }
}
