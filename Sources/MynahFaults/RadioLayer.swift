package import MynahCore

/// A layer around a radio, on the same executor.
///
/// Calls and events that the layer does not change are passed through.
package protocol RadioLayer: ControllableRadio {
    /// The wrapped radio.
    nonisolated var wrapped: any VanishingRadio { get }
}

extension RadioLayer {
    /// Calls the wrapped radio, which runs on the same executor.
    func inner<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated any VanishingRadio) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try wrapped.onOwnExecutor { radio throws(Failure) in try body(radio) }
    }

    /// Passes a value unchanged to the wrapped radio.
    func pass(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        try inner { radio throws(RadioError) in
            try radio.send(value, of: attribute, as: delivery, to: centrals)
        }
    }

    package nonisolated var preferredExecutor: (any TaskExecutor)? { wrapped.preferredExecutor }

    package nonisolated var centralRole: (any CentralRadio)? { wrapped.centralRole }

    /// Closes the wrapped radio at once.
    package nonisolated func close() { wrapped.close() }

    package var used: RadioUse? { inner { $0.used } }

    package func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try inner { radio throws(RadioError) in try radio.publishL2CAPChannel(isEncrypted: isEncrypted) }
    }

    package func unpublishL2CAPChannel(_ psm: UInt16) { inner { $0.unpublishL2CAPChannel(psm) } }

    package func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        try await wrapped.requestConnectionParameters(wanted, of: central)
    }

    package func disconnect(_ central: Peer.ID) async { await wrapped.disconnect(central) }

    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        try await wrapped.disconnect(central, reason: reason)
    }

    package func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool {
        try await wrapped.forgetBond(with: address)
    }

    package func isEncrypted(_ central: Peer.ID) -> Bool? { inner { $0.isEncrypted(central) } }

    package var bondedAddresses: [DeviceAddress] { inner { $0.bondedAddresses } }

    package var isOn: Bool { inner { $0.isOn } }

    package func setRequestSink(_ sink: (any RadioSink)?) { inner { $0.setRequestSink(sink) } }

    package func serve(_ services: [ServiceDefinition], as mode: ServingMode) {
        inner { $0.serve(services, as: mode) }
    }

    package func leave(_ peer: Peer.ID) { inner { $0.leave(peer) } }
}
