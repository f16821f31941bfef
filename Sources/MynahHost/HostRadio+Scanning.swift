public import MynahCore
import MynahHCI
import MynahSupport

// Listening for advertising.
extension HostRadio {
    /// Listens, or listens otherwise than before.
    public func scan(_ options: ScanOptions) async throws(RadioError) {
        guard state == .running else { throw RadioError(.invalidState, "the radio does not run") }
        central.scan = options
        do throws(RadioError) {
            try await listen(anew: true)
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
        await attempt { () throws(RadioError) in try await listen() }
    }

    /// Has the controller listen as it is to now; one change behind the other.
    private func listen(anew: Bool = false) async throws(RadioError) {
        let (before, run) = (central.listeningChange, run)
        let change = Task { () -> Result<Void, RadioError> in
            _ = await before?.value
            guard run == self.run else { return .success(()) }
            do throws(RadioError) {
                return .success(try await changeListening(anew: anew))
            } catch {
                return .failure(error)
            }
        }
        central.listeningChange = change
        try await change.value.get()
    }

    private func changeListening(anew: Bool) async throws(RadioError) {
        let wanted = central.scan ?? (central.isFollowing ? Self.following : nil)
        guard anew || wanted != central.listening else { return }
        if central.listening != nil {
            try await setScanning(nil)
            central.listening = nil
        }
        guard let wanted else { return }
        try await setScanParameters(wanted)
        try await setScanning(wanted)
        central.listening = wanted
    }

    /// After a controller that was lost is there again.
    func scanAgain() async {
        guard let wanted = central.scan else { return }
        central.scan = nil
        central.listening = nil
        do throws(RadioError) {
            try await scan(wanted)
        } catch {
            tellCentral(
                .warning(RadioWarning("scanLost", "advertising is not listened for again: \(error)")))
        }
    }

    /// A peripheral that is bonded is known by its identity, whatever address it uses now.
    func hear(_ report: LEAdvertisingReport) {
        guard central.scan != nil || central.isFollowing, var whole = central.reports.take(report) else {
            return
        }
        if whole.address.isResolvable, let bond = security.bonds[whole.address] {
            noteAddress(whole.address, of: bond.identity)
            whole.address = bond.identity
        } else if central.privateAddresses[whole.address] != nil {
            // It does not hide any more.
            noteAddress(nil, of: whole.address)
        }
        if central.scan != nil { tellCentral(.heard(whole)) }
    }

    /// Whoever waits for a peripheral waits for it by the address that it uses.
    func noteAddress(_ address: DeviceAddress?, of identity: DeviceAddress) {
        let before = central.privateAddresses[identity]
        central.privateAddresses[identity] = address
        if before != address { carryOut(central.wishes.moved(identity)) }
    }

    /// Listens, by little, while someone waits for a peripheral that may hide behind addresses of its key: its next one is
    /// known when it is heard.
    ///
    /// This host resolves by itself, and leaves the resolving lists of controllers alone: not all have one, it holds few, and it
    /// cannot be changed while anything goes on (Core Specification, Vol 4, Part E, 7.8.38).
    func follow() {
        let isFollowing = central.wishes.addresses.contains {
            security.bonds[$0]?.identityResolvingKey != nil
        }
        guard isFollowing != central.isFollowing else { return }
        central.isFollowing = isFollowing
        Task {
            // A controller that does not listen while it connects has the last address to go by.
            await attempt { () throws(RadioError) in try await listen() }
        }
    }

    /// 30 ms of 100 ms, and every address once.
    private static let following = ScanOptions(
        isActive: false, allowsDuplicates: false, interval: .milliseconds(100), window: .milliseconds(30))

    /// While the own address changes.
    func pauseScan() async {
        guard central.listening != nil else { return }
        await attempt { () throws(RadioError) in try await setScanning(nil) }
    }

    func resumeScan() async {
        guard let wanted = central.listening else { return }
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
