import MynahCore

/// Passes the events and requests of a wrapped radio to its `FaultyRadio`, without keeping that object alive.
final class FaultSink: RadioSink, LowerFaults {
    private weak let target: FaultyRadio?

    init(_ radio: FaultyRadio) {
        target = radio
    }

    func handle(_ event: RadioEvent) -> RadioAnswer { run { $0.forward(event) } ?? .none }

    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict {
        run { $0.verdict(on: request, of: central) } ?? .proceed
    }

    private func run<Value: Sendable>(_ body: @Sendable (isolated FaultyRadio) -> Value) -> Value? {
        target?.onOwnExecutor(body)
    }
}
