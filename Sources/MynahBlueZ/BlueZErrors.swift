import MynahCore
import MynahDBus
import MynahSupport

/// Converts ATT errors to D-Bus errors (as bluetoothd's dbus_error_to_att_ecode does), and bluetoothd's
/// errors to radio errors.
enum BlueZErrors {
    private static let names: [UInt8: String] = [
        0x06: "NotSupported", 0x07: "InvalidOffset", 0x08: "NotAuthorized", 0x0D: "InvalidValueLength",
        0xFE: "InProgress",
    ]

    /// Returns the ATT error codes that the radio can send to a central.
    static func codes(version: BlueZVersion, isRead: Bool) -> [UInt8] {
        var codes: [UInt8] = Array(names.keys) + [0x0E, isRead ? 0x02 : 0x03] + ATTError.applicationCodes
        if version >= BlueZVersion(5, 76) { codes.append(0xFD) }
        return codes
    }

    /// Returns the D-Bus error that bluetoothd converts to this ATT error code.
    ///
    /// If there is none, returns one that it converts to 0x0E.
    static func answer(for error: ATTError, isRead: Bool) -> DBusError {
        let code = error.code
        if ATTError.applicationCodes.contains(code) { return named("Failed", "0x" + Hex.encode([code])) }
        if let name = names[code] { return named(name, error.description) }
        switch code {
        case 0x02 where isRead, 0x03 where !isRead: return named("NotPermitted", error.description)
        case 0xFD: return named("ImproperlyConfigured", error.description)
        // An empty message becomes 0x0E; any other text that is not a number would become 0x80.
        default: return named("Failed", "")
        }
    }

    private static func named(_ name: String, _ message: String) -> DBusError {
        DBusError(DBusError.Name(rawValue: "org.bluez.Error." + name), message)
    }

    /// The error of a call while no connection owns bluetoothd's name.
    static let notRunning = RadioError(
        .unreachable, "bluetoothd is not running", remedy: "start it: sudo systemctl start bluetooth")

    /// Returns the radio error for a failed call, with a remedy.
    ///
    /// `what` is a phrase for the message, as in "refused naming the adapter".
    static func radioError(_ error: DBusError, doing what: String) -> RadioError {
        switch error.name.rawValue {
        case DBusError.Name.serviceUnknown.rawValue, DBusError.Name.nameHasNoOwner.rawValue:
            return notRunning
        case let name
        where name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
            || name.hasPrefix("org.freedesktop.systemd1."):
            return RadioError(
                .unreachable, "bluetoothd is not running, and the bus could not start it (\(error.message))",
                remedy: "start it: sudo systemctl start bluetooth")
        case DBusError.Name.noReply.rawValue where error.message.contains("disconnected from message bus"):
            return RadioError(.lost, "bluetoothd disappeared while \(what)")
        case DBusError.Name.noServer.rawValue, DBusError.Name.fileNotFound.rawValue:
            return RadioError(
                .unreachable, "there is no D-Bus system bus here (\(error.message))",
                remedy: "start it: sudo systemctl start dbus")
        case DBusError.Name.accessDenied.rawValue, "org.freedesktop.DBus.Error.AuthFailed":
            return RadioError(
                .notPermitted, "this user may not talk to bluetoothd (\(error.message))",
                remedy: "run it as a user of the group bluetooth, or as root")
        case DBusError.Name.noReply.rawValue, "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            return RadioError(
                .timedOut, "bluetoothd did not answer while \(what)",
                remedy: "restart it: sudo systemctl restart bluetooth")
        case DBusError.Name.disconnected.rawValue:
            return RadioError(.lost, "the connection to the D-Bus system bus ended while \(what)")
        case "org.bluez.Error.Busy", "org.bluez.Error.InProgress":
            return RadioError(.busy, "bluetoothd is busy with \(what)", remedy: "try again")
        case "org.bluez.Error.Blocked":
            return RadioError(
                .blocked, "the adapter is blocked by rfkill", remedy: "sudo rfkill unblock bluetooth")
        default:
            return RadioError(.protocolViolation, "bluetoothd refused \(what): \(error)")
        }
    }

    /// The error if other applications use all advertising sets.
    static let noAdvertisingSet = RadioError(
        .noAdvertisingSet, "every advertising set of the adapter is taken by other applications",
        remedy: "end one of them; `bluetoothctl show` counts the sets (ActiveInstances)")

    /// The error for more sets than the adapter has room for.
    static func noAdvertisingSet(for wanted: Int, of most: Int) -> RadioError {
        RadioError(
            .noAdvertisingSet,
            "\(wanted) advertising sets are requested, and the adapter has room for \(most)",
            remedy: noAdvertisingSet.remedy)
    }

    /// Returns the radio error for a refused advertisement, with a clearer message than bluetoothd's.
    static func advertisementError(_ error: DBusError) -> RadioError {
        switch (error.name.rawValue, error.message) {
        case ("org.bluez.Error.NotPermitted", _):
            return noAdvertisingSet
        case ("org.bluez.Error.Failed", let text) where text.contains("register advertisement"):
            return RadioError(
                .advertisementRefused,
                "the kernel refused the advertisement, although it fits",
                remedy:
                    """
                    some 6.12 and 6.18 kernels refuse every advertisement from BlueZ before 5.87; try \
                    another \
                    kernel or BlueZ
                    """
            )
        case ("org.bluez.Error.Failed", let text) where text.contains("parse"):
            return RadioError(
                .advertisementRefused, "bluetoothd does not understand the advertisement (\(text))")
        default:
            return radioError(error, doing: "registering the advertisement")
        }
    }

    /// Returns the radio error for refused services.
    static func servicesError(_ error: DBusError) -> RadioError {
        guard error.name.rawValue.hasPrefix("org.bluez.Error.") else {
            return radioError(error, doing: "registering the services")
        }
        return RadioError(
            .servicesRefused, "bluetoothd refused the services (\(error.message))",
            remedy: "its log says why: journalctl -u bluetooth")
    }
}

extension RadioError.Code {
    /// The error code if bluetoothd is already carrying out the same procedure.
    static let busy = RadioError.Code(rawValue: "busy")
}
