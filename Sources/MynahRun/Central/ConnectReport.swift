package import Mynah
package import MynahCore
package import MynahEmulator
package import MynahProfiles

/// A report of `mynah connect`: the result of a command, or an event of the device.
package enum ConnectReport: Sendable {
    /// The task of the user in a pairing with a passkey.
    package enum PasskeyStep: String, Sendable {
        /// The user types this passkey on the device.
        case display
        /// The user compares the number with the one on the device.
        case compare
    }

    /// A request for an attribute, whose failure is reported as an event of that attribute.
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
    /// The device sent a value with a handle that was not discovered.
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
    /// A request for an attribute failed; the report `failed` follows.
    case attemptFailed(Attempt, RequestError)
    /// A request failed or was refused; `needsPasskey` means that pairing with a passkey may help.
    case failed(RequestError, needsPasskey: Bool = false)
    /// Another problem, in words.
    case problem(String)
    /// The user asks for help.
    case help
}

/// Shows the reports of `mynah connect` to the user.
package protocol ConnectObserver: Sendable {
    func observe(_ report: ConnectReport, at time: WallTime)

    /// Shows a report about a device; `device` is `nil` if the report is not about a device.
    func observe(_ report: ConnectReport, of device: EventPeripheral?, at time: WallTime)

    /// Shows a warning, after which the session continues.
    func warn(_ warning: RadioWarning)

    /// Shows a message.
    func say(_ text: String)
}

extension ConnectObserver {
    package func observe(_ report: ConnectReport, of device: EventPeripheral?, at time: WallTime) {
        observe(report, at: time)
    }
}
