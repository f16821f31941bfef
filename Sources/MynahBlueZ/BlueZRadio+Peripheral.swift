import MynahCore
import MynahDBus

// The calls of `PeripheralRadio`.
extension BlueZRadio {
    func add(_ definitions: [ServiceDefinition]) async throws(RadioError) -> PublishedServices {
        guard adapter.session.isPresent else {
            throw RadioError(.invalidState, "services can be published only while the radio runs")
        }
        return try await services.publish(definitions, through: adapter)
    }

    func remove(_ id: PublishedServices.ID) async {
        for key in await services.withdraw(id, through: adapter) { carryOut(notifier.remove(key)) }
    }

    func show(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard adapter.session.isPresent else {
            throw RadioError(.invalidState, "a device can be advertised only while the radio runs")
        }
        let sets = try BlueZAdvertising.sets(of: advertisement, adapter.session.capabilities)
        for warning in sets.flatMap(\.warnings) { warnOnce(warning) }
        return meter.note(try await advertiser.advertise(sets), at: RadioClock.now)
    }

    func notify(
        _ value: [UInt8], of key: AttributeKey, to targets: [Peer.ID]?
    ) throws(RadioError) -> SendResult {
        guard adapter.session.isPresent else {
            throw RadioError(.lost, "values can be sent only while the adapter is there")
        }
        guard let attribute = services.registry[key], attribute.sends else {
            throw RadioError(
                .unknownAttribute, "the attribute is not published, or neither notifies nor indicates")
        }
        var warnings: [RadioWarning] = []
        let sending = try notifier.send(
            value, of: (key, attribute.uuid), inPieces: attribute.isInPieces, to: targets,
            connected: centrals.connected, outgoing: adapter.outgoingSize, at: RadioClock.now,
            warnings: &warnings)
        for warning in warnings { report(.warning(warning)) }
        switch sending {
        case .sent(let count): return .sent(count)
        case .full: break
        case .fullFor(let time): timers?.schedule(.pace, after: time)
        case .fullUntilBusTakes(let limit): adapter.awaitRoom(below: limit)
        case .changeProperty, .changePropertyInPieces:
            try adapter.reach().daemon.changeValue(of: attribute.path, to: sending.parts(of: value))
            return .sent(nil)
        }
        return .full
    }

    func carryOut(_ actions: [Notifier<NotifySocket>.Action]) {
        for action in actions {
            if let event = action.event { report(event) }
            if case .resolveDoubts(let delay) = action { timers?.schedule(.doubt, after: delay) }
        }
    }
}
