import Mynah
package import MynahCore
package import MynahProfiles
import MynahSupport

/// Requests connection parameters from centrals: for an accessory after a delay, or on behalf of an app.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class ParameterRequests {
    private let devices: PlayedDevices
    private let phone: Phone
    private let clock: RunClock
    private let link: EmulatorLink
    /// The scheduled requests, by the central's identifier.
    private var tasks = SortedMap<UInt32, Task<Void, Never>>()

    init(of devices: PlayedDevices, on phone: Phone, clock: RunClock, link: EmulatorLink) {
        self.devices = devices
        self.phone = phone
        self.clock = clock
        self.link = link
    }

    /// Schedules or cancels requests when a link to a central begins or ends.
    func follow(_ event: PhoneEvent) {
        switch event {
        case .connected(let central):
            guard let player = devices.players.first, let request = player.memory.device.parameterRequest
            else {
                return
            }
            begin(
                central.id,
                link.enqueue(at: clock.now.advanced(by: request.delay), on: clock) {
                    [index = player.link.index] in
                    await $0.control.parameters.request(request.wanted, of: central.id, for: index)
                })
        case .disconnected(let central): end(central.id)
        case .lost: endAll()
        default: break
        }
    }

    private func begin(_ central: Peer.ID, _ task: Task<Void, Never>) {
        tasks[central.rawValue]?.cancel()
        tasks[central.rawValue] = task
    }

    private func end(_ central: Peer.ID) { tasks.removeValue(forKey: central.rawValue)?.cancel() }

    /// Cancels all scheduled requests.
    func endAll() {
        for task in tasks.values { task.cancel() }
        tasks = SortedMap()
    }

    fileprivate func request(
        _ wanted: ConnectionParameterRange, of central: Peer.ID, for index: Int
    ) async {
        // If the radio cannot send requests, the check of the profile has already reported that.
        guard await phone.capabilities?.requestsConnectionLatency == true,
            let player = devices.player(index), let manager = player.manager
        else { return }
        do throws(RadioError) {
            // The answer is an event.
            try await manager.requestConnectionParameters(wanted, of: central)
        } catch {
            // The end of the link or of the radio was already reported.
            guard devices.isRunning, ![.disconnected, .lost, .invalidState].contains(error.code) else {
                return
            }
            player.events.warn("parametersNotRequested", "\(error)")
        }
    }
}

extension PlayerLink {
    /// Requests a connection latency from a central on behalf of the app.
    func requestLatency(_ latency: ConnectionLatency, of central: Central.ID) {
        emulator.enqueue { [index] in
            await $0.control.parameters.request(.init(latency), of: central, for: index)
        }
    }
}

extension EventPayload.Parameters {
    /// Makes the payload for a report about the link to a central or to a peripheral.
    package init(
        _ report: ConnectionParameterReport, _ central: EventCentral?, _ peripheral: EventPeripheral
    ) {
        self.init()
        self.central = central
        self.peripheral = peripheral
        let range: ConnectionParameterRange
        switch report.content {
        case .changed(let new): range = new
        case .requested(let request):
            range = request.wanted
            longestInterval = range.longestInterval
            procedure = request.procedure.rawValue
            isAccepted = request.isAccepted
            rule = request.refusal?.rule.rawValue
            message = request.refusal?.message
        }
        interval = range.shortestInterval
        latency = Int(range.latency)
        supervisionTimeout = range.supervisionTimeout
    }
}

extension ConnectionParameterReport {
    package var eventName: DeviceEvent.Name {
        switch content {
        case .requested: .parametersRequested
        case .changed: .parametersChanged
        }
    }
}
