import MynahCore
public import MynahProfiles
import MynahSupport
import MynahValues

/// A description of expected events: their name, and conditions for their fields.
///
/// A field that an event lacks never matches. UUIDs compare as UUIDs, so 180D equals its 128-bit form.
/// Hexadecimal digits compare in either case. A field that is a list matches if it contains the value.
public struct EventMatch: Hashable, Sendable {
    /// The reason that a match is invalid, as a sentence without its full stop.
    public struct Problem: Error, Hashable, Sendable {
        /// The problem, as a sentence.
        public var message: String
    }

    enum Condition: Hashable, Sendable {
        /// The field with this key equals this text.
        case equal(String, to: String)
        /// The field `value` has these bytes.
        case value(BytePattern)
        /// The event concerns this attribute.
        case of(AttributeName)
        /// The field with this key is a number that satisfies the comparison with this number.
        case compares(String, Comparison, ExactNumber)
        /// The field of the value with this name equals this text.
        case field(String, equals: String)
        /// The field of the value with this name is a number that satisfies the comparison with this number.
        case fieldCompares(String, Comparison, ExactNumber)
        /// The value has decoded fields.
        case hasFields

        /// The key of the condition's field.
        var key: String {
            switch self {
            case .equal(let key, _), .compares(let key, _, _): key
            case .value: "value"
            case .of: "of"
            case .field, .fieldCompares, .hasFields: "fields"
            }
        }
    }

    /// The match as it was written.
    public internal(set) var text: String
    /// The event's name.
    public let name: DeviceEvent.Name
    var conditions: [Condition] = []

