import MynahCore
import MynahSupport

/// Makes notes about values and writes that belong to no characteristic in the profile.
struct StrayNotes {
    /// The maximum number of attributes for each of which there is a separate note.
    private static let listed = 16

    private let server: ObservedServer
    /// The value handles of the characteristics in the profile.
    ///
    /// `canSend` has those of the characteristics that can send values.
    private var values: Set<AttributeHandle> = []
    private var canSend: Set<AttributeHandle> = []
    /// The handles of the Client Characteristic Configurations.
    private var configurations: Set<AttributeHandle> = []

    init(_ server: ObservedServer, _ table: TableModel) {
        self.server = server
        for characteristic in table.services.flatMap(\.characteristics) {
            values.insert(characteristic.value)
            if let handle = characteristic.configuration { configurations.insert(handle) }
            if !characteristic.properties.isDisjoint(with: .anyUpdate) {
                canSend.insert(characteristic.value)
            }
        }
    }

    /// The notes, as sentences without a full stop.
    var texts: [String] {
        var notes: [String] = []
        var strays: [AttributeHandle: [Int]] = [:]
        for place in server.sent.indices where !canSend.contains(server.sent.handle(at: place)) {
            strays[server.sent.handle(at: place), default: []].append(place)
        }
        let handles = strays.keys.sorted()
        for handle in handles.prefix(Self.listed) {
            guard let places = strays[handle], let first = places.first, let name = owner(of: handle) else {
                continue
            }
            notes.append(
                """
                \(places.count.counting("value")) came from \(name), which a profile cannot do, and \
                \(places.count == 1 ? "is" : "are") left out: \(PlainText.hex(server.sent.value(at: first)))
                """ + (places.count > 1 ? " and others" : ""))
        }
        let rest = handles.dropFirst(Self.listed).reduce(0) { $0 + (strays[$1]?.count ?? 0) }
        if rest > 0 { notes.append("\(rest.counting("value")) came from more attributes like these") }
        let known = Set(server.table.types.keys).union(ownHandles).union(configurations)
        let writes = server.writes.filter { !known.contains($0.handle) }
        if let first = writes.map(\.handle).min() {
            let count = writes.count
            notes.append(
                """
                \(count.counting("write")) went to attributes that were never discovered, such as the handle \
                \(Self.number(of: first)), and \(count == 1 ? "is" : "are") left out
                """)
        }
        let readings = server.table.readings.keys.filter {
            !known.contains($0) && server.table.services[$0] == nil && server.table.declarations[$0] == nil
        }
        if let first = readings.min() {
            notes.append(
                """
                \(readings.count.counting("value")) of attributes that were never discovered, such as the \
                handle \(Self.number(of: first)), \(readings.count == 1 ? "is" : "are") left out
                """)
        }
        return notes
    }

    /// The value handles of the services that the radio itself adds, and of those that a profile cannot
    /// have.
    private var ownHandles: [AttributeHandle] { server.table.declarations.values.map(\.value) }

    private static func number(of handle: AttributeHandle) -> String {
        "0x" + Hex.encode([UInt8(handle.rawValue >> 8), UInt8(handle.rawValue & 0xFF)])
    }

    /// Returns a name for an attribute that sends values but is not in the profile.
    ///
    /// Returns `nil` for Service Changed, whose values only report a change of the table.
    private func owner(of handle: AttributeHandle) -> String? {
        let declarations = server.table.declarations.filter { $0.value.value == handle }
        if let own = declarations.min(by: { $0.key < $1.key })?.value {
            if own.uuid == "2A05" { return nil }
            let isKnown = values.contains(handle)
            return isKnown ? "\(own.uuid), which has neither notify nor indicate" : "\(own.uuid)"
        }
        let before = server.table.declarations.filter { $0.key < handle }.max { $0.key < $1.key }
        let place = before.map { " after \($0.value.uuid)" } ?? ""
        let number = Self.number(of: handle)
        guard let type = server.table.types[handle] else { return "the handle \(number)\(place)" }
        return "the handle \(number), a descriptor \(type)\(place)"
    }
}
