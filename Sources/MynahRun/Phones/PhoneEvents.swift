import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Converts the reports of a test's phone to events, which have the same names as those of apps in the
/// central role.
final class PhoneEvents: ConnectObserver {
    private let phone: String
    private let clock: RunClock
    private let pass: @Sendable (DeviceEvent) -> Void

    init(of phone: String, clock: RunClock, pass: @escaping @Sendable (DeviceEvent) -> Void) {
        self.phone = phone
        self.clock = clock
        self.pass = pass
    }

    func observe(_ report: ConnectReport, at time: WallTime) { observe(report, of: nil, at: time) }

    func observe(_ report: ConnectReport, of device: EventPeripheral?, at time: WallTime) {
        guard let (name, payload) = Self.event(report, device ?? EventPeripheral()) else { return }
        pass(DeviceEvent(time: time, name, payload, of: phone))
    }

    func warn(_ warning: RadioWarning) {
        let notice = EventPayload.notice(.init(code: warning.code, warning.message))
        pass(DeviceEvent(time: .now(clock), .warning, notice, of: phone))
    }

    func say(_ text: String) {}

    /// The name and the content of the event for a report, or `nil` if the report has no event.
    private static func event(
        _ report: ConnectReport, _ device: EventPeripheral
    ) -> (DeviceEvent.Name, EventPayload)? {
        switch report {
        case .scanning(let isOn, let services):
            var scan = EventPayload.Scan()
            let options = ScanOptions()
            (scan.services, scan.interval, scan.window) = (services, options.interval, options.window)
            return (isOn ? .scanStarted : .scanStopped, .scan(scan))
        case .discovered(let discovery):
            return (.peripheralDiscovered, .discovery(.init(discovery, device)))
        case .connected: return (.peripheralConnected, .link(.init(device)))
        case .failedToConnect(let error): return (.peripheralFailedToConnect, link(device, error))
        case .disconnected(let error): return (.peripheralDisconnected, link(device, error))
        case .services(let services):
            return (.servicesDiscovered, .remote(.init(device, uuids: services.map(\.uuid))))
        case .servicesChanged: return (.servicesChanged, .remote(.init(device)))
        case .parameters(let report): return (report.eventName, .parameters(.init(report, nil, device)))
        case .paired: return (.paired, .pairing(.init(nil, device)))
        case .passkey(let step, let number):
            let step: PairingStep = step == .display ? .display(number) : .compare(number)
            return (.pairingPasskey, .pairing(.init(nil, device, step)))
        case .passkeyWanted: return (.pairingPasskey, .pairing(.init(nil, device, .enter)))
        case .problem(let message): return (.error, .notice(.init(message, device)))
        case .read, .sent, .sentFrom, .written, .subscription, .attemptFailed:
            return ofAttribute(report, device)
        case .mtu, .rssi, .forgotten, .failed, .help: return nil
        }
    }

    private static func ofAttribute(
        _ report: ConnectReport, _ device: EventPeripheral
    ) -> (DeviceEvent.Name, EventPayload)? {
        func use(
            _ target: AttributePath.Target, _ value: [UInt8]? = nil,
            _ fill: (inout EventPayload.RemoteUse) -> Void = { _ in }
        ) -> EventPayload {
            var use = EventPayload.RemoteUse(device, target.attribute, value: value)
            fill(&use)
            return .remote(use)
        }
        switch report {
        case .read(let target, let value): return (.valueRead, use(target, value))
        case .sent(_, let target, let value): return (.valueUpdated, use(target, value))
        case .sentFrom(_, _, let value): return (.valueUpdated, .remote(.init(device, value: value)))
        case .written(let target, let value, let withResponse):
            return (.valueWritten, use(target, value) { $0.withResponse = withResponse })
        case .subscription(let isOn, let target):
            return (.notificationChanged, use(target) { $0.isOn = isOn })
        case .attemptFailed(.read(let target), let error):
            return (.valueRead, use(target) { $0.set(error) })
        case .attemptFailed(.write(let target, let value, let withResponse), let error):
            return (
                .valueWritten,
                use(target, value) {
                    $0.withResponse = withResponse
                    $0.set(error)
                }
            )
        case .attemptFailed(.subscription(let isOn, let target), let error):
            return (
                .notificationChanged,
                use(target) {
                    $0.isOn = !isOn
                    $0.set(error)
                }
            )
        default: return nil
        }
    }

    private static func link(_ device: EventPeripheral, _ error: RadioError?) -> EventPayload {
        var link = EventPayload.PeripheralLink(device)
        link.message = error?.message
        link.reason = error?.reason.map(PhoneFailure.text)
        return .link(link)
    }
}
