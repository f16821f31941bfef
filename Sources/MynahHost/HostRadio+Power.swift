public import MynahCore

// Turns Bluetooth off and on, like the button in Control Center.
extension HostRadio {
    /// Turns Bluetooth off or on; does nothing if it is already in that state.
    ///
    /// Turning Bluetooth off ends every link on the air, resets the controller, and reports `poweredOff` to
    /// both roles. Services stay published. Pending connections fail, and a search for a lost controller
    /// ends. Advertising and scanning continue when Bluetooth is turned on. If the controller was lost while
    /// Bluetooth was off, turning Bluetooth on throws an error, and the radio begins to search for the
    /// controller.
    ///
    /// Calls take effect one after the other. Throws `invalidState` if the radio does not run, and `lost` if
    /// it is stopped during the call.
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
    /// Advertising and scanning remain requested, and requests for connections fail. If `isSilent` is `true`,
    /// neither the end of the links nor the new state is reported.
    func turnOff(isSilent: Bool = false) async throws(RadioError) {
        guard controller.isRunning else { return controller.turnOffLost(isSilent: isSilent) }
        controller.startTurningOff()
        acl.table.leave()
        if !isSilent { await links.endAll() }
        try await controller.finishTurningOff(isSilent: isSilent)
    }
}