    /// Parses `EVENT [FIELD=VALUE]…`, as in `write characteristic=2A39 value=01`.
    ///
    /// A word without a field name belongs to the value before it, so a value may contain spaces. `of` names
    /// an attribute as profiles do. In `value`, two dots match any byte, and at the end any number of bytes.
    /// `fields.heartRate=72` compares a field of the value. Numbers can also be compared with `<`, `<=`, `>`
    /// and `>=`.
    public init(parsing text: String) throws(Problem) {
        let words = text.split(separator: " ").map(String.init)
        self.text = words.joined(separator: " ")
        guard let first = words.first else { throw Problem(message: "it names no event") }
        guard let name = DeviceEvent.Name(rawValue: first) else {
            let names = DeviceEvent.Name.allCases.map(\.rawValue)
            let near = NearestName.of(first, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            throw Problem(message: "there is no event \"\(first)\"\(near)")
        }
        self.name = name
        for (key, value) in try Self.fields(words.dropFirst(), &conditions) {
            conditions.append(try Self.condition(key, value))
        }
    }

    /// Returns the fields that must equal a value, and appends the comparisons to the conditions.
    private static func fields(
        _ words: ArraySlice<String>, _ conditions: inout [Condition]
    ) throws(Problem) -> [(key: String, value: String)] {
        var fields: [(key: String, value: String)] = []
        for word in words {
            if let comparison = comparison(word) {
                conditions.append(comparison)
            } else if let sign = word.firstIndex(of: "="), isKey(word[..<sign]) {
                fields.append((String(word[..<sign]), String(word[word.index(after: sign)...])))
            } else if let last = fields.indices.last {
                fields[last].value += (fields[last].value.isEmpty ? "" : " ") + word
            } else {
                let isEvent = DeviceEvent.Name(rawValue: word) != nil
                throw Problem(
                    message: isEvent
                        ? "\"\(word)\" is a second event, and a match names one"
                        : "\"\(word)\" is not FIELD=VALUE, as in characteristic=2A37")
            }
        }
        if let empty = fields.first(where: { $0.value.isEmpty && $0.key != "value" }) {
            throw Problem(message: "there is no value after \(empty.key)=")
        }
        return fields
    }

    /// Parses a comparison such as `rssi>=-60` or `fields.heartRate>60`; returns `nil` if the word is not
    /// one.
    private static func comparison(_ word: String) -> Condition? {
        guard let sign = word.firstIndex(where: { $0 == "<" || $0 == ">" || $0 == "=" }),
            word[sign] != "=", isKey(word[..<sign])
        else { return nil }
        let end = word[sign...].prefix(2).hasSuffix("=") ? 2 : 1
        guard let comparison = Comparison(ordering: String(word[sign...].prefix(end))),
            let number = ExactNumber(word[sign...].dropFirst(end))
        else { return nil }
        let key = String(word[..<sign])
        return field(key).map { .fieldCompares($0, comparison, number) } ?? .compares(key, comparison, number)
    }

    /// Returns the name in a key such as `fields.heartRate`, or `nil` if the key names a field of the event.
    private static func field(_ key: String) -> String? {
        key.hasPrefix(fieldPrefix) ? String(key.dropFirst(fieldPrefix.count)) : nil
    }

    private static let fieldPrefix = "fields."

    private static func isKey(_ text: Substring) -> Bool {
        let name = text.hasPrefix(fieldPrefix) ? text.dropFirst(fieldPrefix.count) : text
        return name.first?.isLetter == true
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    static func condition(_ key: String, _ value: String) throws(Problem) -> Condition {
        switch key {
        case "value":
            guard let pattern = BytePattern(value) else {
                throw Problem(
                    message:
                        """
                        value=\(value) is not hexadecimal, as in value=01 02 or, for any further bytes, \
                        value=01 ..
                        """
                )
            }
            return .value(pattern)
        case "of":
            guard !value.hasPrefix("@") else {
                throw Problem(message: "of=\(value) is a handle, which events do not have; name its UUIDs")
            }
            do throws(AttributeName.Problem) {
                return .of(try AttributeName(parsing: value))
            } catch {
                throw Problem(message: "of=\(value): \(error.message)")
            }
        default: return field(key).map { .field($0, equals: value) } ?? .equal(key, to: value)
        }
    }

    /// The problem with the first field that such an event never has, or `nil` if it can have all of them.
    ///
    /// Parsing accepts such a field, because a match may come from a client of another version.
    var unknownField: Problem? {
        let fields = EventCatalog.fields(of: name.rawValue)
        let known =
            fields.sorted() + (fields.contains("characteristic") ? ["of"] : [])
            + (fields.contains("value") ? ["fields"] : [])
        guard let key = conditions.map(\.key).first(where: { !known.contains($0) }) else { return nil }
        let hint =
            NearestName.of(key, among: known).map { "did you mean \"\($0)\"?" }
            ?? "its fields are \(known.joined(separator: ", "))"
        return Problem(message: "\(name.rawValue) has no field \"\(key)\"; \(hint)")
    }

    // MARK: Matching

    /// Whether an event matches.
    public func matches(_ event: DeviceEvent) -> Bool {
        event.name == name && conditions.allSatisfy { Self.holds($0, for: event) }
    }

    /// Returns the members of the match that an event does not satisfy, in order; empty if the event
    /// matches.
    ///
    /// A different event name is a difference in `event`. Two comparisons of one field count as one member.
    package func differing(from event: DeviceEvent) -> [String] {
        var members = event.name == name ? [] : ["event"]
        for condition in conditions where !Self.holds(condition, for: event) {
            if members.last != condition.key { members.append(condition.key) }
        }
        return members
    }

    private static func holds(_ condition: Condition, for event: DeviceEvent) -> Bool {
        switch condition {
        case .equal(let key, let expected):
            event[key].map { isEqual($0, to: expected, key) } ?? false
        case .value(let pattern):
            event.payload.value.map(pattern.matches) ?? false
        case .of(let name): event.payload.attribute?.elements.map { name.names($0) } ?? false
        case .compares(let key, let comparison, let number):
            event[key].flatMap { ExactNumber($0) }.map { comparison.holds($0, number) } ?? false
        case .field(let name, let expected):
            event.value(ofField: name).map { isEqual($0, to: expected) } ?? false
        case .fieldCompares(let name, let comparison, let number):
            event.value(ofField: name)?.exact.map { comparison.holds($0, number) } ?? false
        case .hasFields: event.payload.valueFields != nil
        }
    }

    /// Whether a value equals a text; a named number equals both its number and its name.
    private static func isEqual(_ value: FieldValue, to expected: String) -> Bool {
        switch value {
        case .named(let number, let name): name == expected || isEqual(number, to: expected)
        case .text(let text): text == expected
        case .list(let values): values.contains { isEqual($0, to: expected) }
        case .integer, .unsigned, .number, .boolean, .bytes: isEqual(value.json, to: expected, "fields")
        }
    }

    /// Whether a number equals a text; `72.0` and `7.2e1` equal 72.
    ///
    /// Texts of digits alone are compared as integers, because a `Double` has only 53 bits of precision.
    private static func isEqual(_ number: some BinaryInteger, to expected: String) -> Bool {
        if let whole = Int(expected) { return whole == number }
        if let whole = UInt64(expected) { return whole == number }
        return WholeDigits.problem(of: expected) == nil && Double(expected) == Double(number)
    }

    private static func isEqual(_ value: JSON, to expected: String, _ key: String) -> Bool {
        switch value {
        case .string(let text): isEqual(text, to: expected, key)
        case .integer(let number): isEqual(number, to: expected)
        case .unsigned(let number): isEqual(number, to: expected)
        case .number(let number): Double(expected) == number
        case .bool(let value): expected == (value ? "true" : "false")
        case .null: expected == "null"
        case .array(let values): values.contains { isEqual($0, to: expected, key) }
        case .object: false
        }
    }

    /// The fields that contain free text, which is compared literally.
    private static let words: Set = ["device", "profile", "name", "message", "restoreIdentifier"]

    private static func isEqual(_ text: String, to expected: String, _ key: String) -> Bool {
        if text == expected { return true }
        // The event of a phone has the names of all its apps in `device`.
        if key == "device" { return isDevice(expected, text) }
        guard !words.contains(key) else { return false }
        if let uuid = BluetoothUUID(text) { return uuid == self.uuid(expected, key) }
        return isHexadecimal(text) && text.lowercased() == expected.lowercased()
    }

    /// Whether a device is named by the field `device` of an event, alone or in the list of a phone's
    /// devices.
    ///
    /// Names may themselves contain commas.
    static func isDevice(_ name: String, _ list: String) -> Bool {
        list == name || list.hasPrefix(name + ", ") || list.hasSuffix(", " + name)
            || list.contains(", \(name), ")
    }

    /// Parses a UUID, written in digits or as its SIG name.
    static func uuid(_ text: String, _ key: String) -> BluetoothUUID? {
        if let uuid = BluetoothUUID(text) { return uuid }
        return switch key {
        case "service", "services": AssignedNumbers.service(named: text)
        case "characteristic": AssignedNumbers.characteristic(named: text)
        case "descriptor": AssignedNumbers.descriptor(named: text)
        default: nil
        }
    }

    /// Whether a text consists of hexadecimal digits, such as an address, the code 0x0E, or bytes.
    private static func isHexadecimal(_ text: String) -> Bool {
        let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
        return digits.utf8.allSatisfy { Hex.value(ofDigit: $0) != nil || $0 == UInt8(ascii: ":") }
    }

    /// The device name that the match requires, or `nil` if it matches any device.
    public var device: String? {
        for case .equal("device", let name) in conditions { return name }
        return nil
    }

    /// Returns the same match, limited to the device with this event name.
    public func naming(_ device: String) -> EventMatch {
        var match = self
        for index in conditions.indices {
            if case .equal("device", _) = conditions[index] {
                match.conditions[index] = .equal("device", to: device)
            }
        }
        return match
    }
}

extension DeviceEvent {
    fileprivate func value(ofField name: String) -> FieldValue? {
        payload.valueFields?.first { $0.name == name }?.value
    }
}

extension EventAttribute {
    /// The UUIDs in the attribute's path, each with its number among equal UUIDs.
    ///
    /// The value is `nil` if the event concerns no characteristic.
    fileprivate var elements: [AttributeName.Element]? {
        let uuids = [service, characteristic, descriptor].compactMap { $0 }
        guard uuids.count >= 2 else { return nil }
        let ordinals = path?.split(separator: "/").map { step in
            step.split(separator: "~").dropFirst().first.flatMap { Int($0) }
        }
        return uuids.enumerated().map { index, uuid in
            AttributeName.Element(
                uuid: uuid, ordinal: ordinals.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? 1)
        }
    }
}
