package import MynahCore
package import MynahEmulator
import MynahHCI
import MynahHost
import MynahProfiles
import MynahSupport

/// A session of `mynah air`, which offers virtual controllers to other host stacks until it is interrupted.
package final class AirSession: Sendable {
    private struct State {
        /// The time of the last reported event, in microseconds.
        var last: Int64 = 0
        /// The names of the session's virtual adapters that this machine still has.
        var adapters: Set<String> = []
        var taps: [Int: TappedTransport.Tap] = [:]
        /// The error that ended the session, or `nil`.
        var failure: RadioError?
    }

    private let plan: AirPlan
    private let capture: Capture?
    private let interruption: Interruption
    private let observe: @Sendable (DeviceEvent) -> Void
    private let state = Lock(State())

    /// Makes a session that reports its events to `observe`, in the order of their times.
    package init(
        _ plan: AirPlan, capture: Capture? = nil, until interruption: Interruption,
        observe: @escaping @Sendable (DeviceEvent) -> Void
    ) {
        self.plan = plan
        self.capture = capture
        self.interruption = interruption
        self.observe = observe
    }

    /// Offers the controllers until the interruption; returns the error that ended the session, or `nil`.
    package func play() async -> RadioError? {
        do throws(RadioError) {
            try capture?.createFile()
            let air = try SharedAir { [self] in warn($0.code, $0.message) }
            defer { air.leave() }
            try capture?.record(air.air)
            let server = makeServer(on: air)
            defer { server.close() }
            try await open(server)
            await interruption.wait()
        } catch {
            capture?.end()
            return error
        }
        capture?.end()
        return state.withLock { $0.failure }
    }

    /// The error that ended the capture early, or `nil` if the capture is complete or was not requested.
    package var captureFailure: RadioError? { capture?.failure }

    private func makeServer(on air: SharedAir) -> ControllerServer {
        ControllerServer(
            air: air.air, name: plan.name, tap: { [self] in tap($0) },
            report: { [weak self] in self?.note($0) }
        ) { [plan] number in
            ControllerConfiguration(address: plan.address(number), cipher: ControllerConfiguration.aes)
        }
    }

    /// Listens at all addresses of the plan and adds the adapters, and then reports `ready`.
    private func open(_ server: ControllerServer) async throws(RadioError) {
        for place in plan.places { try await server.listen(on: place) }
        var adapters: [String] = []
        for _ in 0..<plan.adapterCount { adapters.append(try server.addAdapter(path: plan.adapterPath)) }
        var ready = EventPayload.Ready()
        ready.radio = RadioNames.virtual
        ready.listening = server.places.isEmpty ? nil : server.places
        ready.adapters = adapters.isEmpty ? nil : adapters
        report(.ready, .ready(ready))
    }

    /// The recorder of a host's packets, or `nil` without a capture.
    ///
    /// All hosts that use the same number one after the other share one interface in the capture file.
    /// Otherwise, each reconnection would add an interface to the file.
    private func tap(_ host: ServedHost) -> TappedTransport.Tap? {
        guard let capture else { return nil }
        return state.withLock { state in
            if let tap = state.taps[host.number] { return tap }
            let tap = capture.tap(of: host.name)
            state.taps[host.number] = tap
            return tap
        }
    }

    // MARK: - Events

    private func note(_ report: HostReport) {
        switch report {
        case .joined(let host):
            if host.isAdapter { state.withLock { _ = $0.adapters.insert(host.name) } }
            self.report(.hostJoined, .host(EventPayload.Host(host)))
        case .left(let host, let error):
            var payload = EventPayload.Host(host)
            payload.message = error.message
            payload.code = error.reason.map { Int($0) }
            payload.reason = error.reason.map { HCIStatus($0).name }
            self.report(.hostLeft, .host(payload))
            if host.isAdapter { end(of: host, error) }
        case .refused(let error): warn("hostRefused", error.message)
        }
    }

    /// Ends the session if it has lost its last adapter, and hosts have no address at which they could
    /// connect.
    private func end(of adapter: ServedHost, _ error: RadioError) {
        let isLast = state.withLock { state in
            state.adapters.remove(adapter.name)
            guard state.adapters.isEmpty, plan.places.isEmpty, !interruption.isInterrupted else {
                return false
            }
            state.failure = RadioError(
                .lost, "this machine has lost the adapter \(adapter.name): \(error.message)",
                remedy: "start mynah air --vhci again; \(VirtualAdapter.remedy)")
            return true
        }
        if isLast { interruption.interrupt() }
    }

    private func warn(_ code: String, _ message: String) {
        report(.warning, .notice(.init(code: code, message)))
    }

    private func report(_ name: DeviceEvent.Name, _ payload: EventPayload) {
        state.withLock { state in
            state.last = max(state.last, WallTime.now().microseconds)
            observe(DeviceEvent(time: WallTime(microseconds: state.last), name, payload))
        }
    }
}

extension EventPayload.Host {
    /// Makes the payload for a host; the reason why the host has left is not set.
    fileprivate init(_ host: ServedHost) {
        self.init()
        (self.host, address, place) = (host.name, host.address, host.place)
    }
}
