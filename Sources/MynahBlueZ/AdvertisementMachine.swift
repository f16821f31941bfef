import MynahCore

/// Keeps what bluetoothd holds of our advertisement in step with what is wanted, one step at a time.
///
/// Pure: the radio asks for the next step, takes it, and says how it went. A live change is a signal that bluetoothd does
/// not confirm, and 5.66 ends itself when an advertisement is unregistered while it still carries one out; so no
/// unregistration follows a change at once. A registration is answered when its bytes are set.
struct AdvertisementMachine {
    /// What bluetoothd holds.
    enum Held: Hashable {
        case nothing
        case registered(BlueZAdvertising)
    }

    /// What is to be done now.
    enum Step: Hashable {
        /// Nothing: all is as it is wanted, or has to wait for an event.
        case rest
        case register(BlueZAdvertising)
        case unregister
        /// Tell the differences in one signal.
        case change(from: BlueZAdvertising, to: BlueZAdvertising)
        /// Ask again after this time.
        case wait(Duration)
    }

    /// How long bluetoothd may take to carry a change out: some milliseconds, with room for a slow machine.
    static let settlingTime: Duration = .milliseconds(300)

    private(set) var held = Held.nothing
    private(set) var wanted: BlueZAdvertising?
    /// What bluetoothd has taken or is asked to take: what its questions are answered from.
    private(set) var shown: BlueZAdvertising?
    /// Whether bluetoothd and the adapter are there to be asked.
    private var isReachable = false
    /// Whether what is held is not on the air: a central connected, or the adapter was off.
    private var isOffAir = false
    /// Whether bluetoothd has taken `wanted` once, so that a later refusal is for another day.
    private var isProven = false
    /// Whether a proven advertisement was refused; it is tried again at the next occasion.
    private var isRefused = false
    /// Whether it is known to be off the air until it is taken again.
    private var isSilent = false
    /// Whether a register is under way whose answer still counts.
    private var isRegistering = false
    /// Whether the adapter was turned off under it: its refusal says nothing of the time after.
    private var isOvertaken = false
    private var changedAt: Duration?

    /// What is on the air as far as is known; nil: nothing.
    var shownReport: AdvertisingReport? {
        guard case .registered(let advertising) = held else { return nil }
        return advertising.report
    }

    /// Something else is wanted; nil: silence.
    mutating func want(_ advertising: BlueZAdvertising?) {
        if wanted == nil { isProven = false }
        wanted = advertising
        isRefused = false
    }

    /// The advertisement is off the air although it is held: the kernel stops it when a central connects.
    mutating func stoppedOnAir() {
        if held != .nothing || isRegistering { isOffAir = true }
    }

    /// Something has changed that may let a refused advertisement in: a link ended.
    mutating func tryAgain() {
        isRefused = false
    }

    /// bluetoothd and the adapter are there.
    mutating func reached() {
        isReachable = true
        isRefused = false
    }

    /// The adapter was turned off: bluetoothd keeps the advertisement, the kernel does not.
    mutating func poweredOff() {
        isReachable = false
        isOvertaken = isRegistering
        stoppedOnAir()
    }

    /// bluetoothd or the adapter is gone, and what it held with it.
    mutating func forget() {
        isReachable = false
        held = .nothing
        isOffAir = false
        isRegistering = false
        changedAt = nil
    }

    /// bluetoothd let it go by itself.
    mutating func released() {
        held = .nothing
        isOffAir = false
        changedAt = nil
        // Not at once again: it had a reason.
        isRefused = true
        isSilent = true
    }

    /// What to do now; a step that is not `rest` or `wait` counts as begun.
    mutating func next(at now: Duration) -> Step {
        guard isReachable else { return .rest }
        switch (held, wanted) {
        case (.nothing, nil):
            return .rest
        case (.nothing, let wanted?):
            guard !isRefused else { return .rest }
            isRegistering = true
            isOvertaken = false
            isOffAir = false
            shown = wanted
            return .register(wanted)
        case (.registered(let old), let wanted?) where !isOffAir && wanted.isLiveChange(of: old):
            guard old != wanted else { return .rest }
            held = .registered(wanted)
            shown = wanted
            changedAt = now
            return .change(from: old, to: wanted)
        case (.registered, _):
            if let changedAt, now - changedAt < Self.settlingTime {
                return .wait(Self.settlingTime - (now - changedAt))
            }
            held = .nothing
            changedAt = nil
            return .unregister
        }
    }

    /// A registration was taken; says whether that ends a silence.
    mutating func registered() -> Bool {
        guard isRegistering, let shown else { return false }
        isRegistering = false
        isProven = true
        held = .registered(shown)
        defer { isSilent = false }
        return isSilent
    }

    /// What a refusal comes to.
    enum Refusal: Hashable {
        /// It never worked, and is not wanted any more.
        case givenUp
        /// It worked before, and is tried again at the next occasion; silent until then.
        case postponed
        /// The adapter went or was turned off meanwhile, and everything starts again when it is back.
        case overtaken
    }

    /// A registration was refused.
    mutating func refused() -> Refusal {
        let counted = isRegistering && !isOvertaken
        isRegistering = false
        guard isProven else {
            wanted = nil
            return .givenUp
        }
        isOffAir = false
        guard counted else { return .overtaken }
        isRefused = true
        isSilent = true
        return .postponed
    }
}
