import MynahCore
import MynahHCI

/// Makes a controller scan as the host requests.
///
/// The host can also follow the addresses of bonded peripherals. Without another request, the controller then
/// scans with a small window, in order to receive the new private addresses of these peripherals.
///
/// This state machine has no I/O. Its driver gets a step from `next()`, sends it, and passes the result to
/// `finished`, one step at a time.
struct HostScanner {
    /// One command to the controller.
    enum Step: Hashable {
        case setParameters(ScanOptions)
        case enable(ScanOptions)
        case disable
    }

    /// The result of a request, after the last step.
    enum Verdict: Hashable {
        case scanning
        case refused(Step, HCIStatus)
        /// A later request replaced this one, or it was withdrawn.
        case replaced
        /// The controller is lost; the request is carried out on the next controller.
        case lost
    }

    private struct Goal: Hashable {
        /// The number of the request, or 0 for a scan that only follows the addresses of bonded peripherals.
        var number: UInt64
        var options: ScanOptions
    }

    private enum Controller: Hashable {
        /// No controller is available.
        case absent
        /// Scanning is off; the options are those in the controller, or `nil` if they are unknown.
        case off(ScanOptions?)
        case on(Goal)
    }

    private struct Exchange: Hashable {
        var step: Step
        var goal: Goal?
    }

    private var controller = Controller.absent
    private var request: Goal?
    private var follows = false
    /// Whether the controller refused the scan that follows the addresses of bonded peripherals.
    ///
    /// The scan is tried again only after the host has stopped following, or after the next bring-up.
    private var refusedToFollow = false
    private var underWay: Exchange?
    private var isHeld = false
    private var isPaused = false
    private var lastNumber: UInt64 = 0
    private var refusal: (number: UInt64, step: Step, status: HCIStatus)?

    /// The options of a scan that only follows addresses: 30 ms of every 100 ms, with each address reported
    /// once.
    static let following = ScanOptions(
        isActive: false, allowsDuplicates: false, interval: .milliseconds(100), window: .milliseconds(30))

    /// The requested scan, or `nil` if none is requested.
    var wanted: ScanOptions? { request?.options }
    /// The number of the request, or `nil` if there is none.
    // Not inlined: Swift 6.3.1 stops with "Found ownership error" if an async function reads it, when it is
    // optimised.
    @inline(never) var number: UInt64? { request?.number }
    /// Whether the host follows the addresses of bonded peripherals.
    var isFollowing: Bool { follows }
    /// The options of the controller's current scan, or `nil` if it does not scan.
    var scanning: ScanOptions? {
        guard case .on(let goal) = controller else { return nil }
        return goal.options
    }
    /// `true` while the controller may not match the request: a step waits for its result, or the own address
    /// is about to change.
    var isBusy: Bool { underWay != nil || isHeld }
    /// Whether the controller does not scan, and no command waits for its answer.
    var isQuiet: Bool { underWay == nil && scanning == nil }

    // MARK: Requests of the host

    /// Requests a scan in place of any other, and returns the number of the request.
    ///
    /// The controller restarts its scan, so it reports again the devices that it reported before.
    mutating func want(_ options: ScanOptions) -> UInt64 {
        lastNumber += 1
        request = Goal(number: lastNumber, options: options)
        return lastNumber
    }

    /// Withdraws the request for a scan.
    mutating func stop() {
        request = nil
    }

    /// Starts or stops following the addresses of bonded peripherals.
    ///
    /// This is needed to connect to such a peripheral, whose private address is unknown until it advertises.
    mutating func follow(_ isWanted: Bool) {
        if follows != isWanted { refusedToFollow = false }
        follows = isWanted
    }

    /// Stops scanning until `release`.
    ///
    /// The own address cannot change during a scan (Vol 4, Part E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Lets the controller scan again after `hold`.
    mutating func release() {
        isHeld = false
    }

    /// Pauses or continues scanning, for a controller that cannot scan while it initiates.
    mutating func pause(_ isPaused: Bool) {
        self.isPaused = isPaused
    }

    /// Returns the result of a request, after the last step.
    func verdict(on number: UInt64) -> Verdict {
        if let refusal, refusal.number == number { return .refused(refusal.step, refusal.status) }
        guard let request, request.number == number else { return .replaced }
        return controller == .absent ? .lost : .scanning
    }

    // MARK: Events of the controller

    /// Handles the end of bring-up: the controller is available and does not scan.
    mutating func began() {
        controller = .off(nil)
        underWay = nil
        isHeld = false
        refusedToFollow = false
    }

    /// Handles the loss of the controller.
    mutating func ended() {
        controller = .absent
        underWay = nil
        isHeld = false
    }

    // MARK: Steps

    /// The next step, or `nil` if there is nothing to do or a step is waiting for its result.
    mutating func next() -> Step? {
        guard underWay == nil else { return nil }
        let goal = isHeld || isPaused ? nil : goal
        guard let step = step(to: goal) else { return nil }
        underWay = Exchange(step: step, goal: goal)
        return step
    }

    private var goal: Goal? {
        request ?? (follows && !refusedToFollow ? Goal(number: 0, options: Self.following) : nil)
    }

    private func step(to goal: Goal?) -> Step? {
        switch controller {
        case .absent: return nil
        case .on(let held): return held == goal ? nil : .disable
        case .off(let held):
            guard let goal else { return nil }
            return held == goal.options ? .enable(goal.options) : .setParameters(goal.options)
        }
    }

    /// Handles the result of the current step.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let exchange = underWay else { return }
        underWay = nil
        switch (exchange.step, outcome) {
        case (_, _) where controller == .absent: break
        case (.setParameters(let options), .done): controller = .off(options)
        case (.enable, .done):
            if let goal = exchange.goal { controller = .on(goal) }
        case (.disable, _):
            // If the controller refuses, its scan is off already (Vol 4, Part E, 7.8.11).
            if case .on(let goal) = controller { controller = .off(goal.options) }
        case (.setParameters, .refused(let status)), (.enable, .refused(let status)):
            controller = .off(nil)
            giveUp(exchange, status)
        }
    }

    private mutating func giveUp(_ exchange: Exchange, _ status: HCIStatus) {
        guard let goal = exchange.goal else { return }
        guard goal.number != 0 else { return refusedToFollow = true }
        guard request?.number == goal.number else { return }
        refusal = (goal.number, exchange.step, status)
        request = nil
    }
}
