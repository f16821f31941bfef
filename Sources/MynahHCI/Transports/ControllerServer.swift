import Glibc
package import MynahCore
package import MynahSupport

/// A host that uses a controller of a `ControllerServer`.
package struct ServedHost: Hashable, Sendable {
    /// The number of the host's controller, counted from 1; it becomes free when the host leaves.
    package var number: Int
    /// The name of the host: that of an adapter, or else the server's name followed by the number.
    package var name: String
    /// The public address of the host's controller.
    package var address: DeviceAddress
    /// The place where the host has connected: `tcp:HOST:PORT`, `unix:PATH` or `vhci`.
    package var place: String
    /// `true` if the host is this machine's kernel, with an adapter.
    package var isAdapter: Bool
}

/// A report about the hosts of a `ControllerServer`.
package enum HostReport: Sendable {
    case joined(ServedHost)
    /// A host has left, or was sent away, for this reason; the error has HCI's error code.
    case left(ServedHost, RadioError)
    /// Hosts are refused, for this reason.
    ///
    /// This is reported only once until a host leaves.
    case refused(RadioError)
}

/// Offers controllers of an air to other host stacks, over sockets with H4 and as adapters of this machine:
/// each host gets a controller of its own.
package final class ControllerServer: Sendable {
    private struct Guest {
        var host: ServedHost
        var line: PacketLine
        var controller: VirtualTransport
    }

    private struct Door {
        var listener: ListeningSocket
        var watch: EventLoop.Watch
        var place: String
    }

    private struct State {
        var isOpen = true
        var doors: [Door] = []
        var guests: [Int: Guest] = [:]
        /// The numbers of controllers in use.
        var numbers: Set<Int> = []
        var hasRefused = false
    }

    /// The largest number of hosts.
    package static let hostLimit = 128
    /// The time after which a server that had no free file descriptor accepts hosts again.
    private static let pause = Duration.seconds(1)

    private let air: LiveAir
    private let name: String
    private let clock: RunClock
    private let tap: @Sendable (ServedHost) -> TappedTransport.Tap?
    private let report: @Sendable (HostReport) -> Void
    private let configuration: @Sendable (_ number: Int) -> ControllerConfiguration
    private let state = Lock(State())

    /// Makes a server that does not listen yet; `configuration` returns the configuration of the controller
    /// with a number.
    ///
    /// `tap` returns a function that receives the packets of a host, or `nil`. `report` may be called on any
    /// thread. `clock` measures the time limit for a packet that arrives in parts.
    package init(
        air: LiveAir, name: String = "host", clock: RunClock = .real,
        tap: @escaping @Sendable (ServedHost) -> TappedTransport.Tap? = { _ in nil },
        report: @escaping @Sendable (HostReport) -> Void = { _ in },
        configuration: @escaping @Sendable (_ number: Int) -> ControllerConfiguration
    ) {
        self.air = air
        self.name = name
        self.clock = clock
        self.tap = tap
        self.report = report
        self.configuration = configuration
    }

    deinit { close() }

    /// The number of connected hosts.
    package var count: Int { state.withLock { $0.guests.count } }

    // MARK: - Doors

    /// Listens at a further `tcp-server:` or `unix-server:` address; returns the port of a `tcp-server:`.
    @discardableResult
    package func listen(on address: HCITransportAddress) async throws(RadioError) -> UInt16? {
        let listener: ListeningSocket
        let place: String
        switch address {
        case .tcpServer(let host, let port):
            listener = try await ListeningSocket.listening(host: host, port: port)
            place = "tcp:\(HCITransportAddress.endpoint(host, listener.port ?? port))"
        case .unixServer(let path):
            listener = try await ListeningSocket.listening(path: path)
            place = "unix:\(path)"
        default: throw RadioError(.invalidState, "hosts cannot connect to \(address)")
        }
        let isOpen = state.withLock { state in
            guard state.isOpen else { return false }
            state.doors.append(Door(listener: listener, watch: watch(listener, place), place: place))
            return true
        }
        guard isOpen else {
            listener.close()
            throw RadioError(.invalidState, "the server is closed")
        }
        return listener.port
    }

    /// The places at which the server listens.
    package var places: [String] { state.withLock { $0.doors.map(\.place) } }

    /// Gives this machine an adapter whose controller is on the air; returns the adapter's name.
    ///
    /// `path` is the device file of the kernel's module hci_vhci.
    package func addAdapter(path: String = VirtualAdapter.path) throws(RadioError) -> String {
        let adapter = try VirtualAdapter(path: path)
        try add(adapter)
        return adapter.name
    }

    /// Adds a controller for an adapter of this machine.
    func add(_ adapter: VirtualAdapter) throws(RadioError) {
        guard admit(adapter.descriptor, at: "vhci", adapter) else {
            throw RadioError(.unreachable, "there is no room for \(adapter.name): there are \(count) hosts")
        }
    }

    /// Disconnects every host, and stops listening.
    package func close() {
        let (doors, guests) = state.withLock { state in
            defer { state = State(isOpen: false) }
            return (state.doors, state.guests.sorted { $0.key < $1.key }.map(\.value))
        }
        for door in doors {
            EventLoop.shared.remove(door.watch)
            door.listener.close()
        }
        for guest in guests {
            guest.line.close()
            guest.controller.close()
            let error = RadioError(
                .lost, "the controllers were switched off",
                reason: HCIStatus.connectionTerminatedByLocalHost.code)
            report(.left(guest.host, error))
        }
    }

    // MARK: - Hosts

    private func watch(_ listener: ListeningSocket, _ place: String) -> EventLoop.Watch {
        EventLoop.shared.watch(listener.descriptor, .reading) { [weak self] _ in
            self?.accept(listener, place)
        }
    }

    private func accept(_ listener: ListeningSocket, _ place: String) {
        while true {
            // A listener that was closed meanwhile has no descriptor of its own any more.
            let accepted = state.withLock { state in
                guard state.doors.contains(where: { $0.listener.descriptor == listener.descriptor }) else {
                    return Result<Int32?, SystemError>.success(nil)
                }
                return listener.accept().map { .success($0) } ?? .failure(SystemError(errno))
            }
            switch accepted {
            case .success(nil): return
            case .success(let descriptor?): admit(descriptor, at: place, nil)
            case .failure(let error):
                guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.number) else { return }
                return rest(error)
            }
        }
    }

    /// Accepts no hosts for the time `pause`, after a host could not be accepted because of `error`.
    ///
    /// Otherwise the kernel would report the waiting host again and again.
    private func rest(_ error: SystemError) {
        let doors = state.withLock { $0.doors }
        for door in doors { EventLoop.shared.change(door.watch, []) }
        refuse("a host could not be accepted: \(error)")
        clock.after(Self.pause) {
            for door in doors { EventLoop.shared.change(door.watch, .reading) }
        }
    }

    private func refuse(_ message: String) {
        let isNews = state.withLock { state in
            defer { state.hasRefused = true }
            return state.isOpen && !state.hasRefused
        }
        let reason = HCIStatus.connectionLimitExceeded.code
        if isNews { report(.refused(RadioError(.connectionLimit, message, reason: reason))) }
    }

    /// The lowest free number of a controller, or `nil` if there is none.
    private func takeNumber() -> Int? {
        state.withLock { state in
            guard state.isOpen,
                let number = (1...Self.hostLimit).first(where: { !state.numbers.contains($0) })
            else { return nil }
            state.numbers.insert(number)
            return number
        }
    }

    /// Connects a host to a new controller.
    ///
    /// If there are `hostLimit` hosts already, closes the descriptor and returns `false`.
    @discardableResult
    private func admit(_ descriptor: Int32, at place: String, _ adapter: VirtualAdapter?) -> Bool {
        guard let number = takeNumber() else {
            systemClose(descriptor)
            refuse("a host was refused: there are \(Self.hostLimit) hosts, and no room for more")
            return false
        }
        let configuration = configuration(number)
        let host = ServedHost(
            number: number, name: adapter?.name ?? "\(name) \(number)", address: configuration.address,
            place: place, isAdapter: adapter != nil)
        let controller = air.transport(configuration)
        let tap = tap(host)
        let receiver = PacketReceiver(
            receive: { packet in
                tap?(packet, false)
                controller.send(packet)
            },
            ended: { [weak self] in self?.leave(number, $0) })
        let line = PacketLine(
            descriptor, adapter == nil ? .socket : .adapter, other: host.name,
            limits: adapter == nil ? .host(clock) : PacketLine.Limits(), receiver)
        // A controller that is switched on has nothing to say before it is asked.
        _ = controller.switchOn(
            receive: { [weak line] packet in
                tap?(packet, true)
                line?.send(packet)
            }, ended: { _ in })
        let isAdmitted = state.withLock { state in
            guard state.isOpen else { return false }
            state.guests[number] = Guest(host: host, line: line, controller: controller)
            return true
        }
        guard isAdmitted else {
            line.close()
            controller.close()
            return false
        }
        report(.joined(host))
        for packet in adapter?.early ?? [] { receiver.tell(packet) }
        line.start()
        return true
    }

    private func leave(_ number: Int, _ error: RadioError?) {
        let guest = state.withLock { state in
            state.hasRefused = false
            return state.guests.removeValue(forKey: number)
        }
        guard let guest else { return }
        guest.controller.close()
        var error = error ?? RadioError(.lost, "\(guest.host.name) closed the connection")
        if error.reason == nil {
            let status: HCIStatus =
                error.code == .protocolViolation ? .invalidCommandParameters : .remoteUserTerminatedConnection
            error.reason = status.code
        }
        report(.left(guest.host, error))
        // Only now, so that the number's next host is not reported before this one has left.
        state.withLock { _ = $0.numbers.remove(number) }
    }
}
