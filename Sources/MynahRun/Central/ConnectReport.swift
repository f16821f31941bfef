package import Mynah
package import MynahCore
package import MynahEmulator
package import MynahProfiles

/// A report of a phone about its device: the result of a command, or an event of the device.
package enum ConnectReport: Sendable {
    /// The step of a pairing that shows a passkey.
    package enum PasskeyStep: String, Sendable {
        /// The device's user enters the passkey.
        case display
        /// The user compares the number with the one on the device.
        case compare
    }

    /// A verb of a phone whose failure is an event of its attribute.
    package enum Attempt: Sendable {
        case read(AttributePath.Target)
        case write(AttributePath.Target, [UInt8], withResponse: Bool)
        case subscription(Bool, AttributePath.Target)
    }

    /// A scan began or ended.
    case scanning(Bool, services: [BluetoothUUID])
    case discovered(Discovery)
    case connected(DeviceAddress, name: String?)
    case failedToConnect(RadioError)
    case disconnected(RadioError?)
    case mtu(Int)
    case rssi(Int8)
    case services([DiscoveredService])
    case servicesChanged(ClosedRange<AttributeHandle>)
    case read(AttributePath.Target, [UInt8])
    /// The device sent a value.
    case sent(Delivery, AttributePath.Target, [UInt8])
    /// The device sent a value from an unknown handle.
    case sentFrom(Delivery, AttributeHandle, [UInt8])
    case written(AttributePath.Target, [UInt8], withResponse: Bool)
    /// The notifications or indications of a characteristic are now on or off.
    case subscription(Bool, AttributePath.Target)
    case paired
    /// The bond was deleted.
    case forgotten
    case passkey(PasskeyStep, UInt32)
    /// A pairing asks for the passkey that the device displays.
    case passkeyWanted
    /// The connection parameters changed, or the device requested others.
    case parameters(ConnectionParameterReport)
    /// A verb failed; `failed` follows.
    case attemptFailed(Attempt, RequestError)
    /// A request failed, or the device refused it; a passkey may help.
    case failed(RequestError, needsPasskey: Bool = false)
    /// Another problem.
    case problem(String)
    /// The user asks for help.
    case help
}

/// Shows the reports of a phone about its device.
package protocol ConnectObserver: Sendable {
    func observe(_ report: ConnectReport, at time: WallTime)

    /// Shows a report about a device, which is `nil` if the report is about none.
    func observe(_ report: ConnectReport, of device: EventPeripheral?, at time: WallTime)

    /// Shows a warning, which does not stop the session and is not part of a script's input.
    func warn(_ warning: RadioWarning)

    /// Shows a message.
    func say(_ text: String)
}

extension ConnectObserver {
    package func observe(_ report: ConnectReport, of device: EventPeripheral?, at time: WallTime) {
        observe(report, at: time)
    }
}
