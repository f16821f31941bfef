import Glibc
import MynahSupport
import MynahTestSupport
import Testing

/// A terminal of a test's own, with what a program draws on it.
final class Terminal: Sendable {
    /// The program's end.
    let device: Int32
    let output: OutputReader
    /// The end where somebody types.
    private let keyboard: Int32
    private let isOpen = Lock(true)

    init(rows: UInt16 = 40, columns: UInt16 = 100) throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // <asm/ioctls.h>, whose macros Swift does not import: unlock it, and get its number.
        let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var no: Int32 = 0
        var number: Int32 = -1
        let isReady = ioctl(master, unlock, &no) == 0 && ioctl(master, getNumber, &number) == 0
        try #require(isReady)
        device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(device >= 0)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(device, UInt(TIOCSWINSZ), &size)
        keyboard = dup(master)
        _ = fcntl(keyboard, F_SETFD, FD_CLOEXEC)
        output = OutputReader(reading: master)
        output.start()
    }

    deinit {
        closeDevice()
        close(keyboard)
    }

    private func closeDevice() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { close(device) }
    }

    /// Everything that was drawn, when the programs on it have ended; no other can use it then.
    func end() async throws -> String {
        closeDevice()
        return try await output.text()
    }

    /// Types a text, which a program that reads it by the key gets at once.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(keyboard, bytes, bytes.count)
    }

    /// Has it show what is typed, and hand it on by the line, as a shell does when it has stopped a program.
    func setAsUsual() {
        var settings = termios()
        tcgetattr(device, &settings)
        settings.c_lflag |= tcflag_t(ECHO | ICANON)
        tcsetattr(device, TCSANOW, &settings)
    }

    /// Whether it shows what is typed, and hands it on by the line, as a shell expects it.
    var isAsUsual: Bool {
        var settings = termios()
        let wanted = tcflag_t(ECHO | ICANON)
        return tcgetattr(device, &settings) == 0 && settings.c_lflag & wanted == wanted
    }
}
