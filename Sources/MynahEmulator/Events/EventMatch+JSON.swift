import MynahCore
public import MynahSupport

extension EventMatch {
    /// Parses the object form: `{"event": "write", "of": "180D/2A39", "value": "01 .."}`.
    ///
    /// `event` is the event's name. `value` and `of` are as in the text form. Any other member names a field
    /// of the event, which must equal the member's value. An object of comparisons limits a number:
    /// `{"rssi": {">=": -60}}`. `fields` does the same for the fields of the event's value: `{"heartRate":
    /// {">": 60}}`.
    public init(json: JSON) throws(Problem) {
        guard case .object(let members) = json else {
            throw Problem(message: "a match is an object, as in {\"event\": \"write\"}")
        }
        guard let event = members.first(where: { $0.key == "event" })?.value.stringValue else {
            throw Problem(message: "it names no event, as in {\"event\": \"write\"}")
        }
        try self.init(parsing: event)
        guard !event.contains(" ") else { throw Problem(message: "there is no event \"\(event)\"") }
        var keys: Set<String> = []
        for member in members {
            guard keys.insert(member.key).inserted else {
                throw Problem(message: "\(member.key) is repeated")
            }
            if member.key == "event" { continue }
            conditions += try Self.conditions(member.key, member.value)
        }
        text = json.text
    }

    private static func conditions(_ key: String, _ value: JSON) throws(Problem) -> [Condition] {
        switch (key, value) {
        case ("value", .string(let text)), ("of", .string(let text)): return [try condition(key, text)]
        case ("value", _), ("of", _): throw Problem(message: "\(key) is text, as in {\"value\": \"01 ..\"}")
        case ("fields", .object(let fields)):
            return try fields.isEmpty ? [.hasFields] : conditions(ofFields: fields)
        case ("fields", _):
            throw Problem(message: "fields is an object, as in {\"heartRate\": {\">\": 60}}")
        case (_, .object(let comparisons)):
            return try self.comparisons(key, comparisons).map { .compares(key, $0.0, $0.1) }
        case (_, .array):
            throw Problem(message: "\(key) must not be a list: a list in an event matches one of its items")
        case (_, .string(let text)): return [.equal(key, to: text)]
        case (_, .integer), (_, .unsigned), (_, .number), (_, .bool), (_, .null):
            return [.equal(key, to: value.text)]
        }
    }

    /// Parses the conditions for the fields of an event's value.
    private static func conditions(ofFields fields: [JSON.Member]) throws(Problem) -> [Condition] {
        var conditions: [Condition] = []
        for field in fields {
            let name = field.key
            switch field.value {
            case .object(let comparisons):
                conditions += try self.comparisons(name, comparisons).map {
                    .fieldCompares(name, $0.0, $0.1)
                }
            case .array:
                throw Problem(
                    message: "\(name) must not be a list: a list in a value matches one of its items")
            case .string(let text): conditions.append(.field(name, equals: text))
            case .integer, .unsigned, .number, .bool, .null:
                conditions.append(.field(name, equals: field.value.text))
            }
        }
        return conditions
    }

    private static func comparisons(
        _ key: String, _ members: [JSON.Member]
    ) throws(Problem) -> [(Comparison, ExactNumber)] {
        if members.isEmpty {
            throw Problem(message: "\(key) has no comparison; write one, as in {\">=\": 60}")
        }
        var comparisons: [(Comparison, ExactNumber)] = []
        for member in members { comparisons.append(try comparison(key, member)) }
        return comparisons
    }

    private static func comparison(
        _ key: String, _ member: JSON.Member
    ) throws(Problem) -> (Comparison, ExactNumber) {
        guard let comparison = Comparison(ordering: member.key) else {
            throw Problem(
                message:
                    """
                    \(key) has no comparison \"\(member.key)\"; known are \
                    \(Comparison.ordering.map(\.rawValue).joined(separator: ", "))
                    """
            )
        }
        guard let number = ExactNumber(member.value) else {
            throw Problem(message: "\(key) is compared with a number, not with \(member.value.text)")
        }
        return (comparison, number)
    }
}
