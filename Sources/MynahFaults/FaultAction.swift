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
    /// Set whether requests pass through the faults: reads and writes, and those that the radio answers by
    /// itself.
    case arm(Bool)
    /// Set the attribute's static value in the radio, which then answers reads, or remove it, so that the
    /// device answers them.
    case show(AttributeKey)

    /// The action that passes a warning to the device.
    static func warn(_ message: String) -> FaultAction {
        .pass(.warning(RadioWarning("faultFailed", message)))
    }
}

/// A step that `FaultyRadio` carries out at a later time.
enum FaultStep: Sendable {
    /// Apply the faults whose time has come; the value is the time of the first one.
    case applyDue(Duration)
    /// Carry out the delayed effect of a fault.
    ///
    /// `link` is the number of the central's connection; after the end of that connection, nothing happens.
    case carryOut(FaultEffect, by: String, of: Peer.ID?, link: Int?)
    /// End the effect of a fault that began with this number; if the effect has begun again since, nothing
    /// happens.
    case end(String, number: Int)
    /// Release a delayed answer.
    case give(HeldAnswer)
    /// Pass the verdict on a delayed request to the radio.
    ///
    /// `link` is the number of the central's connection; after the end of that connection, nothing happens.
    case release(LowerVerdict, of: Peer.ID, link: Int?)
    /// Send a value that was held back to follow the next value, because no next value came in time.
    case stopKeeping(HeldValues.Value)
    /// Send the values whose delay has ended.
    case flush
}

/// An asynchronous job of `FaultyRadio` on the wrapped radio.
enum FaultJob: Sendable {
    /// Publish again the services that have changed because a fault began or ended.
    case changeServices
    /// Advertise the requested advertisement with the changes of the faults.
    case advertiseAgain
    /// Make the device disappear from the air.
    case vanish
    /// Bring the device back on the air, if no fault silences it.
    case reappear
    /// Disconnect a central.
    case disconnect(Peer.ID, reason: UInt8)
    /// Delete the bonds with these devices.
    case forgetBonds([DeviceAddress])
    /// Report that the radio accepts values again.
    case reportRoom
    /// Resume a caller that waits until all earlier jobs are done.
    case finish(CheckedContinuation<Void, Never>)
}
