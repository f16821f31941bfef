package import MynahSupport

/// A field of an event: its key in JSON, and the location of its value in the payload.
package struct EventField: Sendable {
    package let key: String
    /// Returns the value as JSON, or `nil` if the payload has no value.
    package let json: @Sendable (EventPayload) -> JSON?
    /// Sets the value from JSON; returns `false` if the JSON is not a valid value.
    package let take: @Sendable (inout EventPayload, JSON) -> Bool
}

/// Makes event fields from key paths into the content of a payload case, or into a part of that content.
struct EventShape<Content>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Content, Value> & Sendable

    private let get: @Sendable (EventPayload) -> Content
    private let set: @Sendable (inout EventPayload, Content) -> Void

    /// Makes the fields of a payload case; `content` returns empty content for a payload of another case.
    init(
        _ payload: @escaping @Sendable (Content) -> EventPayload,
        _ content: @escaping @Sendable (EventPayload) -> Content
    ) {
        get = content
        set = { $0 = payload($1) }
    }

    /// Makes fields from a part of the content of `whole`; `path` leads to that part.
    init<Whole>(_ whole: EventShape<Whole>, _ path: EventShape<Whole>.Path<Content>) {
        get = { whole.get($0)[keyPath: path] }
        set = { payload, content in
            var all = whole.get(payload)
            all[keyPath: path] = content
            whole.set(&payload, all)
        }
    }

    /// Makes a field that is always present.
    func always<Value: EventFieldValue>(_ key: String, _ path: Path<Value>) -> EventField {
        field(key, path, { $0.eventJSON }, { Value(eventJSON: $0) })
    }

    /// Makes a field that is omitted if it has no value.
    func optional<Value: EventFieldValue>(_ key: String, _ path: Path<Value?>) -> EventField {
        field(key, path, { $0?.eventJSON }, { Value(eventJSON: $0).map(Optional.some) })
    }

    /// Makes a field that is `null` if it has no value.
    func nullable<Value: EventFieldValue>(_ key: String, _ path: Path<Value?>) -> EventField {
        field(key, path, { $0?.eventJSON ?? .null }) {
            $0 == .null ? .some(nil) : Value(eventJSON: $0).map(Optional.some)
        }
    }

    private func field<Value>(
        _ key: String, _ path: Path<Value>, _ write: @escaping @Sendable (Value) -> JSON?,
        _ read: @escaping @Sendable (JSON) -> Value?
    ) -> EventField {
        EventField(key: key, json: { write(get($0)[keyPath: path]) }) { payload, json in
            guard let value = read(json) else { return false }
            var content = get(payload)
            content[keyPath: path] = value
            set(&payload, content)
            return true
        }
    }
}
