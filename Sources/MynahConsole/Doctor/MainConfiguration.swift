import MynahSupport

/// The configuration file `main.conf` of bluetoothd, a key file in GLib's format.
package struct MainConfiguration: Hashable, Sendable {
    /// The group and the key of a setting.
    package struct Setting: Hashable, Sendable {
        package var group: String
        package var key: String

        package init(_ group: String, _ key: String) {
            self.group = group
            self.key = key
        }
    }

    /// A syntax error, which makes GLib, and so bluetoothd, ignore the whole file.
    package struct Fault: Hashable, Sendable {
        /// The line number, counted from 1.
        package var line: Int
        package var reason: String
    }

    package var path: String
    /// The first line with a syntax error, or `nil` if there is none.
    package private(set) var fault: Fault?
    private var values: [Setting: String] = [:]
    /// The settings that occur in the file, even in a comment or after a syntax error.
    private var lines: Set<Setting> = []
    private var groups: Set<String> = []

    /// Parses the text of a file, which is empty if the file is missing.
    ///
    /// If a setting occurs twice, the last value is used.
    package init(path: String, text: String) {
        self.path = path
        var group: String?
        for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = Self.trimmed(Substring(line))
            do throws(Trouble) {
                if let name = try Self.group(line) {
                    group = name
                    groups.insert(name)
                } else {
                    try readLine(line, in: group)
                }
            } catch {
                fault = fault ?? Fault(line: index + 1, reason: error.reason)
            }
        }
        if fault != nil { values = [:] }
    }

    /// The reason why GLib refuses a line.
    private struct Trouble: Error {
        var reason: String
    }

    /// The name of the group that a line begins, or `nil` if the line does not begin a group.
    private static func group(_ line: String) throws(Trouble) -> String? {
        guard line.hasPrefix("["), line.hasSuffix("]"), line.utf8.count(where: { $0 == 0x5D }) == 1 else {
            return nil
        }
        let name = line.dropFirst().dropLast()
        guard !name.isEmpty, !name.contains("["), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Trouble(reason: "\(line) is not the name of a group")
        }
        return String(name)
    }

    private mutating func readLine(_ line: String, in group: String?) throws(Trouble) {
        let isComment = line.hasPrefix("#")
        if line.isEmpty { return }
        let parts = line.drop { $0 == "#" }.split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let key = Self.trimmed(parts[0])
        guard !isComment else {
            if parts.count == 2, let group { lines.insert(Setting(group, key)) }
            return
        }
        guard parts.count == 2, !key.isEmpty else {
            throw Trouble(reason: "\(line) is not a setting, a group or a comment")
        }
        guard let group else { throw Trouble(reason: "\(line) is in no group") }
        guard Self.isKey(key) else { throw Trouble(reason: "\(key) is not the name of a setting") }
        lines.insert(Setting(group, key))
        values[Setting(group, key)] = Self.trimmed(parts[1])
    }

    /// Whether a text is a valid key, which may end with a language in brackets.
    private static func isKey(_ key: String) -> Bool {
        guard let open = key.firstIndex(where: { $0 == "[" || $0 == "]" }) else { return true }
        let language = key[open...]
        return open > key.startIndex && language.first == "[" && language.last == "]"
            && language.dropFirst().dropLast().allSatisfy {
                $0.isLetter || $0.isNumber || "-_.@".contains($0)
            }
    }

    /// The value of a setting, or `nil` if the file does not set it.
    package subscript(_ group: String, _ key: String) -> String? { values[Setting(group, key)] }

    /// The command that changes a setting and restarts bluetoothd.
    package func command(_ group: String, _ key: String, _ value: String) -> String {
        let setting = Setting(group, key)
        let change =
            if lines.contains(setting) {
                "sudo sed -i -E 's/^[# ]*\(key) *=.*/\(key) = \(value)/' \(file)"
            } else if groups.contains(group) {
                "sudo sed -i '/^\\[\(group)\\]/a \(key) = \(value)' \(file)"
            } else {
                "printf '[\(group)]\\n\(key) = \(value)\\n' | sudo tee -a \(file)"
            }
        return "\(change) && sudo systemctl restart bluetooth"
    }

    /// The command that turns a line into a comment and restarts bluetoothd.
    package func commandCommentingOut(line: Int) -> String {
        "sudo sed -i '\(line)s/^/#/' \(file) && sudo systemctl restart bluetooth"
    }

    /// The path of the file, quoted for a shell.
    private var file: String { ShellWord.quoted(path) }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0C || byte == 0x0D }
        var bytes = text.utf8
        while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
