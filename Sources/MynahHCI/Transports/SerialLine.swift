import Glibc
import MynahCore
import MynahSupport

/// Opens a terminal device for H4.
enum SerialLine {
    /// The default baud rate, which most boards use.
    static let usualBaud = 1_000_000

    /// Returns the constant of termios for a baud rate, or `nil` if there is none.
    static func speed(_ baud: Int) -> speed_t? {
        switch baud {
        case 9600: speed_t(B9600)
        case 19200: speed_t(B19200)
        case 38400: speed_t(B38400)
        case 57600: speed_t(B57600)
        case 115200: speed_t(B115200)
        case 230400: speed_t(B230400)
        case 460800: speed_t(B460800)
        case 500_000: speed_t(B500000)
        case 921600: speed_t(B921600)
        case 1_000_000: speed_t(B1000000)
        case 1_500_000: speed_t(B1500000)
        case 2_000_000: speed_t(B2000000)
        case 3_000_000: speed_t(B3000000)
        case 4_000_000: speed_t(B4000000)
        default: nil
        }
    }

    /// The error that opening a device would cause, or `nil` if no obstacle is known.
    ///
    /// The device is not opened to find this out, because that may reset a board. Throws `Unknown` if the
    /// kernel does not list its terminals.
    static func problem(_ path: String) throws(Unknown) -> RadioError? {
        var status = stat()
        guard stat(path, &status) == 0 else { return error(SystemError(errno), path) }
        guard status.st_mode & S_IFMT == S_IFCHR else { return noTerminal(path) }
        guard access(path, R_OK | W_OK) == 0 else { return error(SystemError(errno), path) }
        guard let drivers = Descriptor.contents(of: "/proc/tty/drivers") else { throw Unknown() }
        let device = Device(status.st_rdev)
        return isTerminal(device, in: drivers) && !device.isAbsent ? nil : noTerminal(path)
    }

    /// The error if the kernel does not list its terminals.
    struct Unknown: Error {}

    /// The major and minor number of a device.
    struct Device {
        var major: UInt64
        var minor: UInt64

        init(major: UInt64, minor: UInt64) { (self.major, self.minor) = (major, minor) }

        /// Splits the device number of the C library.
        init(_ number: dev_t) {
            let number = UInt64(number)
            major = number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000
            minor = number & 0xFF | number >> 12 & 0xFFFF_FF00
        }

        /// `true` for a serial port for which the kernel has found no hardware (`PORT_UNKNOWN`).
        var isAbsent: Bool { Descriptor.contents(of: "/sys/dev/char/\(major):\(minor)/type") == "0\n" }
    }

    /// Whether a device is one of the terminals in the text of `/proc/tty/drivers`.
    ///
    /// The columns of a line are: driver, path, major number, range of minor numbers, and type.
    static func isTerminal(_ device: Device, in drivers: String) -> Bool {
        drivers.split(separator: "\n").contains { line in
            let columns = line.split(separator: " ")
            guard columns.count >= 4, UInt64(columns[2]) == device.major else { return false }
            let minors = columns[3].split(separator: "-").compactMap { UInt64($0) }
            guard let first = minors.first, let last = minors.last, first <= last else { return false }
            return (first...last).contains(device.minor)
        }
    }

    private static func noTerminal(_ path: String) -> RadioError {
        RadioError(
            .unreachable, "\(path) is not a serial device or terminal",
            remedy: "connect the board; ls /dev/tty* lists serial devices")
    }

    private static func error(_ error: SystemError, _ path: String) -> RadioError {
        switch error.number {
        case EACCES:
            RadioError(
                .notPermitted, "\(path) cannot be opened: \(error)",
                remedy: "add yourself to the group that ls -l \(ShellWord.quoted(path)) shows")
        case ENOENT:
            RadioError(
                .unreachable, "\(path) cannot be opened: \(error)",
                remedy: "connect the board; ls /dev/tty* lists serial devices")
        default: RadioError(.unreachable, "\(path) cannot be opened: \(error)")
        }
    }

    /// Opens a device in raw mode, in which bytes are not changed.
    static func open(_ path: String, baud: Int?) throws(RadioError) -> Int32 {
        let descriptor = systemOpen(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw error(SystemError(errno), path)
        }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            close(descriptor)
            throw noTerminal(path)
        }
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if let baud, let speed = speed(baud) {
            cfsetispeed(&settings, speed)
            cfsetospeed(&settings, speed)
            // H4 does not tolerate lost bytes, so flow control is needed (Core Specification, Vol 4, Part A,
            // 3).
            settings.c_cflag |= tcflag_t(CRTSCTS)
        }
        guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            let error = SystemError(errno)
            close(descriptor)
            throw RadioError(.unreachable, "\(path) does not accept the settings: \(error)")
        }
        return descriptor
    }
}
