import MynahCore
import MynahSupport

/// The type of a value in a field of an event, with its form in JSON.
protocol EventFieldValue: SendableMetatype {
    var eventJSON: JSON { get }
    /// Parses a value that `eventJSON` wrote, or returns `nil` for anything else.
    init?(eventJSON: JSON)
    static func json(of list: [Self]) -> JSON
    static func list(from json: JSON) -> [Self]?
}

extension EventFieldValue {
    static func json(of list: [Self]) -> JSON { .array(list.map(\.eventJSON)) }

    static func list(from json: JSON) -> [Self]? {
        guard let items = json.arrayValue else { return nil }
        let list = items.compactMap { Self(eventJSON: $0) }
        return list.count == items.count ? list : nil
    }
}

extension Array: EventFieldValue where Element: EventFieldValue {
    var eventJSON: JSON { Element.json(of: self) }
    init?(eventJSON: JSON) {
        guard let list = Element.list(from: eventJSON) else { return nil }
        self = list
    }
}

/// A list of bytes is a hexadecimal text in JSON.
extension UInt8: EventFieldValue {
    var eventJSON: JSON { .integer(Int(self)) }
    init?(eventJSON: JSON) {
        guard let number = eventJSON.integerValue else { return nil }
        self.init(exactly: number)
    }
    static func json(of list: [UInt8]) -> JSON { .string(Hex.encode(list)) }
    static func list(from json: JSON) -> [UInt8]? { json.stringValue.flatMap { Hex.decode($0) } }
}

extension JSON: EventFieldValue {
    var eventJSON: JSON { self }
    init?(eventJSON: JSON) { self = eventJSON }
}

extension Bool: EventFieldValue {
    var eventJSON: JSON { .bool(self) }
    init?(eventJSON: JSON) {
        guard let value = eventJSON.boolValue else { return nil }
        self = value
    }
}

extension Int: EventFieldValue {
    var eventJSON: JSON { .integer(self) }
    init?(eventJSON: JSON) {
        guard let value = eventJSON.integerValue else { return nil }
        self = value
    }
}

extension Double: EventFieldValue {
    var eventJSON: JSON { .number(self) }
    init?(eventJSON: JSON) {
        switch eventJSON {
        case .number(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
}

/// The JSON form of a duration is a number of milliseconds.
extension Duration: EventFieldValue {
    /// The time in milliseconds.
    package var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }

    var eventJSON: JSON { .number(milliseconds) }
    init?(eventJSON: JSON) {
        guard let value = Double(eventJSON: eventJSON), abs(value) < 1e12 else { return nil }
        self = .nanoseconds(Int64((value * 1e6).rounded()))
    }
}

// MARK: - Text

extension String: EventFieldValue {
    var eventJSON: JSON { .string(self) }
    init?(eventJSON: JSON) {
        guard let text = eventJSON.stringValue else { return nil }
        self = text
    }
}

extension EventFieldValue where Self: RawRepresentable, RawValue == String {
    var eventJSON: JSON { .string(rawValue) }
    init?(eventJSON: JSON) {
        guard let text = eventJSON.stringValue else { return nil }
        self.init(rawValue: text)
    }
}

extension RadioState: EventFieldValue {}
extension Delivery: EventFieldValue {}
extension DeviceAddress.Kind: EventFieldValue {}
extension RefusedRequest.Access: EventFieldValue {}

extension BluetoothUUID: EventFieldValue {
    var eventJSON: JSON { .string(description) }
    init?(eventJSON: JSON) {
        guard let uuid = eventJSON.stringValue.flatMap({ BluetoothUUID($0) }) else { return nil }
        self = uuid
    }
}

/// The JSON form of an address does not contain its type, so parsing cannot restore it.
extension DeviceAddress: EventFieldValue {
    var eventJSON: JSON { .string(description) }
    init?(eventJSON: JSON) {
        guard let text = eventJSON.stringValue else { return nil }
        self.init(text, kind: .random)
    }
}

extension EventCentral: EventFieldValue {
    var eventJSON: JSON { .string(description) }
    init?(eventJSON: JSON) {
        guard let text = eventJSON.stringValue else { return nil }
        self.init(text)
    }
}

/// The JSON form of an ATT error is its code, as in `0x0E`.
extension ATTError: EventFieldValue {
    /// The code in hexadecimal, such as `0x0E`.
    package var codeText: String { "0x" + Hex.encode([code]) }

    var eventJSON: JSON { .string(codeText) }
    init?(eventJSON: JSON) {
        guard let text = eventJSON.stringValue, text.hasPrefix("0x"),
            let bytes = Hex.decode(text.dropFirst(2)),
            bytes.count == 1
        else { return nil }
        self.init(code: bytes[0])
    }
}

extension AdvertisingReport.Omission: EventFieldValue {
    var eventJSON: JSON {
        .object([.init("item", .string(item)), .init("reason", .string(reason))])
    }
    init?(eventJSON: JSON) {
        guard let item = eventJSON["item"]?.stringValue, let reason = eventJSON["reason"]?.stringValue else {
            return nil
        }
        self.init(item: item, reason: reason)
    }
}

extension AdvertisingReport: EventFieldValue {
    /// The fields of the event `advertising.changed`.
    var eventJSON: JSON { .object(EventPayload.advertising(self).members(of: .advertisingChanged)) }
    init?(eventJSON: JSON) {
        var payload = EventPayload.advertising(.silent)
        for field in EventTable.fields(of: .advertisingChanged) {
            guard let value = eventJSON[field.key] else { continue }
            guard field.take(&payload, value) else { return nil }
        }
        guard case .advertising(let report) = payload else { return nil }
        self = report
    }
}
