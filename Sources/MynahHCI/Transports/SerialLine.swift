import Glibc
import MynahCore

/// A terminal device as a line of bytes.
enum SerialLine {
    /// The rate of most boards.
    static let usualBaud = 1_000_000

    /// The constant of termios for a rate.
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

    /// Opens a device so that bytes go through it as they are.
    static func open(_ path: String, baud: Int?) throws(RadioError) -> Int32 {
        let descriptor = systemOpen(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError(errno)
            throw RadioError(
                error.number == EACCES ? .notPermitted : .unreachable, "\(path) cannot be opened: \(error)",
                remedy: error.number == EACCES ? "add yourself to the group that ls -l \(path) shows" : nil)
        }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            close(descriptor)
            throw RadioError(.unreachable, "\(path) is not a serial device or terminal")
        }
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if let baud, let speed = speed(baud) {
            cfsetispeed(&settings, speed)
            cfsetospeed(&settings, speed)
            // H4 knows no lost bytes, so the line has to be held (Core Specification, Vol 4, Part A, 3).
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
