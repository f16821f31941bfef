import MynahCore
import MynahHCI
import MynahSupport

/// A deadline of a radio.
enum HostDeadline: Hashable {
    /// The controller has to answer a command.
    case command
    /// The own address changes.
    case addressRotation
    /// The controller has to report that it stopped initiating.
    case connectionCancel
    /// Links that are being ended have to be gone.
    case linksEnd
    /// A connection is given up.
    case connect(UInt64)
    /// A central has to confirm an indication (Vol 3, Part F, 3.3.3).
    case confirmation(ConnectionHandle)
    /// A peer has to answer an L2CAP signal.
    case signal(ConnectionHandle, UInt8)
    /// Pairing has to go on.
    case pairing(ConnectionHandle)
    /// A server has to answer a request.
    case request(ConnectionHandle)
}

/// The deadlines of a radio, and the task that sleeps until the earliest.
///
/// The radio's drivers share the timer. It is confined to the radio's executor.
final class HostTimer {
    private let environment: Environment
    private var deadlines = Deadlines<HostDeadline>()
    private var timer: DeadlineTimer
    /// Called when the task has woken, with a number for `woke`.
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

    /// A link has ended: neither a confirmation nor an answer is due on it.
    func linkEnded(_ link: ConnectionHandle) {
        self[.confirmation(link)] = nil
        self[.request(link)] = nil
    }

    /// Notes that the task with a number has woken; returns whether it is the one that was armed last.
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
