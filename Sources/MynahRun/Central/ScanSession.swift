package import Mynah
package import MynahCore
import MynahHost
package import MynahSupport

/// The devices that a phone listens for, and for how long.
package struct ScanPlan: Sendable {
    /// The services of which a reported device advertises one; empty for all devices.
    package var services: [BluetoothUUID] = []
    /// Whether scan responses are requested.
    package var isActive = true
    /// How long it listens; `nil` until it is interrupted.
    package var timeout: Duration?

    /// Listens for every device.
    package init() {}
}

/// A phone that listens to what is on the air, until it is interrupted.
package struct ScanSession: Sendable {
    /// The end of the session.
    package struct End: Sendable {
        /// The error that ended it, or `nil`.
        package var failure: RadioError?
        /// `true` if the session has scanned.
        package var hasListened: Bool
    }

    let plan: ScanPlan
    let radios: RadioMaker
    let radio: HostRadio
    let clock: RunClock
    let interruption: Interruption

    /// A session as it is planned; throws if there is no radio for it.
    package init(
        _ plan: ScanPlan, radios: RadioMaker, clock: RunClock = .real, until interruption: Interruption
    ) throws(RadioError) {
        self.plan = plan
        self.radios = radios
        self.clock = clock
        self.interruption = interruption
        radio = try radios.host()
    }

    /// Listens; `sink` takes what is heard.
    package func play(_ sink: any CentralManagerSink) async -> End {
        let manager = CentralManager(radio: radio, sink: sink)
        let hasListened = Lock(false)
        let failure = await RadioWork.play(
            until: interruption, clock: clock, stop: { await manager.stop() }
        ) { () async throws(RadioError) in
            try await manager.start()
            try await manager.scanForPeripherals(
                withServices: plan.services.isEmpty ? nil : plan.services,
                options: ScanOptions(isActive: plan.isActive, allowsDuplicates: true))
            hasListened.withLock { $0 = true }
            if let timeout = plan.timeout { clock.after(timeout) { interruption.interrupt() } }
        }
        radios.end()
        return End(failure: failure, hasListened: hasListened.withLock { $0 })
    }
}
