import Glibc
import MynahSupport

/// Queries the kernel's Bluetooth subsystem through its management channel (`HCI_CHANNEL_CONTROL`).
///
/// The queries change nothing, and need no privileges.
package enum ManagementChannel {
    /// The reason that a query failed.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The settings of an adapter that matter to a host.
    package struct Settings: Hashable, Sendable {
        package var isPowered: Bool
        package var supportsLE: Bool
        package var isLEOn: Bool
    }

    // From <bluetooth/bluetooth.h>, <bluetooth/hci.h> and <bluetooth/mgmt.h>, which may not be installed.
    private static let family: Int32 = 31
    private static let hciProtocol: Int32 = 1
    private static let noDevice: UInt16 = 0xFFFF
    private static let channel: UInt16 = 3
    static let readControllerInformation: UInt16 = 0x0004
    static let commandComplete: UInt16 = 0x0001
    static let commandStatus: UInt16 = 0x0002
    /// The time limit for the kernel's answer.
    private static let limit: Duration = .seconds(2)

    /// The reason that this process cannot open a Bluetooth socket, or `nil` if it can.
    ///
    /// The first such socket makes the kernel load its Bluetooth modules, so use this only if they are
    /// loaded.
    package static var socketProblem: String? {
        switch Descriptor.socket(family, Descriptor.raw, hciProtocol) {
        case .failure(let error): return error.description
        case .success(let made):
            close(made)
            return nil
        }
    }

    /// Returns the settings of the adapter `hciN`.
    package static func settings(of index: UInt16) throws(Problem) -> Settings {
        let descriptor: Int32
        switch Descriptor.socket(family, Descriptor.raw, hciProtocol) {
        case .success(let made): descriptor = made
        case .failure(let error): throw Problem(description: "a Bluetooth socket cannot be made: \(error)")
        }
        defer { close(descriptor) }
        // As `struct sockaddr_hci`.
        var address = (UInt16(family), noDevice, channel)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<(UInt16, UInt16, UInt16)>.size))
            }
        }
        guard bound == 0 else {
            throw Problem(description: "the management channel cannot be opened: \(SystemError(errno))")
        }
        guard case .moved = Descriptor.send(descriptor, command(readControllerInformation, of: index)) else {
            throw Problem(description: "the kernel cannot be asked: \(SystemError(errno))")
        }
        let end = ContinuousClock.now + Self.limit
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let left = ContinuousClock.now.duration(to: end)
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > .zero, poll(&ready, 1, Int32(left / .milliseconds(1)) + 1) != 0 else {
                throw Problem(
                    description: "the kernel did not answer within \(Self.limit.components.seconds) s")
            }
            switch Descriptor.receive(descriptor, into: &buffer) {
            case .moved(let count):
                // Other events may precede the answer.
                if let answer = try settings(in: buffer[..<count], of: index) { return answer }
            case .blocked: continue
            case .ended: throw Problem(description: "the kernel has closed the management channel")
            case .failed(let number):
                throw Problem(description: "the kernel's answer cannot be read: \(SystemError(number))")
            }
        }
    }

    /// Makes a command without parameters.
    static func command(_ opcode: UInt16, of index: UInt16) -> [UInt8] {
        [opcode, index, 0].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    /// Returns the settings in an event, or `nil` if it is a different event.
    static func settings(in event: ArraySlice<UInt8>, of index: UInt16) throws(Problem) -> Settings? {
        let bytes = Array(event)
        func number(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
        // The event, the index and the length, followed by the command and its status.
        guard bytes.count >= 9, number(2) == index, number(6) == readControllerInformation else { return nil }
        guard number(0) == commandComplete || number(0) == commandStatus else { return nil }
        guard bytes[8] == 0 else {
            throw Problem(description: "the kernel refuses with the management status \(bytes[8])")
        }
        // The address, the version and the manufacturer, followed by the supported and the current settings.
        guard number(0) == commandComplete, bytes.count >= 26 else {
            throw Problem(description: "the kernel's answer is too short")
        }
        let supported = UInt32(number(18)) | UInt32(number(20)) << 16
        let current = UInt32(number(22)) | UInt32(number(24)) << 16
        let (powered, lowEnergy) = (UInt32(1) << 0, UInt32(1) << 9)
        return Settings(
            isPowered: current & powered != 0, supportsLE: supported & lowEnergy != 0,
            isLEOn: current & lowEnergy != 0)
    }
}
