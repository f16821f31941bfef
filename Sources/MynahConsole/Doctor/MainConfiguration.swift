/// bluetoothd's `main.conf`: a key file as GLib reads it.
package struct MainConfiguration: Hashable, Sendable {
    /// A setting of the file.
    package struct Setting: Hashable, Sendable {
        package var group: String
        package var key: String

        package init(_ group: String, _ key: String) {
            self.group = group
            self.key = key
        }
    }

    package var path: String
    private var values: [Setting: String] = [:]
    /// The settings that are there as comments.
    private var comments: Set<Setting> = []
    private var groups: Set<String> = []

    /// Reads a file; an absent one is an empty one.
    ///
    /// A line that is neither a group, nor a setting, nor a comment is ignored.
    ///
    /// Of two settings of one name the last one counts.
    package init(path: String, text: String) {
        self.path = path
        var group = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)[...]
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = String(line.dropFirst().dropLast())
                groups.insert(group)
                continue
            }
            let isComment = line.hasPrefix("#")
            let parts = line.drop { $0 == "#" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let setting = Setting(group, Self.trimmed(parts[0]))
            if isComment { comments.insert(setting) } else { values[setting] = Self.trimmed(parts[1]) }
        }
    }

    /// The value of a setting, or `nil` if the file does not set it.
    package subscript(_ group: String, _ key: String) -> String? { values[Setting(group, key)] }

    /// The command that changes a setting and has bluetoothd read the file again.
    package func command(_ group: String, _ key: String, _ value: String) -> String {
        let setting = Setting(group, key)
        let change =
            if values[setting] != nil || comments.contains(setting) {
                "sudo sed -i -E 's/^[# ]*\(key) *=.*/\(key) = \(value)/' \(path)"
            } else if groups.contains(group) {
                "sudo sed -i '/^\\[\(group)\\]/a \(key) = \(value)' \(path)"
            } else {
                "printf '[\(group)]\\n\(key) = \(value)\\n' | sudo tee -a \(path)"
            }
        return "\(change) && sudo systemctl restart bluetooth"
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var bytes = text.utf8
        while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
