package import Mynah
package import MynahCore
package import MynahEmulator

/// A report of a phone about its device: the result of a command, or an event of the device.
package enum ConnectReport: Sendable {
    /// The step of a pairing that shows a passkey.
    package enum PasskeyStep: String, Sendable {
        /// The device's user enters the passkey.
        case display
        /// The user compares the number with the one on the device.
        case compare
    }

    case connected(DeviceAddress, name: String?)
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

    /// Shows a warning, which does not stop the session and is not part of a script's input.
    func warn(_ warning: RadioWarning)

    /// Shows a message.
    func say(_ text: String)
}
