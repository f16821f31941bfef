import Mynah
import MynahCore

/// Sends the values that follow from requests, each central's in order, as far as there is room.
///
/// It belongs to its player, and runs on the phone's executor. A value goes out after the response to the
/// request that it follows from.
final class AnswerSender<C: Clock> where C.Duration == Duration {
    private unowned let player: DevicePlayer<C>
    private(set) var outbox = Outbox()
    private var hasWarned = false

    init(_ player: DevicePlayer<C>) {
        self.player = player
    }

    /// Whether the device may act by itself: an app acts only while it runs.
    var canAct: Bool { player.device.app == nil || player.appSide.app?.access.isRunning == true }

    /// Adds a value for one central, or for all if it is `nil`, as far as they are subscribed.
    ///
    /// Returns whether anybody is.
    @discardableResult
    func add(_ value: [UInt8], of key: AttributeKey, to central: Peer.ID? = nil) -> Bool {
        var isSubscribed = false
        for target in player.ticks.targets(of: key) {
            let receiver: Peer.ID? = if case .central(let id) = target { id } else { nil }
            guard central == nil || receiver == nil || receiver == central else { continue }
            isSubscribed = true
            if !outbox.add(.init(bytes: value, attribute: key, central: receiver)), !hasWarned {
                hasWarned = true
                player.events.warn(
                    "answersDropped",
                    """
                    a central takes values more slowly than it asks for them: some of its answers are \
                    dropped
                    """
                )
            }
        }
        return isSubscribed
    }

    /// Sends what there is room for.
    func deliver() {
        guard !outbox.values.isEmpty else { return }
        outbox.deliver { value in
            guard let isSent = player.ticks.send(value.bytes, of: value.attribute, to: value.central) else {
                return true
            }
            if isSent { player.ticks.reportNotified(value.bytes, of: value.attribute, to: value.central) }
            return isSent
        }
    }

    /// Sends what there is room for when the present request has its response.
    func deliverLater() {
        player.link.emulator.enqueue { [index = player.link.index] in $0.player(index)?.answers.deliver() }
    }

    /// A central's link has ended.
    func forgetLink(of central: Central) {
        outbox.forget(central.id)
    }

    /// Nothing is sent any more.
    func clear() {
        outbox = Outbox()
    }
}
