package import MynahCore
package import MynahFaults

// The calls with which faults act on the radio below its sink.
extension HostRadio: FaultableRadio {
    package nonisolated var faultSupport: FaultSupport { .ownHost }

    package func setLowerFaults(_ faults: (any LowerFaults)?) {
        sinks.faults = faults.map { LinkFaults($0) }
    }

    package func armLowerFaults(_ isArmed: Bool) { sinks.faults?.isArmed = isArmed }

    package func release(_ central: Peer.ID, _ verdict: LowerVerdict) {
        sinks.faults?.release(central, verdict, of: links)
    }

    package func setRequestSink(_ sink: (any RadioSink)?) { sinks.requests = sink ?? sinks.peripheral }

    package func ended(_ central: Peer.ID) { sinks.faults?.ended(central) }

    package func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond) {
        sinks.faults?.loseBond(of: central, way, of: links)
    }

    /// Resets the controller without a report: advertising and all links end.
    package func vanish() async {
        guard case .running = stage, controller.isRunning else { return }
        try? await turnOff(isSilent: true)
    }

    package func reappear() async throws(RadioError) {
        guard case .running = stage, controller.isOff else { return }
        try await setPower(true)
    }
}
