package import MynahCore
import MynahSupport

// The device's services, advertisements and values for the radio.
extension FaultyRadio {
    // MARK: Services

    /// Publishes the services without those that faults have removed.
    ///
    /// Throws `unsupported` if a fault that is on cannot be carried out by the radio on one of them.
    package func publish(_ definitions: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        try machine.check(definitions)
        machine.services.willPublish(definitions)
        let shown = machine.shown(definitions)
        guard !shown.isEmpty else {
            return PublishedServices(id: machine.services.published(definitions, shown: [], as: nil))
        }
        let published = try await wrapped.publish(shown)
        let id = machine.services.published(definitions, shown: shown, as: published.id)
        // A fault may have been turned on or off meanwhile.
        for key in machine.services.keysWithValue { showValue(of: key) }
        if machine.services.nextChange() != nil { enqueue(.changeServices) }
        return PublishedServices(id: id, handles: published.handles)
    }

    package func withdraw(_ id: PublishedServices.ID) async {
        if let inner = machine.services.withdraw(id) { await wrapped.withdraw(inner) }
    }

    package func setValue(_ value: [UInt8]?, of attribute: AttributeKey) {
        machine.services.setValue(value, of: attribute)
        showValue(of: attribute)
    }

    /// Sets or removes the value with which the radio answers reads of an attribute by itself.
    ///
    /// The radio has no value if a fault may change it, and then asks the device.
    func showValue(of key: AttributeKey) {
        let value = machine.shownValue(of: key)
        inner { $0.setValue(value, of: key) }
    }

    /// Publishes again each batch that has changed because a fault began or ended.
    ///
    /// A batch that the radio refuses is tried again after the radio has recovered, and at the next change.
    func changeServices() async {
        var refused: Set<PublishedServices.ID> = []
        while let (id, batch) = machine.services.nextChange(except: refused) {
            if let inner = machine.services.willWithdraw(id) {
                await wrapped.withdraw(inner)
                // Subscriptions end with the attributes; the radio does not report their end.
                for event in batch.shown.flatMap({ machine.links.ends(of: $0) }) { _ = forward(event) }
            }
            let shown = machine.shown(batch.services)
            var inner: PublishedServices.ID?
            do throws(RadioError) {
                if !shown.isEmpty { inner = try await wrapped.publish(shown).id }
            } catch {
                warn("the services cannot be changed: \(error)")
                _ = machine.services.changed(id, to: nil, shown: [])
                refused.insert(id)
                continue
            }
            let isThere = machine.services.changed(id, to: inner, shown: shown)
            if !isThere, let inner { await wrapped.withdraw(inner) }
        }
        for key in machine.services.keysWithValue { showValue(of: key) }
    }

    // MARK: Advertising

    package func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        machine.advertising.wanted = advertisement
        perform(machine.happened(.advertise, to: nil, at: now))
        guard machine.advertising.silent.isEmpty, !machine.advertising.isGone else { return .silent }
        return try await advertise(changed: machine.changed(advertisement))
    }

    package func stopAdvertising() async {
        machine.advertising.stop()
        await wrapped.stopAdvertising()
    }

    /// Advertises the device's advertisement with the changes of the faults.
    ///
    /// Does nothing if the radio does not work, or if it already advertises exactly this.
    func advertiseAgain() async {
        guard let changed = machine.nextAdvertisement else { return perform(machine.refusedChanges()) }
        do throws(RadioError) {
            let report = try await advertise(changed: changed)
            if machine.advertising.wanted != nil { pass(.advertisingChanged(report)) }
        } catch {
            warn("the device cannot advertise the fields of a fault: \(error)")
        }
    }

    private func advertise(changed: Advertisement) async throws(RadioError) -> AdvertisingReport {
        perform(machine.advertises(changed))
        do throws(RadioError) {
            return try await wrapped.advertise(changed)
        } catch {
            machine.advertising.onAir = nil
            throw error
        }
    }

    // MARK: Values

    package func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        let whole = HeldValues.Value(
            attribute: attribute, bytes: value, delivery: delivery, centrals: centrals, due: now)
        switch machine.send(whole, &values.held) {
        // No fault applies. Or there are no subscribers: nothing is counted, and the radio reports errors.
        case .unchanged: return try pass(value, of: attribute, as: delivery, to: centrals)
        case .refused: return .full
        case .held(let count, let parts, let isFaulty, let actions):
            perform(actions)
            let (error, unsent, followUp) = values.sendHeld(at: now)
            perform(followUp)
            // If a fault changed the value, or an earlier value waited, the error is not the caller's
            // mistake.
            let isOwn = parts.contains { $0.value.map(unsent.contains) == true }
            if let error, isOwn, !isFaulty { throw error }
            if let error { warn(ValueSender.message(of: error, isOwn: isOwn)) }
            faultedValues.withLock { $0 = DeliveredValue.all(of: value, parts, unsent: unsent) }
            return .sent(count)
        }
    }
}
