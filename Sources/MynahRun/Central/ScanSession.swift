package import Mynah
package import MynahCore
import MynahHost
package import MynahSupport

/// The options of a scan.
package struct ScanPlan: Sendable {
    /// The services by which devices are filtered; empty to scan for all devices.
    ///
    /// A device passes the filter if it advertises at least one of the services.
    package var services: [BluetoothUUID] = []
    /// Whether the scan is active, so that scan responses are requested.
    package var isActive = true
    /// Whether the periodic advertising of the devices is received.
    package var synchronizes = false
    /// The duration of the scan, or `nil` to scan until it is interrupted.
    package var timeout: Duration?

    /// Makes a plan for an active scan for all devices.
    package init() {}
}

/// A session of `mynah scan`, which scans until it is interrupted.
package struct ScanSession: Sendable {
    /// The result of the session.
    package struct End: Sendable {
        /// The error that ended the session, or `nil` if no error did.
        package var failure: RadioError?
        /// Whether the scan was started.
        package var hasListened: Bool
    }

    let plan: ScanPlan
    let radios: RadioMaker
    let radio: HostRadio
    let clock: RunClock
    let interruption: Interruption

    /// Makes a session for a plan; throws if no radio is available.
    package init(
        _ plan: ScanPlan, radios: RadioMaker, clock: RunClock = .real, until interruption: Interruption
    ) throws(RadioError) {
        self.plan = plan
        self.radios = radios
        self.clock = clock
        self.interruption = interruption
        radio = try radios.host()
    }

    /// Scans, and passes the discoveries to `sink`.
    package func play(_ sink: any CentralManagerSink) async -> End {
        let manager = CentralManager(radio: radio, sink: sink)
        let hasListened = Lock(false)
        let failure = await RadioWork.play(
            until: interruption, clock: clock, stop: { await manager.stop() }
        ) { () async throws(RadioError) in
            try await manager.start()
            var options = ScanOptions(isActive: plan.isActive, allowsDuplicates: true)
            options.synchronization = plan.synchronizes ? .required : .none
            try await manager.scanForPeripherals(
                withServices: plan.services.isEmpty ? nil : plan.services, options: options)
            hasListened.withLock { $0 = true }
            if let timeout = plan.timeout { clock.after(timeout) { interruption.interrupt() } }
        }
        radios.end()
        return End(failure: failure, hasListened: hasListened.withLock { $0 })
    }
}
