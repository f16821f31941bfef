import MynahCore

/// The way from a radio to its central manager, which it does not keep alive.
final class CentralLink: CentralSink {
    private weak let target: CentralManager?

    init(_ manager: CentralManager) {
        target = manager
    }

    /// Routes an event on the radio's executor.
    func handle(_ event: CentralEvent) -> RadioAnswer {
        guard let target else { return .none }
        return target.onOwnExecutor { $0.route(event) }
    }
}
