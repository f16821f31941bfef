import MynahCore
import MynahLifecycle

// What managers ask for.
extension PhoneCentral {
    /// Throws `invalidState` unless Bluetooth is powered on.
    func checkPower() throws(RadioError) {
        guard radioState == .poweredOn else {
            throw loss
                ?? RadioError(
                    .invalidState, "Bluetooth is not powered on: it is \(radioState.rawValue)",
                    remedy: "wait for stateChanged(.poweredOn)")
        }
    }

    func scan(
        _ services: [BluetoothUUID]?, _ options: ScanOptions, for reference: CentralReference,
        on phone: isolated Phone
    ) async throws(RadioError) {
        let manager = try acting(reference)
        try checkPower()
        var scan = CentralManagerState.Scan(
            services: services ?? [], options: options, mode: manager.scanMode(radioState))
        // A program that wants every packet has each as it comes.
        if manager.app == nil, options.allowsDuplicates { scan.request.awaitsScanResponses = false }
        manager.startScan(scan)
        preserve(manager, on: phone)
        do throws(RadioError) {
            try await scanner.settle(on: phone)
        } catch {
            manager.stopScan()
            preserve(manager, on: phone)
            throw error
        }
    }

    func stopScan(for reference: CentralReference, on phone: isolated Phone) async {
        guard let manager = try? acting(reference), manager.scan != nil else { return }
        manager.stopScan()
        preserve(manager, on: phone)
        try? await scanner.settle(on: phone)
    }

    /// The peripherals of the phone's links that have one of the services.
    func retrieveConnected(
        _ services: [BluetoothUUID], for reference: CentralReference, on phone: isolated Phone
    ) async throws(RadioError) -> [Peripheral] {
        _ = try acting(reference)
        var found: [DeviceAddress] = []
        for address in ledger.connected {
            if await has(services, address) { found.append(address) }
        }
        let manager = try acting(reference)
        return found.compactMap { peripheral(at: $0, for: manager, on: phone) }
    }

    private func has(_ services: [BluetoothUUID], _ address: DeviceAddress) async -> Bool {
        guard let link = ledger.link(to: address) else { return false }
        guard let entry = links[link], !services.contains(where: entry.services.contains) else { return true }
        for service in services {
            let found = try? await radio?.discoverServices(service, of: link)
            guard found?.isEmpty == false else { continue }
            links[link]?.services.insert(service)
            return true
        }
        return false
    }
}
