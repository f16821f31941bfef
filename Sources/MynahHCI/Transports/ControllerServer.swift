package import MynahCore
import MynahSupport

/// Offers controllers of an air to other host stacks, over sockets with H4.
///
/// Each connection gets a new controller.
package final class ControllerServer: Sendable {
    private struct Guest {
        var line: PacketLine
        var controller: VirtualTransport
    }

    private struct State {
        var listener: ListeningSocket?
        var watch: EventLoop.Watch?
        var guests: [Int: Guest] = [:]
        var last = 0
    }

    private let air: LiveAir
    private let configuration: @Sendable (_ number: Int) -> ControllerConfiguration
    private let state = Lock(State())

    /// Makes a server that does not listen yet.
    ///
    /// `configuration` returns the configuration of each controller; controllers are numbered from 1.
    package init(air: LiveAir, configuration: @escaping @Sendable (_ number: Int) -> ControllerConfiguration)
    {
        self.air = air
        self.configuration = configuration
    }

    deinit { close() }

    /// The number of connected hosts.
    package var count: Int { state.withLock { $0.guests.count } }

    /// Listens at a `tcp-server:` or `unix-server:` address; returns the port of a `tcp-server:` address.
    @discardableResult
    package func listen(on address: HCITransportAddress) async throws(RadioError) -> UInt16? {
        let listener: ListeningSocket
        switch address {
        case .tcpServer(let host, let port):
            listener = try await ListeningSocket.listening(host: host, port: port)
        case .unixServer(let path): listener = try await ListeningSocket.listening(path: path)
        default: throw RadioError(.invalidState, "hosts cannot connect to \(address)")
        }
        let isFirst = state.withLock { state in
            guard state.listener == nil else { return false }
            state.listener = listener
            state.watch = EventLoop.shared.watch(listener.descriptor, .reading) { [weak self] _ in
                self?.accept()
            }
            return true
        }
        guard isFirst else {
            listener.close()
            throw RadioError(.invalidState, "the server listens already")
        }
        return listener.port
    }

    /// Disconnects every host, and stops listening.
    package func close() {
        let guests = state.withLock { state in
            if let watch = state.watch { EventLoop.shared.remove(watch) }
            state.listener?.close()
            defer {
                state.listener = nil
                state.watch = nil
                state.guests = [:]
            }
            return state.guests.values.map { $0 }
        }
        for guest in guests {
            guest.line.close()
            guest.controller.close()
        }
    }

    private func accept() {
        while let descriptor = state.withLock({ $0.listener?.accept() }) {
            let number = state.withLock { state in
                state.last += 1
                return state.last
            }
            let controller = air.transport(configuration(number))
            let receiver = PacketReceiver(
                receive: { controller.send($0) }, ended: { [weak self] _ in self?.leave(number) })
            let line = PacketLine(descriptor, .socket, other: "host \(number)", receiver)
            // A new controller sends nothing before it receives a command.
            let isOn = controller.switchOn(receive: { [weak line] in line?.send($0) }, ended: { _ in })
            guard isOn else { continue }
            state.withLock { $0.guests[number] = Guest(line: line, controller: controller) }
            line.start()
        }
    }

    private func leave(_ number: Int) {
        let guest = state.withLock { $0.guests.removeValue(forKey: number) }
        guest?.controller.close()
    }
}
