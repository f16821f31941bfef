import Glibc
import MynahCore
import MynahSupport

/// An adapter of this machine whose controller is a program, through the kernel's module hci_vhci
/// (drivers/bluetooth/hci_vhci.c).
///
/// The device file carries H4 packets, one with each read and write. The kernel removes the adapter when the
/// file is closed.
package struct VirtualAdapter {
    /// The module's device file.
    package static let path = "/dev/vhci"
    /// The type of the packet that requests an adapter from the kernel, and of the kernel's answer.
    private static let vendor: UInt8 = 0xFF
    /// The type of the adapter: a primary controller.
    private static let primary: UInt8 = 0x00
    /// The time in which the kernel has to answer, in milliseconds.
    private static let patience: Int32 = 1000

    /// The open device file.
    let descriptor: Int32
    /// The adapter's number: 0 for hci0.
    let index: UInt16
    /// The packets that the kernel sent before its answer.
    let early: [H4Packet]

    /// The adapter's name, such as `hci0`.
    var name: String { "hci\(index)" }

    /// Makes an adapter.
    init(path: String = path) throws(RadioError) {
        let opened = systemOpen(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw Self.trouble(SystemError(errno), path) }
        do throws(RadioError) {
            try self.init(on: opened)
        } catch {
            systemClose(opened)
            throw error
        }
    }

    /// Makes an adapter with an open device file, which is not closed if an error is thrown.
    init(on descriptor: Int32) throws(RadioError) {
        self.descriptor = descriptor
        let request = [Self.vendor, Self.primary]
        guard systemWrite(descriptor, request) == request.count else {
            throw RadioError(
                .unreachable, "the kernel made no adapter: \(SystemError(errno))",
                remedy: "end other programs that make adapters, and look at dmesg")
        }
        var early: [H4Packet] = []
        while true {
            var packet = [UInt8](repeating: 0, count: 1 << 12)
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.patience) > 0 else { throw Self.unanswered }
            let count = systemRead(descriptor, &packet)
            guard count > 0 else { throw Self.unanswered }
            if packet[0] == Self.vendor {
                guard count >= 4 else { throw Self.unanswered }
                index = UInt16(packet[2]) | UInt16(packet[3]) << 8
                self.early = early
                return
            }
            guard let type = H4PacketType(rawValue: packet[0]), early.count < 16 else {
                throw Self.unanswered
            }
            early.append(H4Packet(type, Array(packet[1..<count])))
        }
    }

    private static let unanswered = RadioError(
        .unreachable, "the kernel did not name the adapter that it made",
        remedy: "check that \(path) is the device file of the module hci_vhci")

    /// The advice for a machine without the module, which Ubuntu's cloud kernels have in another package.
    package static let remedy =
        "sudo modprobe hci_vhci; if there is no such module: "
        + "sudo apt install linux-modules-extra-$(uname -r)"

    /// Converts a system error in opening the device file to the error that is reported.
    static func trouble(_ error: SystemError, _ path: String = path) -> RadioError {
        switch error.number {
        case ENOENT, ENODEV, ENXIO:
            RadioError(
                .noAdapter, "\(path) does not exist: the kernel's module hci_vhci is not loaded",
                remedy: remedy)
        case EACCES, EPERM:
            RadioError(
                .notPermitted, "only root may open \(path)",
                remedy: "run with sudo, or give this user write access to \(path)")
        default:
            RadioError(.unreachable, "\(path) cannot be opened: \(error)", remedy: remedy)
        }
    }
}
