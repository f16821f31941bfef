import MynahCore
import MynahHCI
import MynahSupport

/// A deadline of a radio.
enum HostDeadline: Hashable {
    /// The controller has not answered a command in time.
    case command
    /// The own address has to change.
    case addressRotation
    /// The address of an advertising set must change.
    case setAddressRotation
    /// The controller has not reported the end of a cancelled connection attempt in time.
    case connectionCancel
    /// Not all links that are being ended have ended in time.
    case linksEnd
    /// The connection request with this number has timed out.
    case connect(UInt64)
    /// A central has not confirmed an indication in time (Vol 3, Part F, 3.3.3).
    case confirmation(ConnectionHandle)
    /// A peer has not answered the L2CAP request with this identifier in time.
    case signal(ConnectionHandle, UInt8)
    /// Pairing has not continued in time.
    case pairing(ConnectionHandle)
    /// The server on a link has not answered a request in time.
    case request(ConnectionHandle)
}

/// The deadlines of a radio, and the task that sleeps until the earliest.
///
/// The radio's drivers share the timer. It is confined to the radio's executor.
final class HostTimer {
    private let environment: Environment
    private var deadlines = Deadlines<HostDeadline>()
    private var timer: DeadlineTimer
    /// Called when the task wakes up, with the number to pass to `woke`.
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

    /// Handles the wake-up of the task with a number; returns `false` if a newer task has replaced it.
    func woke(_ number: UInt64) -> Bool { timer.woke(number) }

    /// Removes and returns a deadline that has passed.
    ///
    /// If there is none, the result is `nil`, and a task sleeps until the next deadline.
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
