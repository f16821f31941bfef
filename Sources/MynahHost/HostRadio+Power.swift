public import MynahCore

// Bluetooth is turned off and on, as by the button in Control Center.
extension HostRadio {
    /// Turns Bluetooth off or on; does nothing if it is already.
    ///
    /// Off: every link ends on the air, the controller is reset and kept, and both halves are told
    /// `poweredOff`. Services stay published, and an advertisement and a scan go on when it is turned on;
    /// connections that were waited for fail. A controller that is looked for is not looked for any more. If
    /// it has gone when it is turned on, this throws why, and it is looked for.
    ///
    /// Calls take effect one after the other. Throws `invalidState` if the radio does not run, `lost` if it
    /// is stopped meanwhile.
    public func setPower(_ isOn: Bool) async throws(RadioError) {
        while powerWaiters != nil { await withCheckedContinuation { powerWaiters?.append($0) } }
        guard case .running = stage else { throw RadioError(.invalidState, "the radio is not running") }
        guard isOn == controller.isOff else { return }
        powerWaiters = []
        defer {
            let waiters = powerWaiters ?? []
            powerWaiters = nil
            for waiter in waiters { waiter.resume() }
        }
        guard isOn else { return try await turnOff() }
        try await controller.turnOn()
        await access.goOn()
    }

    /// Ends every link on the air and resets the controller.
    ///
    /// Requests are kept, except those for connections.
    ///
    /// With `isSilent` links end without a word, and no state is reported.
    func turnOff(isSilent: Bool = false) async throws(RadioError) {
        guard controller.isRunning else { return controller.turnOffLost(isSilent: isSilent) }
        controller.startTurningOff()
        acl.table.leave()
        if !isSilent { await links.endAll() }
        try await controller.finishTurningOff(isSilent: isSilent)
    }
}
