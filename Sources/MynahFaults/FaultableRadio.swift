package import MynahCore

/// A radio that can make its device disappear from the air for a fault.
package protocol VanishingRadio: ControllableRadio {
    /// The faults that the radio can carry out.
    nonisolated var faultSupport: FaultSupport { get }

    /// Makes the device disappear: every link ends, and nothing is advertised.
    func vanish() async throws(RadioError)

    /// Advertises again as before the device disappeared.
    func reappear() async throws(RadioError)
}

/// A radio in which faults can also change requests that it answers by itself: Mynah's own host.
package protocol FaultableRadio: VanishingRadio {
    /// Sets the faults that decide about requests that the radio otherwise answers by itself.
    ///
    /// If `faults` is `nil`, the radio answers them without asking.
    func setLowerFaults(_ faults: (any LowerFaults)?)

    /// Sets whether any fault may apply.
    ///
    /// If not, the radio answers requests without calling `verdict`.
    func armLowerFaults(_ isArmed: Bool)

    /// Continues a request of a central that the verdict `hold` has delayed; does nothing if there is no such
    /// request.
    func release(_ central: Peer.ID, _ verdict: LowerVerdict)

    /// Removes the radio's state for faults of a central whose link has ended, such as a delayed request.
    func ended(_ central: Peer.ID)

    /// Deletes the bond of a central with its stored subscriptions, or all bonds if `central` is `nil`.
    ///
    /// The saved bonds are deleted too. `way` is the reaction to a peer that encrypts with the deleted key
    /// before it pairs again.
    func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond)
}

/// An object that a radio asks for a verdict before it answers a request by itself.
package protocol LowerFaults: Sendable {
    /// Returns the verdict on a request; called on the radio's executor.
    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict
}

/// A request that a radio answers by itself.
package enum LowerRequest: Hashable, Sendable {
    /// A read of a value that the link's security does not allow.
    case read(AttributeKey)
    /// A write of a value that the link's security does not allow.
    case write(AttributeKey)
    /// A write, or prepared writes, that set a bit of a Client Characteristic Configuration.
    case subscribe(AttributeKey)
    /// A read of a Client Characteristic Configuration.
    case readConfiguration(ConfigurationKey)
    /// A write of a Client Characteristic Configuration; `subscribes` is `true` if it makes a subscription.
    case writeConfiguration(ConfigurationKey, subscribes: Bool)
    /// A discovery of services, included services, characteristics or descriptors.
    ///
    /// The attributes in the response include these Client Characteristic Configurations.
    case discover([ConfigurationKey])
    /// An Exchange MTU Request.
    case mtu
}

/// The keys of a Client Characteristic Configuration and of its characteristic.
package struct ConfigurationKey: Hashable, Sendable {
    package var configuration: AttributeKey
    package var characteristic: AttributeKey

    /// Makes the keys of a configuration and its characteristic.
    package init(_ configuration: AttributeKey, of characteristic: AttributeKey) {
        self.configuration = configuration
        self.characteristic = characteristic
    }
}

/// The decision about a request that a radio answers by itself.
package enum LowerVerdict: Hashable, Sendable {
    /// The radio answers the request as it would without faults.
    case proceed
    /// The request is answered with this error.
    case refuse(ATTError)
    /// Neither this request nor any later request on that link is answered.
    case ignore
    /// An Exchange MTU Request is answered with this MTU, in bytes.
    case mtu(Int)
    /// The request is delayed until `release` is called.
    case hold
}
