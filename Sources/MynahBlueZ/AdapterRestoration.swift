import MynahDBus

/// Restores the adapter's properties that the radio has changed, step by step.
///
/// Each property that the radio has set is restored even if the adapter reports the old value, because the
/// report may be older than the radio's last call.
struct AdapterRestoration {
    enum Step: Hashable {
        case unregisterAgent
        /// Wait until the adapter is no longer pairable, for this time at most.
        case awaitPairingEnd(atMost: Duration)
        case set(AdapterProperty)
    }

    /// The adapter's properties before the radio changed them.
    struct Found: Hashable {
        let alias: String
        let isAliasDefault: Bool
        let isPowered: Bool
        let isPairable: Bool
        /// The names of the properties that the radio has set.
        private(set) var changed: Set<String> = []

        init(_ adapter: BusObjects.Adapter) {
            alias = adapter.alias
            isAliasDefault = adapter.alias == adapter.name
            isPowered = adapter.isPowered
            isPairable = adapter.isPairable
        }

        mutating func willSet(_ property: AdapterProperty) { changed.insert(property.name) }
    }

    private enum Progress: Hashable {
        case agent
        case pairingEnd
        case decision
        case properties([AdapterProperty])
    }

    private let found: Found
    private let hadAgent: Bool
    private var progress = Progress.agent

    init(_ found: Found, hasAgent: Bool) {
        self.found = found
        hadAgent = hasAgent
    }

    /// Returns the next step, or `nil` after the last one.
    ///
    /// `isPairable` is the value that the adapter reports now.
    mutating func next(isPairable: Bool) -> Step? {
        while true {
            switch progress {
            case .agent:
                progress = .pairingEnd
                if hadAgent { return .unregisterAgent }
            case .pairingEnd:
                progress = .decision
                // bluetoothd ends pairing some time after the last agent was unregistered, and ignores
                // requests to allow it meanwhile. If another agent is registered, pairing stays allowed.
                if hadAgent, found.isPairable, isPairable {
                    return .awaitPairingEnd(atMost: .milliseconds(500))
                }
            case .decision:
                let hasPairingEnded = hadAgent && found.isPairable && !isPairable
                progress = .properties(properties(restoresPairing: hasPairingEnded))
            case .properties(var left):
                if left.isEmpty { return nil }
                let property = left.removeFirst()
                progress = .properties(left)
                return .set(property)
            }
        }
    }

    private func properties(restoresPairing: Bool) -> [AdapterProperty] {
        // bluetoothd replaces an empty alias with its own name for the adapter.
        let all: [AdapterProperty] = [
            .alias(found.isAliasDefault ? "" : found.alias), .pairable(found.isPairable),
            .powered(found.isPowered),
        ]
        return all.filter { property in
            if case .pairable = property, restoresPairing { return true }
            return found.changed.contains(property.name)
        }
    }
}
