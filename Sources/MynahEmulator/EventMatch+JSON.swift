public import MynahSupport

extension EventMatch {
    /// Reads the object form: `{"event": "write", "of": "180D/2A39", "value": "01 .."}`.
    ///
    /// `event` is the event's name. `value` and `of` are as in the text form. Any other member equals the
    /// field of its name, or with an object of comparisons is a number within bounds: `{"rssi": {">=":
    /// -60}}`.
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
                throw Problem(message: "\(member.key) is there twice")
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
        case (_, .object(let comparisons)):
            var conditions: [Condition] = []
            for comparison in comparisons { conditions.append(try condition(key, comparison)) }
            return conditions
        case (_, .array):
            throw Problem(message: "\(key) is no list: a list in an event matches one of its items")
        case (_, .string(let text)): return [.equal(key, to: text)]
        case (_, .integer), (_, .number), (_, .bool), (_, .null): return [.equal(key, to: value.text)]
        }
    }

    private static func condition(_ key: String, _ member: JSON.Member) throws(Problem) -> Condition {
        guard let comparison = Comparison(rawValue: member.key) else {
            throw Problem(
                message:
                    """
                    \(key) has no comparison \"\(member.key)\"; known are \
                    \(Comparison.allCases.map(\.rawValue).joined(separator: ", "))
                    """
            )
        }
        switch member.value {
        case .integer(let number): return .compares(key, comparison, Double(number))
        case .number(let number): return .compares(key, comparison, number)
        default: throw Problem(message: "\(key) is compared with a number, not with \(member.value.text)")
        }
    }
}
