import MynahCore

/// The advertisement that a device has requested, and the faults that change it or make the device disappear.
struct FaultedAdvertising: Sendable {
    /// The requested advertisement, or `nil` if there is none.
    var wanted: Advertisement?
    /// The last advertisement that the radio accepted, or `nil` if it has none or refused it.
    var onAir: Advertisement?
    /// `true` from the disappearance of the device until it is on the air again.
    var isGone = false
    /// `true` if the radio did not work when the device came back, so that the device must advertise when the
    /// radio works.
    var isDue = false
    /// The states that the radio has reported since the device disappeared.
    var hidden = HiddenStates()
    /// The radio's last state that was reported to the device.
    ///
    /// The state of a lost radio is not `poweredOn`.
    private(set) var told = RadioState.poweredOn
    private var changes: [(fault: String, change: AdvertisementChange, number: Int)] = []
    private var lastNumber = 0
    /// The faults that make the device disappear, with their numbers.
    private(set) var silent: [String: Int] = [:]

    /// An advertisement with the changes of the faults, applied in the order in which they began.
    func changed(_ advertisement: Advertisement, refusesConnections: Bool) -> Advertisement {
        var result = advertisement
        for change in changes { result = change.change.applied(to: result) }
        guard refusesConnections else { return result }
        result.isConnectable = false
        for index in result.otherSets.indices { result.otherSets[index].isConnectable = false }
        return result
    }

    /// Records that the device has stopped advertising.
    mutating func stop() { (wanted, onAir) = (nil, nil) }

    /// Records that the device disappears for a fault.
    ///
    /// Returns `false` if the device has disappeared already. Also returns `false` if the radio does not
    /// work: the end of the fault must not turn it on.
    mutating func vanish() -> Bool {
        guard !silent.isEmpty, !isGone, told == .poweredOn else { return false }
        isGone = true
        return true
    }

    /// Handles an event about the radio's state; returns `false` if the device must not get it, because it
    /// has disappeared.
    mutating func hasReported(_ event: RadioEvent) -> Bool {
        guard !isGone else {
            hidden.note(event)
            return false
        }
        note(event)
        return true
    }

    /// Handles that the radio works; returns whether the device still has to advertise after it came back.
    mutating func resume() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Handles that the device is on the air again; returns the events that it has missed.
    mutating func isBack() -> [RadioEvent] {
        let events = hidden.events
        // If the radio does not work now, the device advertises when it does.
        isDue = !events.isEmpty || hidden.isTurnedOff
        hidden = HiddenStates()
        isGone = false
        // The radio may have left the air since the last advertisement.
        onAir = nil
        for event in events { note(event) }
        return events
    }

    /// Records an event that is reported to the device.
    mutating func note(_ event: RadioEvent) {
        if case .stateChanged(let state) = event { told = state }
    }

    /// Begins or restarts a change; returns the number to pass to `end`.
    mutating func startChange(_ change: AdvertisementChange, by fault: String) -> Int {
        lastNumber += 1
        changes.removeAll { $0.fault == fault }
        changes.append((fault, change, lastNumber))
        return lastNumber
    }

    /// Makes the device disappear for another fault.
    ///
    /// Returns the number to pass to `end`, and whether this is the only fault that does so.
    mutating func silence(by fault: String) -> (number: Int, isFirst: Bool) {
        lastNumber += 1
        defer { silent[fault] = lastNumber }
        return (lastNumber, silent.isEmpty)
    }

    /// The effects that a call of `end` has ended.
    struct Ended {
        /// Whether a change has ended, so that the advertisement must be composed again.
        var isChange = false
        /// Whether the last disappearance has ended.
        var isSilence = false
    }

    /// Ends the effect of a fault; if `number` is given, only if the effect was not restarted after it.
    mutating func end(_ fault: String, number: Int? = nil) -> Ended {
        var ended = Ended()
        let count = changes.count
        changes.removeAll { $0.fault == fault && (number == nil || $0.number == number) }
        ended.isChange = changes.count < count
        if let began = silent[fault], number == nil || began == number {
            silent[fault] = nil
            ended.isSilence = silent.isEmpty
        }
        return ended
    }
}
