package import MynahCore
import MynahLifecycle

/// The radio's use by an accessory, or by each app of a phone.
package struct MeteredUse: Sendable {
    /// By the number of the app; an accessory's is 0.
    package var uses: [UInt64: AirUse]
    /// Whether a controller that is not simulated may have done otherwise.
    package var isEstimated: Bool
    /// Whether the radio knows what goes over its links.
    package var knowsPackets: Bool
}

/// Measures for which apps a phone's radio is used, once it is asked to.
///
/// Belongs to a phone, and runs on the phone's executor. It asks the radio for its totals when somebody
/// begins or ceases to hold a part of it, and when a report is wanted.
final class PhoneMeter {
    private let radio: any PeripheralRadio
    private let memory: PhoneMemory
    private let central: CentralMemory
    private var accounts: RadioAccounts?

    init(_ radio: any PeripheralRadio, _ memory: PhoneMemory, _ central: CentralMemory) {
        self.radio = radio
        self.memory = memory
        self.central = central
    }

    /// Counts from now on; returns `false` if the radio does not know what it uses.
    func start() -> Bool {
        guard let use else { return false }
        accounts = RadioAccounts(from: use)
        update()
        return true
    }

    /// Somebody may hold something else than before.
    func update() {
        guard let accounts else { return }
        let holdings = holdings
        guard holdings != accounts.holdings, let use else { return }
        self.accounts?.change(holdings, use)
    }

    /// Returns what was used since the report before, or `nil` if nothing is counted.
    func report() -> MeteredUse? {
        update()
        guard let use, let uses = accounts?.report(use) else { return nil }
        return MeteredUse(uses: uses, isEstimated: use.isEstimated, knowsPackets: use.knowsPackets)
    }

    private var use: RadioUse? { radio.onOwnExecutor { $0.used } }

    // MARK: Shares of apps

    private var holdings: [UInt64: RadioAccounts.Holding] {
        guard !memory.apps.isEmpty else { return [0: .whole] }
        var holdings: [UInt64: RadioAccounts.Holding] = [:]
        for app in memory.apps { holdings[app.number] = .init() }
        // A central uses the services of every app, and nobody knows for which it came.
        let centrals = Set(memory.centrals.all.map(\.id))
        for manager in memory.managers {
            guard let app = manager.app?.number else { continue }
            if manager.advertising.isOn { holdings[app]?.advertises = true }
            // Those that are preserved for its next launch are not there for any central.
            if manager.added.contains(where: { $0.id != nil }) { holdings[app]?.links.formUnion(centrals) }
        }
        for manager in central.managers where manager.scan?.request.isInForce == true {
            holdings[manager.key.app]?.scans = true
        }
        let ledger = central.ledger
        for key in ledger.wanted.flatMap(\.managers) {
            if let manager = central.manager(key), manager.connectionMode(central.radioState) != .off {
                holdings[key.app]?.waits = true
            }
        }
        for address in ledger.connected {
            guard let link = ledger.link(to: address) else { continue }
            for key in ledger.holders(of: link) { holdings[key.app]?.links.insert(link) }
        }
        return holdings
    }
}
