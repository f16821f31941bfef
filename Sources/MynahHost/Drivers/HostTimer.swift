import MynahCore
import MynahHCI
import MynahSupport

/// A deadline of a radio.
enum HostDeadline: Hashable {
    /// The controller must have answered a command.
    case command
    /// The own address must change.
    case addressRotation
    /// The address of an advertising set must change.
    case setAddressRotation
    /// The controller must have reported that it stopped initiating.
    case connectionCancel
    /// Links that are being ended must have ended.
    case linksEnd
    /// The connection request with this number times out.
    case connect(UInt64)
    /// A central must have confirmed an indication (Vol 3, Part F, 3.3.3).
    case confirmation(ConnectionHandle)
    /// A peer must have answered an L2CAP signal.
    case signal(ConnectionHandle, UInt8)
    /// Pairing must have continued.
    case pairing(ConnectionHandle)
    /// A server must have answered a request.
    case request(ConnectionHandle)
}

/// The deadlines of a radio, and the task that sleeps until the earliest.
///
/// The radio's drivers share the timer. It is confined to the radio's executor.
final class HostTimer {
    private let environment: Environment
    private var deadlines = Deadlines<HostDeadline>()
    private var timer: DeadlineTimer
    /// Called when the task has woken, with the number to pass to `woke`.
    var wake: @Sendable (UInt64) async -> Void = { _ in }

    init(_ environment: Environment) {
        self.environment = environment
        timer = DeadlineTimer(environment.clock)
    }

    /// The time of a deadline, or `nil` if it is not set.
    subscript(deadline: HostDeadline) -> Duration? {
        get { deadlines[deadline] }
        set {
            deadlines[deadline] = newValue
            arm()
        }
    }

    /// Removes the deadlines of a link that has ended.
    func linkEnded(_ link: ConnectionHandle) {
        self[.confirmation(link)] = nil
        self[.request(link)] = nil
    }

    /// Notes that the task with a number has woken; returns whether it is the current one.
    func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns a due deadline.
    ///
    /// If none is due, returns `nil`, and the task sleeps until the next one.
    func takeDue() -> HostDeadline? {
        if let due = deadlines.takeDue(at: environment.now()) { return due }
        arm()
        return nil
    }

    /// Removes all deadlines.
    func stop() {
        deadlines.removeAll()
        timer.stop()
    }

    private func arm() {
        guard timer.needs(deadlines.wakeTime) else { return }
        timer.arm(deadlines.wakeTime, wake: wake)
    }
}
