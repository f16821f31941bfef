import MynahCore

/// An action of `FaultyRadio`; actions are carried out in order.
enum FaultAction: Sendable {
    /// Report that a fault was applied.
    case report(FaultFiring)
    /// Pass an event to the sink.
    case pass(RadioEvent)
    /// Carry out a step at a time.
    case wait(until: Duration, FaultStep)
    /// Do a job on the radio, after all jobs that were added before.
    case work(FaultJob)
    /// Let the radio lose the bond with a central, or all bonds with `nil`.
    case loseBond(Peer.ID?, FaultEffect.LostBond)
    /// Begin or stop passing requests through the faults.
    case arm(Bool)
    /// Update whether the radio answers reads of an attribute by itself.
    case show(AttributeKey)

    /// The action that passes a warning to the sink.
    static func warn(_ message: String) -> FaultAction {
        .pass(.warning(RadioWarning("faultFailed", message)))
    }
}

/// A step of `FaultyRadio` that is carried out at a time.
enum FaultStep: Sendable {
    /// Apply the faults that are due; the time is that of the first.
    case applyDue(Duration)
    /// Carry out the delayed effect of a fault, if the central's link still has this number.
    case carryOut(FaultEffect, by: String, of: Peer.ID?, link: Int?)
    /// End the effect of a fault, unless it was restarted after this number.
    case end(String, number: Int)
    /// Give a delayed answer.
    case give(HeldAnswer)
    /// Decide about a delayed request of a central below the sink, if its link still has this number.
    case release(LowerVerdict, of: Peer.ID, link: Int?)
    /// Send a value that was kept for the next one.
    case stopKeeping(HeldValues.Value)
    /// Send the values whose delay has ended.
    case flush
}

/// A job of `FaultyRadio` on its radio, which takes time.
enum FaultJob: Sendable {
    /// Publish again the services that faults have changed, or no longer change.
    case changeServices
    /// Advertise the requested advertisement with the changes of the faults.
    case advertiseAgain
    /// Falls silent.
    case vanish
    /// Bring the device back on the air, if no fault silences it.
    case reappear
    /// Disconnect a central.
    case disconnect(Peer.ID, reason: UInt8)
    /// Delete the bonds with these devices.
    case forgetBonds([DeviceAddress])
    /// Report that there is room for values.
    case reportRoom
    /// Resume a caller that waits for all earlier jobs.
    case finish(CheckedContinuation<Void, Never>)
}
