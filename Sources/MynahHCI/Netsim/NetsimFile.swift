/// The file in which netsim, the Android emulator's radio, publishes its ports.
///
/// The file is `netsim.ini`, or `netsim_N.ini` for an instance N other than 1. Each line has a key and a
/// value, as in `grpc.port=8877` or `web.port = localhost:7681`.
struct NetsimFile: Hashable, Sendable {
    /// The ports by key; a key is, for example, `grpc.port`.
    let ports: [String: UInt16]

    /// Parses the text of a file; returns `nil` if it contains no port.
    init?(parsing text: String) {
        var ports: [String: UInt16] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let key = Self.trimmed(line[..<equals])
            // The value may be `HOST:PORT`.
            let value = Self.trimmed(line[line.index(after: equals)...])
            guard key.hasSuffix(".port"), let port = UInt16(value.split(separator: ":").last ?? ""), port > 0
            else { continue }
            ports[key] = port
        }
        guard !ports.isEmpty else { return nil }
        self.ports = ports
    }

    private static func trimmed(_ text: Substring) -> String {
        let head = text.drop { $0 == " " || $0 == "\t" }
        guard let last = head.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(head[...last])
    }

    /// Returns the name of an instance's file.
    static func name(instance: Int) -> String { instance == 1 ? "netsim.ini" : "netsim_\(instance).ini" }

    /// Returns the instance whose file has this name, or `nil` if there is none.
    static func instance(named name: String) -> Int? {
        if name == Self.name(instance: 1) { return 1 }
        guard name.hasPrefix("netsim_"), name.hasSuffix(".ini"),
            let number = Int(name.dropFirst(7).dropLast(4)), NetsimEnvironment.instances.contains(number),
            name == Self.name(instance: number)
        else { return nil }
        return number
    }
}
