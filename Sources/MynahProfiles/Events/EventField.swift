package import MynahSupport

/// A field of an event: its name in JSON, and where its value is in the payload.
package struct EventField: Sendable {
    package let key: String
    /// The value in JSON, or `nil` if the payload has none.
    package let json: @Sendable (EventPayload) -> JSON?
    /// Sets a value from JSON; returns `false` if the field has no such value.
    package let take: @Sendable (inout EventPayload, JSON) -> Bool
}

/// Makes the fields of a payload case, or of a part of it, from key paths to its content.
struct EventShape<Content>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Content, Value> & Sendable

    private let get: @Sendable (EventPayload) -> Content
    private let set: @Sendable (inout EventPayload, Content) -> Void

    /// Makes the shape of a payload case; `content` returns empty content for a payload of another case.
    init(
        _ payload: @escaping @Sendable (Content) -> EventPayload,
        _ content: @escaping @Sendable (EventPayload) -> Content
    ) {
        get = content
        set = { $0 = payload($1) }
    }

    /// Makes the shape of a part of another shape's content.
    init<Whole>(_ whole: EventShape<Whole>, _ path: EventShape<Whole>.Path<Content>) {
        get = { whole.get($0)[keyPath: path] }
        set = { payload, content in
            var all = whole.get(payload)
            all[keyPath: path] = content
            whole.set(&payload, all)
        }
    }

    /// A field that is always present.
    func always<Value: EventFieldValue>(_ key: String, _ path: Path<Value>) -> EventField {
        field(key, path, { $0.eventJSON }, { Value(eventJSON: $0) })
    }

    /// A field that is missing if it has no value.
    func optional<Value: EventFieldValue>(_ key: String, _ path: Path<Value?>) -> EventField {
        field(key, path, { $0?.eventJSON }, { Value(eventJSON: $0).map(Optional.some) })
    }

    /// A field that is `null` if it has no value.
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
