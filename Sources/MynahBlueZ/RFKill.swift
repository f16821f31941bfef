import Glibc
import MynahCore

/// The kernel's rfkill switches, which bluetoothd 5.66 does not report.
struct RFKill {
    /// The directory in which the kernel lists the switches.
    var directory = "/sys/class/rfkill"

    /// Returns the error if rfkill blocks the adapter `hciN`, or `nil` if it does not.
    func error(for adapter: String) -> RadioError? {
        guard let list = opendir(directory) else { return nil }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix("rfkill"), read("\(name)/name") == adapter else { continue }
            if read("\(name)/hard") == "1" {
                return RadioError(
                    .blocked, "the adapter \(adapter) is blocked by a switch (rfkill, hard)",
                    remedy: "turn the machine's wireless switch on, or Bluetooth on in its firmware")
            }
            if read("\(name)/soft") == "1" {
                return RadioError(
                    .blocked, "the adapter \(adapter) is blocked by rfkill",
                    remedy: "rfkill unblock bluetooth")
            }
        }
        return nil
    }

    /// Returns the first line of a short file.
    private func read(_ path: String) -> String? {
        let file = open("\(directory)/\(path)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
