import MynahCore
import MynahHCI

/// Changes a controller's scanning until it matches the host's request.
///
/// A machine without I/O. Its driver asks `next()` for a step, sends it, and reports the answer with
/// `finished`, one step at a time.
struct HostScanner {
    /// One exchange with the controller.
    enum Step: Hashable {
        case setParameters(ScanOptions)
        case enable(ScanOptions)
        case disable
    }

    /// The outcome of a request, after the last step.
    enum Verdict: Hashable {
        case scanning
        case refused(Step, HCIStatus)
        /// A later request took its place, or it was stopped.
        case replaced
        /// The controller is gone; the request is carried out on the next one.
        case lost
    }

    private struct Goal: Hashable {
        /// The number of the request, or 0 if the host scans for addresses of bonded peripherals only.
        var number: UInt64
        var options: ScanOptions
    }

    private enum Controller: Hashable {
        /// There is no controller.
        case absent
        /// Scanning is off, with these parameters if any were set.
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
    /// `true` if the controller refused to scan for addresses.
    ///
    /// The controller is asked again only at the next request.
    private var refusedToFollow = false
    private var underWay: Exchange?
    private var isHeld = false
    private var isPaused = false
    private var lastNumber: UInt64 = 0
    private var refusal: (number: UInt64, step: Step, status: HCIStatus)?

    /// 30 ms of every 100 ms, and each address once.
    static let following = ScanOptions(
        isActive: false, allowsDuplicates: false, interval: .milliseconds(100), window: .milliseconds(30))

    /// The requested scan, or `nil` if none is requested.
    var wanted: ScanOptions? { request?.options }
    /// The number of the request, or `nil` if there is none.
    // Not inlined: Swift 6.3.1 stops with "Found ownership error" if an async function reads it, when it is
    // optimised.
    @inline(never) var number: UInt64? { request?.number }
    /// Whether reports are looked at for the addresses of bonded peripherals.
    var isFollowing: Bool { follows }
    /// How the controller scans, or `nil` if it does not.
    var scanning: ScanOptions? {
        guard case .on(let goal) = controller else { return nil }
        return goal.options
    }
    /// `true` while the controller does not yet match the request: a step waits for its answer, or the
    /// address is about to change.
    var isBusy: Bool { underWay != nil || isHeld }
    /// Whether nothing is on and nothing is under way.
    var isQuiet: Bool { underWay == nil && scanning == nil }

    // MARK: Requests of the host

    /// Asks for a scan in place of any other, and returns the number of the request.
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

    /// Asks for a scan with little time on the air while a bonded peripheral is waited for, whose next
    /// private address is known only when it is heard.
    mutating func follow(_ isWanted: Bool) {
        if follows != isWanted { refusedToFollow = false }
        follows = isWanted
    }

    /// Switches scanning off until `release`, because the address may not change while it is on (Vol 4, Part
    /// E, 7.8.4).
    mutating func hold() {
        isHeld = true
    }

    /// Goes on after `hold`.
    mutating func release() {
        isHeld = false
    }

    /// Switches scanning off while the controller initiates, if it cannot do both.
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

    /// Notes that the controller was reset and brought up, and does not scan.
    mutating func began() {
        controller = .off(nil)
        underWay = nil
        isHeld = false
        refusedToFollow = false
    }

    /// The controller is gone.
    mutating func ended() {
        controller = .absent
        underWay = nil
        isHeld = false
    }

    // MARK: Steps

    /// The next step, or `nil` if there is nothing to do or one is under way.
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

    /// Handles the answer to the step under way.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let exchange = underWay else { return }
        underWay = nil
        switch (exchange.step, outcome) {
        case (_, _) where controller == .absent: break
        case (.setParameters(let options), .done): controller = .off(options)
        case (.enable, .done):
            if let goal = exchange.goal { controller = .on(goal) }
        case (.disable, _):
            // A controller that refuses is off already (Vol 4, Part E, 7.8.11).
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
