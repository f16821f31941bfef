import MynahCore

// Calls of a layer of faults to its radio; failures become warnings.
extension VanishingRadio {
    /// Disconnects a central with a reason; returns an action for each failure.
    func end(_ central: Peer.ID, for reason: UInt8) async -> [FaultAction] {
        do throws(RadioError) {
            // Every radio can end a link with its default reason.
            if reason == FaultEffect.usualReason {
                await disconnect(central)
            } else {
                try await disconnect(central, reason: reason)
            }
            return []
        } catch {
            return [.warn("a link cannot be ended: \(error)")]
        }
    }

    /// Deletes the bonds with devices; returns an action for each failure.
    func deleteBonds(with addresses: [DeviceAddress]) async -> [FaultAction] {
        var actions: [FaultAction] = []
        for address in addresses {
            do throws(RadioError) {
                try await forgetBond(with: address)
            } catch {
                actions.append(.warn("the bond with \(address) cannot be deleted: \(error)"))
            }
        }
        return actions
    }
}
