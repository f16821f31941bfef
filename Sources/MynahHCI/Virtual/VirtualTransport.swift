public import MynahCore
import MynahSupport

/// A transport to a virtual controller on an air.
///
/// `open` switches a new controller on and `close` switches it off. Its peers lose their links when the
/// supervision timeout expires.
public final class VirtualTransport: HCITransport {
    private struct State {
        var station: Station?
        var receiver: PacketReceiver?
        /// The distance of the controller, or `nil` if it is out of range.
        var distance: AirDistance? = .usual
        /// The distances of the controller from devices; `nil` if the two do not receive each other.
        var devices: [DeviceAddress: AirDistance?] = [:]
    }

    private let air: LiveAir
    private let configuration: ControllerConfiguration
    /// The shared air, which stays alive as long as the transport.
    private let keeping: SharedAir?
    private let state = Lock(State())

    init(air: LiveAir, configuration: ControllerConfiguration, keeping: SharedAir? = nil) {
        self.air = air
        self.configuration = configuration
        self.keeping = keeping
    }

    deinit { close() }

    /// The station of the controller on the air, or `nil` if it is switched off.
    package var station: Station? { state.withLock { $0.station } }

    /// Whether the controller is on this air.
    package func isOn(_ air: LiveAir) -> Bool { air === self.air }

    /// Switches the controller on.
    public func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        guard switchOn(receive: receive, ended: ended) else {
            throw RadioError(.invalidState, "the transport has been opened already")
        }
    }

    /// Opens the transport without waiting.
    ///
    /// Returns `false` if it was open already.
    func switchOn(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) -> Bool {
        let receiver = PacketReceiver(receive: receive, ended: ended)
        return state.withLock { state in
            guard state.receiver == nil else { return false }
            state.receiver = receiver
            let station = air.join(configuration, receiver, at: state.distance)
            state.station = station
            for (device, distance) in state.devices { air.setDistance(distance, of: station, from: device) }
            return true
        }
    }

    /// Sets the controller's distance from all others on its air, now and after each `open`.
    ///
    /// With `nil`, the controller is out of range. If this interrupts a link, the link ends by its
    /// supervision timeout.
    public func setDistance(_ distance: AirDistance?) {
        state.withLock { state in
            state.distance = distance
            if let station = state.station { air.setDistance(distance, of: station) }
        }
    }

    /// Sets the controller's distance from the device with this address.
    ///
    /// With `nil`, the two do not receive each other.
    public func setDistance(_ distance: AirDistance?, from device: DeviceAddress) {
        state.withLock { state in
            state.devices[device] = .some(distance)
            if let station = state.station { air.setDistance(distance, of: station, from: device) }
        }
    }

    /// Removes the distance that was set from the device with this address.
    public func forgetDistance(from device: DeviceAddress) {
        state.withLock { state in
            state.devices.removeValue(forKey: device)
            if let station = state.station { air.forgetDistance(of: station, from: device) }
        }
    }

    /// Passes a packet to the controller, which answers during this call.
    public func send(_ packet: H4Packet) {
        guard let station else { return }
        air.handle(packet, of: station)
    }

    /// Switches the controller off.
    public func close() {
        let (station, receiver) = state.withLock { state in
            defer { state = State(distance: state.distance, devices: state.devices) }
            return (state.station, state.receiver)
        }
        if let station { air.leave(station) }
        receiver?.close()
    }
}
