import MynahCore
package import MynahEmulator
import MynahProfiles
package import MynahRun

extension ConnectEvent {
    /// Makes the event for a report, with the time of the report, or `nil` if `connect` does not show it.
    package init?(_ report: ConnectReport, at time: WallTime) {
        let event: ConnectEvent? =
            switch report {
            case .connected(let address, let name): .connected(address, name: name)
            case .disconnected(let error): .disconnected(error)
            case .mtu(let mtu): .mtu(mtu)
            case .rssi(let rssi): .rssi(rssi)
            case .services(let services): .services(services)
            case .servicesChanged(let range): .servicesChanged(range)
            case .read(let target, let value): .value(.read, target, value, time: time)
            case .sent(let delivery, let target, let value):
                .value(Self.name(of: delivery), target, value, time: time)
            case .sentFrom(let delivery, let handle, let value):
                .value(Self.name(of: delivery), from: handle, value)
            case .written(let target, let value, let withResponse):
                .written(target, value, withResponse: withResponse)
            case .subscription(let isOn, let target): .subscription(isOn, target)
            case .paired: ConnectEvent(.paired, text: "paired")
            case .forgotten: ConnectEvent(.forgotten, text: "the bond is deleted")
            case .passkey(let step, let number):
                .passkey(step == .display ? .display(number) : .compare(number))
            case .failed(let error, let needsPasskey):
                .failed(error, hint: needsPasskey ? Self.passkeyHint : nil)
            case .problem(let message): .failed(message)
            case .help: .help
            case .scanning, .discovered, .failedToConnect, .passkeyWanted, .parameters, .attemptFailed: nil
            }
        guard let event else { return nil }
        self = event
        self.time = time
    }

    /// The hint for a device that requires more security, if Mynah has no passkey.
    package static let passkeyHint = "the device may need --passkey"

    private static func name(of delivery: Delivery) -> ConnectName {
        delivery == .indication ? .indicated : .notified
    }
}
