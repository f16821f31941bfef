import MynahCore

// Requests of managers to publish services.
extension Phone {
    /// Returns the manager that a reference identifies.
    ///
    /// Throws `invalidState` if the manager has ended, or if its app may not make requests.
    private func acting(_ reference: ManagerReference) throws(RadioError) -> ManagerState {
        guard let manager = memory.manager(reference) else {
            throw RadioError(.invalidState, "the app of this manager has ended, or its phone was stopped")
        }
        try manager.app?.checkMayAct()
        return manager
    }

    /// Ends a manager because the last reference to it was dropped; its preserved state stays.
    func release(_ reference: ManagerReference) async {
        guard let manager = memory.manager(reference) else { return }
        manager.end()
        memory.app(of: manager)?.forget(manager)
        services.withdrawAll(of: manager, forget: false)
        memory.forget(manager)
        advertiser.remove(manager)
        advertiser.update()
    }

    // MARK: Services

    func add(
        _ services: [ServiceDefinition], for reference: ManagerReference
    ) async throws(RadioError) -> PublishedServices {
        let manager = try acting(reference)
        try DefinitionRules.check(services, ofApp: manager.app != nil)
        let epoch = manager.databaseEpoch
        return try await self.services.publish(services, for: manager) { published in
            guard epoch == manager.databaseEpoch, !manager.isEnded else { return false }
            if let published {
                manager.changeAdded { $0.append(.init(published, services)) }
                meter.update()
            }
            return true
        }
    }

    func remove(_ service: AttributeKey, of reference: ManagerReference) async throws(RadioError) {
        let manager = try acting(reference)
        guard let index = manager.added.firstIndex(where: { $0.services.contains { $0.key == service } })
        else { return }
        let added = manager.added[index]
        manager.changeAdded { $0.remove(at: index) }
        meter.update()
        await services.withdraw(added)
        let rest = added.services.filter { $0.key != service && !$0.includes.contains(service) }
        if !rest.isEmpty { _ = try await add(rest, for: reference) }
    }

    func removeAllServices(of reference: ManagerReference) async {
        guard let manager = try? acting(reference) else { return }
        let all = manager.added
        manager.changeAdded { $0 = [] }
        meter.update()
        for added in all { await services.withdraw(added) }
    }

    // MARK: Values

    func updateValue(
        _ value: [UInt8], for attribute: AttributeKey, of reference: ManagerReference, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        let manager = try acting(reference)
        guard value.count <= GATT.maximumValueLength else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes and no value has more than \(GATT.maximumValueLength)"
            )
        }
        guard manager.subscriptions.isSubscribed(attribute) else { return .sent(0) }
        return try radio.onOwnExecutor { radio throws(RadioError) in
            try radio.send(value, of: attribute, as: .asSubscribed, to: centrals)
        }
    }

    func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID, for reference: ManagerReference
    ) async throws(RadioError) -> Bool {
        _ = try acting(reference)
        return try await radio.requestConnectionParameters(wanted, of: central)
    }

    // MARK: Channels

    func publishL2CAPChannel(
        isEncrypted: Bool, for reference: ManagerReference
    ) throws(RadioError) -> UInt16 {
        let manager = try acting(reference)
        let psm = try radio.onOwnExecutor { radio throws(RadioError) in
            try radio.publishL2CAPChannel(isEncrypted: isEncrypted)
        }
        services.own(channel: psm, manager)
        return psm
    }

    func unpublishL2CAPChannel(_ psm: UInt16, of reference: ManagerReference) {
        guard let manager = try? acting(reference), services.owner(ofChannel: psm) === manager else { return }
        services.unpublish(channel: psm)
    }
}
