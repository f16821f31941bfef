package import Mynah
public import MynahCore
package import MynahProfiles
package import MynahSupport
package import MynahValues

// Users, who do things to apps and their phone.
extension Emulator {
    /// Carries out a transition of apps.
    package func carryOut(_ transition: AppTransition, on target: AppTarget = .every) async {
        await carryOut(.transition(transition), on: target)
    }

    /// Carries out a user's action on apps, or on their phone.
    package func carryOut(_ action: UserAction, on target: AppTarget = .every) async {
        await control.actions.carryOut(action, on: target)
    }

    /// Carries out a user's action on the app that plays a device, or on its phone; `peripheral` names the
    /// peripheral of the action.
    package func carryOut(
        _ action: UserAction, of label: String, peripheral: String? = nil
    ) async throws(ControlRefusal) {
        try await control.actions.carryOut(action, of: label, peripheral: peripheral)
    }

    /// Carries out a user's action on apps, or on their phone, after a delay.
    package func plan(_ action: UserAction, on target: AppTarget = .every, after delay: Duration) {
        control.actions.plan(action, on: target, after: delay)
    }

    /// Finds, after a delay, a peripheral of an app's profile, and calls `move` with its address on the air.
    ///
    /// If no device was found for the peripheral by then, a warning is reported.
    public func find(
        _ peripheral: String, of label: String, after delay: Duration,
        _ move: @escaping @Sendable (DeviceAddress) -> Void
    ) {
        control.actions.find(peripheral, of: label, after: delay, move)
    }

    /// Picks or removes an accessory of an app, as the user does.
    package func setAccessory(
        _ isWanted: Bool, peripheral name: String? = nil, in label: String
    ) async throws(ControlRefusal) {
        try await control.accessories.set(isWanted, peripheral: name, in: label)
    }

    /// Enters the passkey that the pairing with a peer asks for.
    package func enter(
        passkey number: UInt32, for peer: String, in label: String
    ) async throws(ControlRefusal) {
        try await control.pairings.enter(passkey: number, for: peer, in: label)
    }

    /// Shows a notification on the phone, or changes the one with the UID `replaced`; returns the UID.
    package func alert(
        _ notification: Profile.PhoneNotification, instead replaced: UInt32? = nil
    ) throws(ControlRefusal) -> UInt32 {
        try control.notifications.show(notification, instead: replaced)
    }

    /// Removes a notification from the phone.
    package func removeAlert(_ uid: UInt32) throws(ControlRefusal) { try control.notifications.remove(uid) }
}

// Apps that come and go.
extension Emulator {
    /// Installs one more app on the phone, and opens it as its user would.
    ///
    /// `check` may refuse the radio's capabilities. Throws `invalidState` if the run has not started or is
    /// over, or if it plays an accessory.
    package func add(
        _ device: EmulatedDevice,
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        try await control.apps.add(device, check: check)
    }

    /// Quits an app of the phone, as its user would, and removes it; the other apps continue.
    package func remove(_ label: String) async throws(RadioError) { try await control.apps.remove(label) }

    /// Removes the only device, and stops the emulator; if it is starting, `start` fails.
    package func removeLast(_ label: String) async {
        control.scenarios.player.end(of: label, "the device was removed")
        devices.player(called: label)?.asks.endForGood()
        // bluetoothd keeps the links of a device that has gone. Off the air, it gets no new ones.
        _ = try? await advertise(AdvertisingChange(isOn: false), for: label)
        try? await disconnect(from: label)
        await stop()
    }
}

// The state of devices, which a test reads and sets.
extension Emulator {
    /// The state of a device now, by its name in events, or `nil` if there is none.
    package func snapshot(of label: String) async -> DeviceSnapshot? {
        await control.reader.snapshot(of: label)
    }

    /// The value that a device's attribute has now.
    package func value(of name: AttributeName, in label: String) throws(ControlRefusal) -> [UInt8] {
        try control.reader.value(of: name, in: label)
    }

    /// The layout of an attribute's value, or `nil` if it is not known.
    package func layout(of name: AttributeName, in label: String) throws(ControlRefusal) -> ValueLayout? {
        try control.reader.layout(of: name, in: label)
    }

    /// The names and the fields of a device's attributes, in attribute order.
    package func attributeLayouts(of label: String) throws(ControlRefusal) -> [AttributeLayout] {
        try control.reader.attributeLayouts(of: label)
    }

