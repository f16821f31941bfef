public import MynahCore

// Channels beside the attributes, and how often a central meets.
extension PeripheralManager {
    /// Publishes a number under which centrals open L2CAP channels, and returns it; `.channelOpened` brings each.
    ///
    /// Centrals do not find numbers by themselves: a characteristic of the type `GATT.l2capPSM` may tell it. It is given back
    /// when the app ends, whether or not the manager is restored, and when its services are cleared because Bluetooth went
    /// below powered off. Throws `unsupported` where the radio has no channels, `invalidState` where the app does not run.
    public func publishL2CAPChannel(withEncryption isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try checkRuns()
        return try onPhone { phone throws(RadioError) in
            try phone.publishL2CAPChannel(isEncrypted: isEncrypted, for: self)
        }
    }

    /// Takes a number back, and closes the channels that were opened to it; does nothing where the app does not run.
    public func unpublishL2CAPChannel(_ psm: UInt16) {
        guard (try? checkRuns()) != nil else { return }
        onPhone { $0.unpublishL2CAPChannel(psm, for: self) }
    }

    /// Asks a central to meet more or less often; false: it does not want to.
    ///
    /// Throws `unsupported` where the radio cannot ask, `invalidState` where the app does not run.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for central: Central.ID
    ) async throws(RadioError) -> Bool {
        try checkRuns()
        return try await phone.radio.setDesiredConnectionLatency(latency, for: central)
    }
}

// What a manager asks of its phone.
extension Phone {
    func publishL2CAPChannel(
        isEncrypted: Bool, for manager: PeripheralManager
    ) throws(RadioError) -> UInt16 {
        let psm = try onRadio { radio throws(RadioError) in
            try radio.publishL2CAPChannel(isEncrypted: isEncrypted)
        }
        channelOwners[psm] = manager
        return psm
    }

    func unpublishL2CAPChannel(_ psm: UInt16, for manager: PeripheralManager) {
        guard channelOwners[psm] === manager else { return }
        channelOwners[psm] = nil
        onRadio { $0.unpublishL2CAPChannel(psm) }
    }

    func unpublishL2CAPChannels(of manager: PeripheralManager) {
        for (psm, owner) in channelOwners where owner === manager {
            unpublishL2CAPChannel(psm, for: manager)
        }
    }
}
