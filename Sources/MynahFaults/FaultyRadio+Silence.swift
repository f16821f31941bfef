package import MynahCore

// The disappearance of a device because of a fault.
extension FaultyRadio {
    func vanish() async {
        guard machine.advertising.vanish() else { return }
        do throws(RadioError) {
            try await wrapped.vanish()
        } catch {
            warn("the device cannot fall silent: \(error)")
            isBack()
        }
    }

    func reappear() async {
        guard machine.advertising.silent.isEmpty else { return }
        guard machine.advertising.isGone else { return await advertiseAgain() }
        if !machine.advertising.hidden.isTurnedOff {
            do throws(RadioError) {
                try await wrapped.reappear()
                // Bluetooth may have been turned off while the device came back.
                if machine.advertising.hidden.isTurnedOff { try await wrapped.setPower(false) }
            } catch {
                warn("the device cannot advertise again: \(error)")
            }
        }
        isBack()
        if machine.services.nextChange() != nil { await changeServices() }
        await advertiseAgain()
    }

    /// Passes the radio's events since the disappearance to the device, after it has come back on the air.
    private func isBack() {
        for event in machine.advertising.isBack() { pass(event) }
    }

    /// Turns Bluetooth off or on.
    ///
    /// If a fault has made the device disappear, turning Bluetooth on does not end the disappearance. If
    /// Bluetooth is off when the fault ends, the device stays off.
    package func setPower(_ isOn: Bool) async throws(RadioError) {
        guard lower != nil, machine.advertising.isGone else { return try await wrapped.setPower(isOn) }
        guard machine.advertising.hidden.isTurnedOff == isOn else { return }
        machine.advertising.hidden.isTurnedOff = !isOn
        let event = RadioEvent.stateChanged(isOn ? .poweredOn : .poweredOff)
        machine.advertising.note(event)
        pass(event)
    }

    /// Waits until all earlier jobs of faults are done, such as bringing the device back.
    package func settle() async {
        await withCheckedContinuation { enqueue(.finish($0)) }
    }
}