    /// Sets the value of a device's attribute until the device is reset, and may notify the value.
    package func setValue(
        _ written: WrittenValue, of name: AttributeName, in label: String, notify: Bool = false,
        to central: String? = nil
    ) async throws(ControlRefusal) -> SetResult {
        try await control.values.setValue(written, of: name, in: label, notify: notify, to: central)
    }

    /// Types a text on a keyboard, with a gap after each report; returns the number of keys.
    package func type(
        _ text: String, every gap: Duration, on label: String
    ) throws(ControlRefusal) -> Int {
        try control.typing.type(text, every: gap, on: label)
    }

    /// Sets a variable of a device until the device is reset; values that read the variable change.
    package func setVariable(
        _ name: String, to value: VariableValue, in label: String
    ) throws(ControlRefusal) {
        try control.values.setVariable(name, to: value, in: label)
    }

    /// Resets devices to their state at the start of a run, and returns when they are on the air again.
    package func reset(
        _ parts: ResetParts = .all, of label: String? = nil
    ) async throws(ControlRefusal) {
        try await control.reset.reset(parts, of: label)
    }

    /// Answers a request of one of the devices; returns `false` if no request with this number waits.
    ///
    /// If the answer is refused, the request continues to wait, except for a write that is no longer
    /// possible.
    package func answer(_ id: Int, _ answer: RequestAnswer) async throws(ControlRefusal) -> Bool {
        let capabilities = await phone.capabilities
        for player in devices.players where try player.asks.answer(id, answer, capabilities) { return true }
        return false
    }
}

// Advertising and links, which a test changes.
extension Emulator {
    /// Changes a device's advertising by JSON as in a profile.
    package func advertise(_ json: JSON, for label: String) async throws(ControlRefusal) -> AdvertisingReport
    {
        try await control.advertising.advertise(json, for: label)
    }

    /// Changes a device's advertising until the device is reset, and returns the resulting report.
    package func advertise(
        _ change: AdvertisingChange, for label: String
    ) async throws(ControlRefusal) -> AdvertisingReport {
        try await control.advertising.advertise(change, for: label)
    }

    /// Ends the link of a central, or of every central if it is `nil`, and returns when it has ended.
    package func disconnect(
        central name: String? = nil, reason: UInt8? = nil, from label: String
    ) async throws(ControlRefusal) {
        try await control.links.disconnect(central: name, reason: reason, from: label)
    }

    /// Deletes the bond with a central, and ends its link; with `nil`, every bond.
    package func forget(central name: String? = nil, in label: String) async throws(ControlRefusal) {
        try await control.links.forget(central: name, in: label)
    }

    /// Deletes the phone's bond with a peripheral of an app's profile, and ends their link.
    package func forget(peripheral name: String, in label: String) async throws(ControlRefusal) {
        try await control.links.forget(peripheral: name, in: label)
    }
}

// Faults and scenarios, which a test adds and plays.
extension Emulator {
    /// The faults of a device, in the order of its profile and then of their addition.
    package func faults(of label: String) async throws(ControlRefusal) -> [DeviceFault] {
        try await control.faults.faults(of: label)
    }

    /// Adds a fault, written as in a profile, to a device.
    package func addFault(_ json: JSON, to label: String) async throws(ControlRefusal) -> DeviceFault {
        try await control.faults.add(json, to: label)
    }

    /// Turns a fault of a device on or off.
    package func turnFault(
        _ name: String, isOn: Bool, of label: String
    ) async throws(ControlRefusal) -> DeviceFault {
        try await control.faults.turn(name, isOn: isOn, of: label)
    }

    /// Removes a fault of a device, and ends its effect; a fault of the profile comes back with a reset.
    package func removeFault(_ name: String, of label: String) async throws(ControlRefusal) {
        try await control.faults.remove(name, of: label)
    }

    /// Plays a scenario of a device once every device of the emulator is ready.
    package func playWhenReady(_ name: String, of label: String) {
        control.scenarios.playWhenReady(name, of: label)
    }

    /// Plays a scenario of a device, after a running reset.
    package func playInTurn(_ name: String, of label: String) async throws(ControlRefusal) {
        try await control.scenarios.playInTurn(name, of: label)
    }

    /// Plays a scenario of a device at once; throws the errors of `playInTurn`.
    func play(_ name: String, of label: String) throws(ControlRefusal) {
        try control.scenarios.play(name, of: label)
    }

    /// Throws the error that `playInTurn` would throw now.
    package func checkPlay(_ name: String, of label: String) throws(ControlRefusal) {
        try control.scenarios.checkPlay(name, of: label)
    }

    /// Ends all scenarios as failed, with this reason.
    package func endScenarios(_ reason: String) { control.scenarios.player.end(reason) }
}
