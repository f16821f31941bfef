public import MynahCore
import MynahHCI

// Scanning.
extension HostRadio {
    /// Scans, or scans with other options than before.
    public func scan(_ options: ScanOptions) async throws(RadioError) {
        guard life.isRunning else { throw RadioError(.invalidState, "the radio does not run") }
        let number = change { _, scanner, _ in scanner.want(options) }
        await settled(.scanner)
        switch controller.scanner.verdict(on: number) {
        case .scanning, .replaced: break
        case .refused(let step, let status): throw controller.refusal(step.purpose, status)
        case .lost:
            // The caller learns that it failed, so it does not begin later by itself.
            change { _, scanner, _ in scanner.stop() }
            throw life.loss ?? controller.loss()
        }
    }

    /// Stops scanning.
    public func stopScan() async {
        guard controller.scanner.wanted != nil else { return }
        reports = ReportAssembler()
        change { _, scanner, _ in scanner.stop() }
        await settled(.scanner)
    }

    /// A bonded peripheral is reported by its identity, and a connection to it asked for by the address that it uses now.
    func hear(_ report: LEAdvertisingReport) {
        let isWanted = controller.scanner.wanted != nil
        guard isWanted || controller.scanner.isFollowing, var whole = reports.take(report) else { return }
        let (identity, hasMoved) = peers.heard(whole.address, security.bonds)
        if hasMoved { change { $2.moved(identity, to: peers.current(of: identity)) } }
        whole.address = identity
        if isWanted { tellCentral(.heard(whole)) }
    }

    /// Scans with little time on the air while a bonded peripheral is waited for that may change its private address: its next one is
    /// known when it is heard.
    ///
    /// The host resolves addresses by itself and leaves the controller's resolving list alone: not every controller has one, it holds
    /// few addresses, and it cannot change while anything is on (Core Specification, Vol 4, Part E, 7.8.38).
    func follow() {
        let isWanted = controller.connector.addresses.contains {
            security.bonds[$0]?.identityResolvingKey != nil
        }
        guard isWanted != controller.scanner.isFollowing else { return }
        change { _, scanner, _ in scanner.follow(isWanted) }
    }
}
