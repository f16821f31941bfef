package import MynahCore
import MynahLifecycle

/// The radio's use by an accessory, or by each app of a phone.
package struct MeteredUse: Sendable {
    /// The use by the number of the app; the number of an accessory is 0.
    package var uses: [UInt64: AirUse]
    /// Whether the numbers are estimates, because the controller is not simulated.
    package var isEstimated: Bool
    /// Whether the radio counts the packets on its links.
    package var knowsPackets: Bool
}

/// Measures how much each app of a phone uses the radio, after `start()`.
///
/// Belongs to a phone, and runs on the phone's executor. It reads the radio's totals when an app begins or
/// ends a use of the radio, and for each report.
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

    /// Starts to measure; returns `false` if the radio does not report its use.
    func start() -> Bool {
        guard let use else { return false }
        accounts = RadioAccounts(from: use)
        update()
        return true
    }

    /// Updates the measurement after an app began or ended a use of the radio.
    func update() {
        guard let accounts else { return }
        let holdings = holdings
        guard holdings != accounts.holdings, let use else { return }
        self.accounts?.change(holdings, use)
    }

    /// Returns the use of the radio since the last report, or `nil` if it is not measured.
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
        // A central uses the services of every app, so its link counts for all of them.
        let centrals = Set(memory.centrals.all.map(\.id))
        for manager in memory.managers {
            guard let app = manager.app?.number else { continue }
            if manager.advertising.isOn { holdings[app]?.advertises = true }
            // Services that are only preserved for the next launch do not count.
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
