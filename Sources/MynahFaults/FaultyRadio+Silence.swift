package import MynahCore

// The time in which a device is gone for a fault.
extension FaultyRadio {
    func vanish() async {
        // A radio that is off is silent as it is, and is not turned on at the end of the fault.
        guard !advertising.silent.isEmpty, !advertising.isGone, advertising.told == .poweredOn else { return }
        advertising.isGone = true
        do throws(RadioError) {
            try await wrapped.vanish()
        } catch {
            warn("the device cannot fall silent: \(error)")
            isBack()
        }
    }

    func reappear() async {
        guard advertising.silent.isEmpty else { return }
        guard advertising.isGone else { return await advertiseAgain() }
        if !advertising.hidden.isTurnedOff {
            do throws(RadioError) {
                try await wrapped.reappear()
                // It may have been turned off while it came back.
                if advertising.hidden.isTurnedOff { try await wrapped.setPower(false) }
            } catch {
                warn("the device cannot advertise again: \(error)")
            }
        }
        isBack()
        if services.nextChange() != nil { await changeServices() }
        await advertiseAgain()
    }

    /// The device is on the air again, and gets the radio's events of the time in between.
    private func isBack() {
        let events = advertising.hidden.events
        // A radio that does not work now advertises when it does.
        advertising.isDue = !events.isEmpty || advertising.hidden.isTurnedOff
        advertising.hidden = HiddenStates()
        advertising.isGone = false
        // The radio may have left the air since the last advertisement.
        advertising.onAir = nil
        for event in events {
            advertising.note(event)
            pass(event)
        }
    }

    /// Takes an event about the radio's state, which waits while the device is gone: it does not know that.
    func take(state event: RadioEvent) {
        guard !advertising.isGone else { return advertising.hidden.take(event) }
        advertising.note(event)
        pass(event)
        switch event {
        case .recovered, .stateChanged(.poweredOn): break
        default: return
        }
        if !advertising.silent.isEmpty { enqueue { await $0.vanish() } }
        // The radio may have refused services while it was lost.
        if services.nextChange() != nil { enqueue { await $0.changeServices() } }
        if advertising.isDue {
            advertising.isDue = false
            enqueue { await $0.advertiseAgain() }
        }
    }

    /// Turns Bluetooth off or on.
    ///
    /// A device that a fault has silenced stays silent, and is off when it is back.
    package func setPower(_ isOn: Bool) async throws(RadioError) {
        guard lower != nil, advertising.isGone else { return try await wrapped.setPower(isOn) }
        guard advertising.hidden.isTurnedOff == isOn else { return }
        advertising.hidden.isTurnedOff = !isOn
        advertising.note(.stateChanged(isOn ? .poweredOn : .poweredOff))
        pass(.stateChanged(isOn ? .poweredOn : .poweredOff))
    }

    /// Returns when everything has been done that faults began before, such as the end of a silence.
    package func settle() async {
        await withCheckedContinuation { continuation in enqueue { _ in continuation.resume() } }
    }
}

/// The states that a radio reports while its device is gone for a fault.
struct HiddenStates: Sendable {
    /// Whether the user has turned Bluetooth off meanwhile.
    var isTurnedOff = false
    private var state = RadioState.poweredOn
    private var loss: RadioError?

    mutating func take(_ event: RadioEvent) {
        switch event {
        case .stateChanged(let state): self.state = state
        case .lost(let error): loss = error
        case .recovered: loss = nil
        default: break
        }
    }

    /// The events that a device has missed that is back; none if the radio works as before.
    var events: [RadioEvent] {
        guard !isTurnedOff else { return loss.map { [.lost($0)] } ?? [] }
        return (loss.map { [.lost($0)] } ?? []) + (state == .poweredOn ? [] : [.stateChanged(state)])
    }
}
