import MynahCore

/// The advertisement that a device has requested, and the faults that change it or make the device disappear.
struct FaultedAdvertising: Sendable {
    /// The advertisement that the device has requested, or `nil` if the device does not advertise.
    var wanted: Advertisement?
    /// The last advertisement that was passed to the radio, or `nil` if the radio does not advertise it.
    var onAir: Advertisement?
    /// `true` from the disappearance of the device until it is on the air again.
    var isGone = false
    /// `true` if the radio did not work when the device came back on the air.
    ///
    /// The device's advertising is then started as soon as the radio works.
    var isDue = false
    /// The states that the radio has reported since the device disappeared.
    var hidden = HiddenStates()
    /// The radio's last state that was reported to the device.
    ///
    /// The state of a lost radio is not `poweredOn`.
    private(set) var told = RadioState.poweredOn
    private var changes: [(fault: String, change: AdvertisementChange, number: Int)] = []
    private var lastNumber = 0
    /// The numbers of the changes about which there was already a warning that they have no effect.
    private var toldRefused: Set<Int> = []
    /// The faults that make the device disappear, each with the number that `silence` returned.
    private(set) var silent: [String: Int] = [:]

    /// An advertisement with the changes of the faults, applied in the order in which they began.
    func changed(_ advertisement: Advertisement, refusesConnections: Bool) -> Advertisement {
        let result = applied(to: advertisement).result
        guard refusesConnections else { return result }
        var refusing = result
        refusing.isConnectable = false
        for index in refusing.otherSets.indices { refusing.otherSets[index].isConnectable = false }
        return refusing
    }

    private func applied(
        to advertisement: Advertisement
    ) -> (result: Advertisement, refused: [(fault: String, number: Int, problem: String)]) {
        var result = advertisement
        var refused: [(String, Int, String)] = []
        for change in changes {
            let next = change.change.applied(to: result)
            let name = change.change.set ?? next.name
            if let set = next.sets.first(where: { $0.name == name }), next != result,
                let problem = AccessoryAdvertising.problem(of: set)
            {
                refused.append((change.fault, change.number, problem))
            } else {
                result = next
            }
        }
        return (result, refused)
    }

    /// Returns the changes that have no effect, except those that an earlier call has returned.
    mutating func takeRefused() -> [(fault: String, problem: String)] {
        guard let wanted else { return [] }
        let new = applied(to: wanted).refused.filter { !toldRefused.contains($0.number) }
        toldRefused.formUnion(new.map(\.number))
        return new.map { ($0.fault, $0.problem) }
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

    /// Returns whether the device's advertising has to be started now that the radio works; sets `isDue` to
    /// `false`.
    mutating func resume() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Records that the device is on the air again, and returns the events that it has missed.
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

    /// Records that a fault makes the device disappear.
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
        /// Whether no fault makes the device disappear any longer.
        var isSilence = false
    }

    /// Ends the effect of a fault.
    ///
    /// Each beginning of an effect has a number. With `number`, the effect does not end if it has begun again
    /// since.
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
