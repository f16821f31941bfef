import MynahDBus

/// An ATT error that reached the central.
public struct ATTFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error code (Core Specification, Vol 3, Part F, 3.4.1.1).
    public let code: UInt8

    /// An error of this code.
    public init(_ code: UInt8) { self.code = code }

    /// The code in hexadecimal.
    public var description: String { "ATT 0x" + String(code, radix: 16, uppercase: true) }

    static let readNotPermitted = ATTFailure(0x02)
    static let writeNotPermitted = ATTFailure(0x03)
    static let authentication = ATTFailure(0x05)
    static let notSupported = ATTFailure(0x06)
    static let prepareQueueFull = ATTFailure(0x09)
    static let attributeNotFound = ATTFailure(0x0A)
    static let valueLength = ATTFailure(0x0D)
    static let unlikely = ATTFailure(0x0E)
    static let encryption = ATTFailure(0x0F)
    static let cccImproperlyConfigured = ATTFailure(0xFD)

    /// Maps an application's error as bluetoothd does (its `dbus_error_to_att_ecode`).
    init(_ error: DBusError, writing: Bool, version: BlueZVersion) {
        switch error.name.rawValue {
        case "org.bluez.Error.Failed": self.init(ATTFailure.code(inMessage: error.message))
        case "org.bluez.Error.NotSupported": self.init(0x06)
        case "org.bluez.Error.NotAuthorized": self.init(0x08)
        case "org.bluez.Error.InvalidValueLength": self.init(0x0D)
        case "org.bluez.Error.InvalidOffset": self.init(0x07)
        case "org.bluez.Error.InProgress": self.init(0xFE)
        case "org.bluez.Error.NotPermitted": self.init(writing ? 0x03 : 0x02)
        case "org.bluez.Error.ImproperlyConfigured" where version.knowsImproperlyConfigured: self.init(0xFD)
        default: self.init(0x0E)
        }
    }

    /// As `strtol` reads it with base 0: a number from 0x80 to 0x9F is the code, another 0x0E, no number
    /// 0x80.
    private static func code(inMessage message: String) -> UInt8 {
        if message.isEmpty { return 0x0E }
        let number: Int?
        if message.lowercased().hasPrefix("0x") {
            number = Int(message.dropFirst(2), radix: 16)
        } else if message.count > 1, message.hasPrefix("0") {
            number = Int(message.dropFirst(), radix: 8)
        } else {
            number = Int(message)
        }
        guard let number else { return 0x80 }
        return UInt8(exactly: number).flatMap { (0x80...0x9F).contains($0) ? $0 : nil } ?? 0x0E
    }
}
