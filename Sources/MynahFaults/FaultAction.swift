import MynahCore

/// An action of a layer of faults; several are done in their order.
enum FaultAction: Sendable {
    /// A fault was applied.
    case report(FaultFiring)
    /// The sink gets an event.
    case pass(RadioEvent)
    /// A step is carried out at a time.
    case wait(until: Duration, FaultStep)
    /// A job is done on the radio, after all that were added before.
    case work(FaultJob)
    /// The radio loses the bond with a central, or all bonds if it is `nil`.
    case loseBond(Peer.ID?, FaultEffect.LostBond)
    /// Requests reach the layer from now on, or no longer.
    case arm(Bool)
    /// The radio answers reads of an attribute by itself from now on, or no longer.
    case show(AttributeKey)

    /// The sink gets a warning.
    static func warn(_ message: String) -> FaultAction {
        .pass(.warning(RadioWarning("faultFailed", message)))
    }
}

/// A step of a layer of faults, which it takes at a time.
enum FaultStep: Sendable {
    /// Applies the faults whose time has come; the time is that of the first.
    case applyDue(Duration)
    /// Carries out the effect of a fault that has a delay, while the link of its central has this number.
    case carryOut(FaultEffect, by: String, of: Peer.ID?, link: Int?)
    /// Ends the effect of a fault, unless it was restarted after this number.
    case end(String, number: Int)
    /// Gives an answer that was held up.
    case give(HeldAnswer)
    /// Decides about the request of a central below the sink, while its link has this number.
    case release(LowerVerdict, of: Peer.ID, link: Int?)
    /// Sends a value that waits for the next one.
    case stopKeeping(HeldValues.Value)
    /// Sends the values that have waited long enough.
    case flush
}

/// A job of a layer of faults on its radio, which takes time.
enum FaultJob: Sendable {
    /// Publishes the services again that faults have changed, or no longer change.
    case changeServices
    /// Advertises the requested advertisement with the changes of the faults.
    case advertiseAgain
    /// Falls silent.
    case vanish
    /// Is on the air again, if no fault silences the device.
    case reappear
    /// Ends the link of a central.
    case disconnect(Peer.ID, reason: UInt8)
    /// Deletes the bonds with these devices.
    case forgetBonds([DeviceAddress])
    /// Reports that there is room for values.
    case reportRoom
    /// Resumes a caller that waits for all that was added before.
    case finish(CheckedContinuation<Void, Never>)
}
