import MynahCore

/// An action for `FaultyRadio`; actions are carried out in order.
enum FaultAction: Sendable {
    /// Report that a fault was applied.
    case report(FaultFiring)
    /// Pass an event to the device.
    case pass(RadioEvent)
    /// Carry out a step at this time.
    case wait(until: Duration, FaultStep)
    /// Do a job on the radio, after all earlier jobs.
    case work(FaultJob)
    /// Have the radio delete its bond with a central, or all bonds if the central is `nil`.
    case loseBond(Peer.ID?, FaultEffect.LostBond)
    /// Set whether any fault may apply.
    ///
    /// If not, the radio passes requests directly to the device, or answers them by itself.
    case arm(Bool)
    /// Update whether the radio answers reads of the attribute by itself.
    ///
    /// The radio does so if the attribute has a static value that no fault may change.
    case show(AttributeKey)

    /// The action that passes a warning to the device.
    static func warn(_ message: String) -> FaultAction {
        .pass(.warning(RadioWarning("faultFailed", message)))
    }
}

/// A step that `FaultyRadio` carries out at a later time.
enum FaultStep: Sendable {
    /// Apply the faults whose trigger is a time that has come; the value is the earliest of these times.
    case applyDue(Duration)
    /// Carry out the delayed effect of a fault.
    ///
    /// `link` is the number of the central's connection; after the end of that connection, nothing happens.
    case carryOut(FaultEffect, by: String, of: Peer.ID?, link: Int?)
    /// End the effect of the fault with this name.
    ///
    /// Each beginning of an effect has a number. Nothing happens if the effect has begun again with another
    /// number.
    case end(String, number: Int)
    /// End the delay of an answer, which the radio then sends.
    case give(HeldAnswer)
    /// Pass the verdict on a delayed request to the radio.
    ///
    /// `link` is the number of the central's connection; after the end of that connection, nothing happens.
    case release(LowerVerdict, of: Peer.ID, link: Int?)
    /// Send a value that `FaultEffect.reorder` has held back, because the device did not send a next value in
    /// time.
    case stopKeeping(HeldValues.Value)
    /// Send the values whose delay has ended.
    case flush
}

/// An asynchronous job of `FaultyRadio` on the wrapped radio.
enum FaultJob: Sendable {
    /// Publish again the services that have changed because a fault began or ended.
    case changeServices
    /// Advertise the device's current advertisement with the changes of the faults.
    case advertiseAgain
    /// Make the device disappear from the air.
    case vanish
    /// End the disappearance of the device, unless another fault still makes it disappear.
    case reappear
    /// Disconnect a central.
    case disconnect(Peer.ID, reason: UInt8)
    /// Delete the bonds with these devices.
    case forgetBonds([DeviceAddress])
    /// Report to the device that the radio accepts values again.
    case reportRoom
    /// Resume a caller that waits until all earlier jobs are done.
    case finish(CheckedContinuation<Void, Never>)
}
