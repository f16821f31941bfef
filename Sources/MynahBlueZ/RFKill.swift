import Glibc
package import MynahCore
import MynahSupport

/// The kernel's rfkill switches, which bluetoothd 5.66 does not report.
package struct RFKill: Sendable {
    /// A switch that can turn off an adapter's radio.
    package struct Switch: Hashable, Sendable {
        /// The name of the adapter, such as `hci0`, or of the machine's own switch.
        package var name: String
        /// Whether hardware or firmware blocks the adapter.
        package var isHard: Bool
        /// Whether software blocks the adapter.
        package var isSoft: Bool

        /// The error of a radio that this switch blocks, or `nil` if the switch blocks nothing.
        package var error: RadioError? {
            if isHard {
                return RadioError(
                    .blocked, "the adapter \(name) is blocked by a switch (rfkill, hard)",
                    remedy: "turn the machine's wireless switch on, or Bluetooth on in its firmware")
            }
            guard isSoft else { return nil }
            return RadioError(
                .blocked, "the adapter \(name) is blocked by rfkill", remedy: "sudo rfkill unblock bluetooth")
        }
    }

    /// The directory in which the kernel lists the switches.
    package var directory: String

    /// Makes the list of the switches in a directory.
    package init(directory: String = "/sys/class/rfkill") { self.directory = directory }

    /// Returns the error of the switch that blocks the adapter `hciN`, or `nil` if none blocks it.
    func error(for adapter: String) -> RadioError? {
        switches { read("\($0)/name") == adapter }.lazy.compactMap(\.error).first
    }

    /// The switches for Bluetooth, or `nil` if the kernel lists no switches at all.
    package var bluetooth: [Switch]? {
        guard access(directory, R_OK) == 0 else { return nil }
        return switches { read("\($0)/type") == "bluetooth" }
    }

    private func switches(where isWanted: (_ entry: String) -> Bool) -> [Switch] {
        var found: [Switch] = []
        for entry in Directory.names(in: directory) ?? [] {
            guard entry.hasPrefix("rfkill"), isWanted(entry) else { continue }
            found.append(
                Switch(
                    name: read("\(entry)/name") ?? entry, isHard: read("\(entry)/hard") == "1",
                    isSoft: read("\(entry)/soft") == "1"))
        }
        return found.sorted { $0.name < $1.name }
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
