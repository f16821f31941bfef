import Glibc
import MynahCore
import MynahSupport

/// Opens an adapter of this machine exclusively, through the kernel's user channel (`HCI_CHANNEL_USER`).
enum UserChannel {
    // From <bluetooth/bluetooth.h> and <bluetooth/hci.h>, which may not be installed.
    private static let family: Int32 = 31
    private static let hciProtocol: Int32 = 1
    private static let channel: UInt16 = 1

    /// A socket address in the layout of `struct sockaddr_hci`.
    private struct Address {
        var family: UInt16
        var device: UInt16
        var channel: UInt16
    }

    static func open(_ number: UInt16) throws(RadioError) -> Int32 {
        let descriptor: Int32
        switch Descriptor.socket(family, Descriptor.raw, hciProtocol) {
        case .success(let made): descriptor = made
        case .failure(let error): throw trouble(error, number)
        }
        var address = Address(family: UInt16(family), device: number, channel: channel)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard bound == 0 else {
            let error = SystemError(errno)
            close(descriptor)
            throw trouble(error, number)
        }
        return descriptor
    }

    /// Converts the error of a system call to the error that is reported.
    static func trouble(_ error: SystemError, _ number: UInt16) -> RadioError {
        let name = "hci\(number)"
        return switch error.number {
        case EBUSY:
            RadioError(
                .unreachable, "\(name) is in use: a user channel needs an adapter that is off",
                remedy: "bluetoothctl power off, or stop bluetoothd: sudo systemctl stop bluetooth")
        case EPERM, EACCES:
            RadioError(
                .notPermitted, "only root may open a user channel on \(name)",
                remedy: "run with sudo, or grant cap_net_admin with setcap")
        case ENODEV:
            RadioError(
                .noAdapter, "there is no adapter \(name)",
                remedy: "ls /sys/class/bluetooth lists the adapters")
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            RadioError(
                .noAdapter, "this kernel has no Bluetooth",
                remedy: "sudo modprobe bluetooth, or use another radio"
            )
        case ERFKILL:
            RadioError(.blocked, "\(name) is blocked", remedy: "sudo rfkill unblock bluetooth")
        default:
            RadioError(.unreachable, "a user channel on \(name) cannot be opened: \(error)")
        }
    }
}
