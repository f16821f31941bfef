package import Mynah
public import MynahCore
package import MynahProfiles
package import MynahSupport
package import MynahValues

// The actions of users on apps and their phone.
extension Emulator {
    /// Carries out a life-cycle transition of apps.
    package func carryOut(_ transition: AppTransition, on target: AppTarget = .every) async {
        await carryOut(.transition(transition), on: target)
    }

    /// Carries out a user's action on apps, or on their phone.
    package func carryOut(_ action: UserAction, on target: AppTarget = .every) async {
        await control.actions.carryOut(action, on: target)
    }

    /// Carries out a user's action on the app that plays a device, or on its phone.
    ///
    /// `peripheral` names the peripheral that the action is about.
    package func carryOut(
        _ action: UserAction, of label: String, peripheral: String? = nil
    ) async throws(ControlRefusal) {
        try await control.actions.carryOut(action, of: label, peripheral: peripheral)
    }

    /// Carries out a user's action on apps, or on their phone, after a delay.
    package func plan(_ action: UserAction, on target: AppTarget = .every, after delay: Duration) {
        control.actions.plan(action, on: target, after: delay)
    }

    /// Finds the device for a peripheral of an app's profile after a delay, and calls `move` to change its
    /// distance.
    ///
    /// The argument of `move` is the device's current address on the air. Warns if no device has been found
    /// for the peripheral by then.
    public func find(
        _ peripheral: String, of label: String, after delay: Duration,
        _ move: @escaping @Sendable (DeviceAddress) -> Void
    ) {
        control.actions.find(peripheral, of: label, after: delay, move)
    }

    /// Picks an accessory for an app or, if `isWanted` is `false`, removes it, as the user would.
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

    /// Shows a notification on the phone and returns its UID; replaces the notification `replaced` unless
    /// that is `nil`.
    package func alert(
        _ notification: Profile.PhoneNotification, instead replaced: UInt32? = nil
    ) throws(ControlRefusal) -> UInt32 {
        try control.notifications.show(notification, instead: replaced)
    }

    /// Removes a notification from the phone.
    package func removeAlert(_ uid: UInt32) throws(ControlRefusal) { try control.notifications.remove(uid) }
}

// Adding and removing apps during a run.
extension Emulator {
    /// Installs another app on the phone, and opens it as its user would.
    ///
    /// `check` can reject the radio's capabilities by throwing. Throws `invalidState` if the run has not
    /// started or is over, or if the emulator plays an accessory.
    package func add(
        _ device: EmulatedDevice,
        check: @Sendable (RadioCapabilities) throws(RadioError) -> Void = { _ throws(RadioError) in }
    ) async throws(RadioError) {
        try await control.apps.add(device, check: check)
    }

    /// Quits an app of the phone, as its user would, and removes it; the other apps continue.
    package func remove(_ label: String) async throws(RadioError) { try await control.apps.remove(label) }

    /// Removes the only device, and stops the emulator; a `start` in progress fails.
    package func removeLast(_ label: String) async {
        control.scenarios.player.end(of: label, "the device was removed")
        devices.player(called: label)?.asks.endForGood()
        // bluetoothd keeps the links of a removed device. Without advertising, the device gets no new ones.
        _ = try? await advertise(AdvertisingChange(isOn: false), for: label)
        try? await disconnect(from: label)
        await stop()
    }
}

// The state of devices, which a test can read and set.
extension Emulator {
    /// Returns the current state of the device with this event name, or `nil` if there is none.
    package func snapshot(of label: String) async -> DeviceSnapshot? {
        await control.reader.snapshot(of: label)
    }

    /// Returns the current value of a device's attribute.
    package func value(of name: AttributeName, in label: String) throws(ControlRefusal) -> [UInt8] {
        try control.reader.value(of: name, in: label)
    }

    /// Returns the layout of an attribute's value, or `nil` if it is not known.
    package func layout(of name: AttributeName, in label: String) throws(ControlRefusal) -> ValueLayout? {
        try control.reader.layout(of: name, in: label)
    }

    /// Returns the names and the fields of a device's attributes, in attribute order.
    package func attributeLayouts(of label: String) throws(ControlRefusal) -> [AttributeLayout] {
        try control.reader.attributeLayouts(of: label)
    }

    /// Sets the value of a device's attribute until the device is reset; with `notify`, also sends it to
    /// subscribers.
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

    /// Sets a variable of a device until the device is reset; values that depend on the variable change.
    package func setVariable(
        _ name: String, to value: VariableValue, in label: String
    ) throws(ControlRefusal) {
        try control.values.setVariable(name, to: value, in: label)
    }

    /// Resets devices to their state at the start of a run, and returns when they are on the air again.
    ///
    /// With `nil` as the label, all devices are reset.
    package func reset(
        _ parts: ResetParts = .all, of label: String? = nil
    ) async throws(ControlRefusal) {
        try await control.reset.reset(parts, of: label)
    }

    /// Answers a request of one of the devices; returns `false` if no request with this number waits.
    ///
    /// If the answer is not allowed, the call throws, and the request continues to wait. An accepted write
    /// that the device itself refuses also throws, but is answered with the device's error.
    package func answer(_ id: Int, _ answer: RequestAnswer) async throws(ControlRefusal) -> Bool {
        let capabilities = await phone.capabilities
        for player in devices.players where try player.asks.answer(id, answer, capabilities) { return true }
        return false
    }
}

// Advertising and links, which a test can change.
extension Emulator {
    /// Changes a device's advertising; the JSON is as in a profile, and may also have the key `on`.
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

    /// Ends the link of one central, or of every central if `name` is `nil`, and waits until it has ended.
    package func disconnect(
        central name: String? = nil, reason: UInt8? = nil, from label: String
    ) async throws(ControlRefusal) {
        try await control.links.disconnect(central: name, reason: reason, from: label)
    }

    /// Deletes the bond with one central, or every bond if `name` is `nil`, and ends the links.
    package func forget(central name: String? = nil, in label: String) async throws(ControlRefusal) {
        try await control.links.forget(central: name, in: label)
    }

    /// Deletes the phone's bond with a peripheral of an app's profile, and ends their link.
    package func forget(peripheral name: String, in label: String) async throws(ControlRefusal) {
        try await control.links.forget(peripheral: name, in: label)
    }
}

// Faults and scenarios, which a test can add and play.
extension Emulator {
    /// Returns the faults of a device: those of its profile, then those added by tests, each in order.
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

    /// Removes a fault of a device, and ends its effect; a reset restores a fault of the profile.
    package func removeFault(_ name: String, of label: String) async throws(ControlRefusal) {
        try await control.faults.remove(name, of: label)
    }

    /// Plays a scenario of a device as soon as every device of the emulator is ready.
    package func playWhenReady(_ name: String, of label: String) {
        control.scenarios.playWhenReady(name, of: label)
    }

    /// Waits until no reset is in progress, and then plays a scenario of a device.
    package func playInTurn(_ name: String, of label: String) async throws(ControlRefusal) {
        try await control.scenarios.playInTurn(name, of: label)
    }

    /// Plays a scenario of a device at once; throws the errors of `playInTurn`.
    func play(_ name: String, of label: String) throws(ControlRefusal) {
        try control.scenarios.play(name, of: label)
    }

    /// Throws the error that `playInTurn` would throw now, but plays nothing.
    package func checkPlay(_ name: String, of label: String) throws(ControlRefusal) {
        try control.scenarios.checkPlay(name, of: label)
    }

    /// Ends all scenarios as failed, for the given reason.
    package func endScenarios(_ reason: String) { control.scenarios.player.end(reason) }
}
