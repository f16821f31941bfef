package import Mynah
package import MynahCore
package import MynahEmulator

/// Something that a phone reports of its device: the result of a command, or what the device did by itself.
package enum ConnectReport: Sendable {
    /// The step of a pairing that shows a passkey.
    package enum PasskeyStep: String, Sendable {
        /// The device's user types it.
        case display
        /// The user compares it with the device's.
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
    /// The device sent a value from a handle whose characteristic is not known.
    case sentFrom(Delivery, AttributeHandle, [UInt8])
    case written(AttributePath.Target, [UInt8], withResponse: Bool)
    /// Whether notifications or indications of a characteristic are on now.
    case subscription(Bool, AttributePath.Target)
    case paired
    /// The bond is deleted.
    case forgotten
    case passkey(PasskeyStep, UInt32)
    /// A request that failed, or that the device refused; a passkey may help.
    case failed(RequestError, needsPasskey: Bool = false)
    /// Something else that went wrong.
    case problem(String)
    /// The user asks for the commands.
    case help
}

/// Shows the reports of a phone about its device.
package protocol ConnectObserver: Sendable {
    func observe(_ report: ConnectReport, at time: WallTime)

    /// Shows a warning, which stops nothing and is not part of a script's input.
    func warn(_ warning: RadioWarning)

    /// Shows a message.
    func say(_ text: String)
}
