import MynahCore
import MynahLifecycle

// Requests of managers.
extension PhoneCentral {
    /// Scans for a manager; `read` adds the readers of the scan's discoveries.
    func scan(
        _ services: [BluetoothUUID]?, _ options: ScanOptions, for reference: CentralReference,
        read: (inout PurposeReaders) -> Void = { _ in }
    ) async throws(RadioError) {
        let manager = try memory.acting(reference)
        try memory.checkPower()
        var scan = CentralManagerState.Scan(
            services: services ?? [], options: options, mode: manager.scanMode(memory.radioState))
        // A program that requests duplicates gets each packet at once.
        if manager.app == nil, options.allowsDuplicates { scan.request.awaitsScanResponses = false }
        manager.startScan(scan, read: read)
        preservation.save(manager)
        do throws(RadioError) {
            try await scanner.settle()
        } catch {
            manager.stopScan()
            preservation.save(manager)
            throw error
        }
    }

    func stopScan(for reference: CentralReference) async {
        guard let manager = try? memory.acting(reference), manager.scan != nil else { return }
        manager.stopScan()
        preservation.save(manager)
        try? await scanner.settle()
    }

    /// Returns the connected peripherals that have one of the services.
    func retrieveConnected(
        _ services: [BluetoothUUID], for reference: CentralReference
    ) async throws(RadioError) -> [Peripheral] {
        let asking = try memory.acting(reference)
        var found: [DeviceAddress] = []
        for address in memory.ledger.connected where asking.sees(address) {
            if await has(services, address) { found.append(address) }
        }
        let manager = try memory.acting(reference)
        return found.compactMap { devices.peripheral(at: $0, for: manager) }
    }

    private func has(_ services: [BluetoothUUID], _ address: DeviceAddress) async -> Bool {
        guard let link = memory.ledger.link(to: address) else { return false }
        guard let entry = memory.links[link], !services.contains(where: entry.services.contains) else {
            return true
        }
        for service in services {
            let found = try? await radio?.discoverServices(service, of: link)
            guard found?.isEmpty == false else { continue }
            memory.links[link]?.services.insert(service)
            return true
        }
        return false
    }
}
