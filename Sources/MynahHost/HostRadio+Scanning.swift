public import MynahCore
import MynahHCI
import MynahSupport

// Listening for advertising.
extension HostRadio {
    /// Listens, or listens otherwise than before.
    public func scan(_ options: ScanOptions) async throws(RadioError) {
        guard state == .running else { throw RadioError(.invalidState, "the radio does not run") }
        if central.scan != nil { try await setScanning(nil) }
        central.scan = options
        do throws(RadioError) {
            try await setScanParameters(options)
            try await setScanning(options)
        } catch {
            central.scan = nil
            throw error
        }
    }

    /// Stops listening.
    public func stopScan() async {
        guard central.scan != nil else { return }
        central.scan = nil
        central.reports = ReportAssembler()
        await attempt { () throws(RadioError) in try await setScanning(nil) }
    }

    /// After a controller that was lost is there again.
    func scanAgain() async {
        guard let wanted = central.scan else { return }
        central.scan = nil
        do throws(RadioError) {
            try await scan(wanted)
        } catch {
            tellCentral(
                .warning(RadioWarning("scanLost", "advertising is not listened for again: \(error)")))
        }
    }

    /// A peripheral that is bonded is known by its identity, whatever address it uses now.
    func hear(_ report: LEAdvertisingReport) {
        guard central.scan != nil, var whole = central.reports.take(report) else { return }
        if whole.address.isResolvable, let bond = security.bonds[whole.address] {
            central.privateAddresses[bond.identity] = whole.address
            whole.address = bond.identity
        }
        tellCentral(.heard(whole))
    }

    /// While the own address changes.
    func pauseScan() async {
        guard central.scan != nil else { return }
        await attempt { () throws(RadioError) in try await setScanning(nil) }
    }

    func resumeScan() async {
        guard let wanted = central.scan else { return }
        await attempt { () throws(RadioError) in try await setScanning(wanted) }
    }

    /// LE Set (Extended) Scan Parameters (Core Specification, Vol 4, Part E, 7.8.10 and 7.8.64).
    private func setScanParameters(_ options: ScanOptions) async throws(RadioError) {
        let interval = Self.scanUnits(options.interval)
        let window = min(Self.scanUnits(options.window), interval)
        let own = ownAddress?.kindCode ?? 0
        let type: UInt8 = options.isActive ? 1 : 0
        var writer = ByteWriter(capacity: 8)
        if chooseStyle() == .extended {
            // LE 1M alone, whatever the policy.
            writer.write([own, 0x00, 0x01, type] as [UInt8])
            writer.write(interval)
            writer.write(window)
            try await command(.leSetExtendedScanParameters, writer.bytes, "setting how to scan")
        } else {
            writer.write(type)
            writer.write(interval)
            writer.write(window)
            writer.write([own, 0x00] as [UInt8])
            try await command(.leSetScanParameters, writer.bytes, "setting how to scan")
        }
    }

    private func setScanning(_ options: ScanOptions?) async throws(RadioError) {
        let isOn: UInt8 = options == nil ? 0 : 1
        let filters: UInt8 = options?.allowsDuplicates ?? true ? 0 : 1
        let doing = options == nil ? "stopping to scan" : "starting to scan"
        if chooseStyle() == .extended {
            try await command(.leSetExtendedScanEnable, [isOn, filters, 0, 0, 0, 0], doing)
        } else {
            try await command(.leSetScanEnable, [isOn, filters], doing)
        }
    }

    /// In 0.625 ms, within what a controller takes.
    private static func scanUnits(_ duration: Duration) -> UInt16 {
        let (seconds, attoseconds) = duration.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
        return UInt16(clamping: min(max(microseconds / 625, 4), 0x4000))
    }
}
