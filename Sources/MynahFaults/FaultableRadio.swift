package import MynahCore

/// A radio with a layer of faults around it, which a fault can make vanish from the air.
package protocol VanishingRadio: ControllableRadio {
    /// The faults that it can carry out.
    nonisolated var faultSupport: FaultSupport { get }

    /// Falls silent: every link ends, and nothing is advertised.
    func vanish() async throws(RadioError)

    /// Advertises again as before it fell silent.
    func reappear() async throws(RadioError)
}

/// A radio whose layers below the sink can misbehave: our own host.
package protocol FaultableRadio: VanishingRadio {
    /// Has requests that the radio answers by itself decided about; with `nil` they are answered as usual.
    func setLowerFaults(_ faults: (any LowerFaults)?)

    /// Sets whether any fault may apply. If not, requests are answered as usual, without a verdict.
    func armLowerFaults(_ isArmed: Bool)

    /// Decides about the request of a central that was held up; does nothing if none is.
    func release(_ central: Peer.ID, _ verdict: LowerVerdict)

    /// The link of a central has ended.
    func ended(_ central: Peer.ID)

    /// Deletes the bond of a central, or all bonds if it is `nil`, with the remembered subscriptions. The
    /// bonds on disk are deleted too.
    ///
    /// `way` is the reaction to a peer that encrypts with the lost key, until it pairs again.
    func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond)
}

/// Decides about the requests that a radio answers by itself.
package protocol LowerFaults: Sendable {
    /// Called on the radio's executor for each request.
    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict
}

/// A request that a radio answers by itself.
package enum LowerRequest: Hashable, Sendable {
    /// A read of a value that the link's protection does not allow.
    case read(AttributeKey)
    /// A write of a value that the link's protection does not allow.
    case write(AttributeKey)
    /// A write, or prepared writes, of a Client Characteristic Configuration that sets a bit.
    case subscribe(AttributeKey)
    /// A read of a Client Characteristic Configuration.
    case readConfiguration(ConfigurationKey)
    /// A write of a Client Characteristic Configuration, which subscribes or not.
    case writeConfiguration(ConfigurationKey, subscribes: Bool)
    /// A request that finds services, included services, characteristics or descriptors, and these Client
    /// Characteristic Configurations.
    case discover([ConfigurationKey])
    /// An Exchange MTU Request.
    case mtu
}

/// The key of a Client Characteristic Configuration, and that of its characteristic.
package struct ConfigurationKey: Hashable, Sendable {
    package var configuration: AttributeKey
    package var characteristic: AttributeKey

    /// The configuration of a characteristic.
    package init(_ configuration: AttributeKey, of characteristic: AttributeKey) {
        self.configuration = configuration
        self.characteristic = characteristic
    }
}

/// The decision about a request that a radio answers by itself.
package enum LowerVerdict: Hashable, Sendable {
    /// The request is answered as usual.
    case proceed
    /// The request is answered with this error.
    case refuse(ATTError)
    /// Neither the request nor any later request of that link is answered.
    case ignore
    /// An Exchange MTU Request is answered with this MTU, in bytes.
    case mtu(Int)
    /// The request waits for `release`.
    case hold
}
