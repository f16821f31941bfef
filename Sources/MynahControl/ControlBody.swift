package import MynahEmulator
package import MynahSupport

/// The members of a request's body, which must be a JSON object.
///
/// All functions throw a problem with status 400 that names the invalid member.
package struct ControlBody: Sendable {
    private static let longestMatch = 4096
    private let members: [JSON.Member]

    /// Parses a body in UTF-8, in which only the known members are allowed; an empty body means `{}`.
    package init(parsing bytes: [UInt8], known: [String]) throws(ControlProblem) {
        try self.init(Self.object(parsing: bytes), known: known)
    }

    /// Parses a body in UTF-8, in which any members are allowed; an empty body means `{}`.
    static func object(parsing bytes: [UInt8]) throws(ControlProblem) -> JSON {
        // The parser would replace invalid bytes with U+FFFD, and the value would differ from the client's.
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ControlProblem(400, "the body is not UTF-8")
        }
        var json = JSON.object([])
        do throws(JSON.ParseError) {
            if !bytes.isEmpty { json = try JSON(parsing: bytes, rounding: false) }
        } catch {
            throw .unread("the body", error)
        }
        guard case .object = json else { throw ControlProblem(400, "the body is not a JSON object") }
        return json
    }

    /// Makes a body from an object, in which only the known members are allowed.
    package init(_ json: JSON, known: [String]) throws(ControlProblem) {
        guard case .object(let members) = json else {
            throw ControlProblem(400, "the body is not a JSON object")
        }
        var keys: Set<String> = []
        for member in members {
            guard known.contains(member.key) else {
                throw .unknown("member", member.key, among: known)
            }
            guard keys.insert(member.key).inserted else {
                throw ControlProblem(400, "the member \"\(member.key)\" is repeated")
            }
        }
        self.members = members
    }

    /// The names of the members, in order.
    var keys: [String] { members.map(\.key) }

    /// The value of a member, or `nil` if the member is missing.
    package subscript(key: String) -> JSON? { members.first { $0.key == key }?.value }

    /// Returns a member that must be a text of at most `longest` bytes in UTF-8, or `nil` if it is missing.
    package func text(_ key: String, longest: Int = 1024) throws(ControlProblem) -> String? {
        guard let value = self[key] else { return nil }
        guard let text = value.stringValue else { throw Self.wrong(key, "text", value) }
        guard text.utf8.count <= longest else {
            throw ControlProblem(
                400, "\"\(key)\" has \(text.utf8.count) bytes; at most \(longest) are allowed")
        }
        return text
    }

    /// Returns a member that must be a list of at most `limit` texts, or `nil` if it is missing.
    func texts(_ key: String, atMost limit: Int) throws(ControlProblem) -> [String]? {
        guard let value = self[key] else { return nil }
        let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
        guard let list = value.arrayValue, list.count <= limit, texts.count == list.count else {
            throw Self.wrong(key, "a list of at most \(limit) texts", value)
        }
        return texts
    }

    /// Returns a member that must be an integer within limits, or `nil` if it is missing.
    package func number(_ key: String, in range: ClosedRange<Int>) throws(ControlProblem) -> Int? {
        guard let value = self[key] else { return nil }
        guard let number = Self.whole(value), range.contains(number) else {
            throw Self.wrong(
                key, "a whole number, from \(range.lowerBound) to \(range.upperBound)", value)
        }
        return number
    }

    /// Returns a member that must be a seed, or `nil` if it is missing.
    ///
    /// A seed is an integer of 64 bits, or its text if the integer is too large for `JSON`.
    package func seed(_ key: String) throws(ControlProblem) -> UInt64? {
        guard let value = self[key] else { return nil }
        let number =
            if let text = value.stringValue {
                text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
            } else {
                Self.whole(value).flatMap { UInt64(exactly: $0) }
            }
        guard let number else {
            throw Self.wrong(
                key, "a whole number from 0 to \(UInt64.max), as text from \(UInt64.max / 2 + 1) on", value)
        }
        return number
    }

    /// Returns the integer in a JSON value, which may also be written as `2.0` (JSON Schema Core, section
    /// 4.2.2).
    private static func whole(_ value: JSON) -> Int? {
        switch value {
        case .integer(let number): number
        case .number(let number): Int(exactly: number)
        default: nil
        }
    }

    /// Returns a member that must be `true` or `false`, or `nil` if it is missing.
    package func bool(_ key: String) throws(ControlProblem) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let bool = value.boolValue else { throw Self.wrong(key, "true or false", value) }
        return bool
    }

    /// Returns the member `since`, which is the number of the first event, or `nil` if it is missing.
    package func since() throws(ControlProblem) -> UInt64? {
        try number("since", in: 0 ... .max).map { UInt64($0) }
    }

    /// Returns a member that must be a match in object form or text form, or `nil` if it is missing.
    package func match(_ key: String) throws(ControlProblem) -> EventMatch? {
        guard let value = self[key] else { return nil }
        return try Self.match(value, key)
    }

    /// Returns a member that must be a list of at least one match, or `nil` if it is missing.
    package func matches(_ key: String, atMost limit: Int) throws(ControlProblem) -> [EventMatch]? {
        guard let value = self[key] else { return nil }
        guard let list = value.arrayValue, (1...limit).contains(list.count) else {
            throw Self.wrong(key, "a list of 1 to \(limit) matches", value)
        }
        var matches: [EventMatch] = []
        for (index, item) in list.enumerated() {
            matches.append(try Self.match(item, "\(key), item \(index + 1)"))
        }
        return matches
    }

    private static func match(_ value: JSON, _ place: String) throws(ControlProblem) -> EventMatch {
        // An event is compared with every member, so the size of the match is limited.
        guard value.text.utf8.count <= longestMatch else {
            throw ControlProblem(400, "\(place): a match has at most \(longestMatch) bytes")
        }
        do throws(EventMatch.Problem) {
            guard let text = value.stringValue else { return try EventMatch(json: value) }
            return try EventMatch(parsing: text)
        } catch {
            throw ControlProblem(400, "\(place): \(error.message)")
        }
    }

    private static func wrong(_ key: String, _ expected: String, _ value: JSON) -> ControlProblem {
        ControlProblem(400, "\"\(key)\" must be \(expected), not \(ControlProblem.shortened(value.text))")
    }
}

extension JSON {
    /// Returns a seed in the form that `ControlBody.seed` accepts.
    package static func seed(_ seed: UInt64) -> JSON {
        Int(exactly: seed).map { .integer($0) } ?? .string("\(seed)")
    }
}

extension ControlProblem {
    /// Makes the problem of a text that is not JSON, or that has a number that would be rounded.
    ///
    /// `what` names the text in the message.
    static func unread(_ what: String, _ error: JSON.ParseError) -> ControlProblem {
        ControlProblem(
            400,
            error.isRounded
                ? "\(what), byte \(error.offset): \(error.message)" : "\(what) is not JSON: \(error)")
    }

    /// Makes the problem of an unknown name, which suggests the nearest name or lists all names.
    package static func unknown(_ kind: String, _ name: String, among known: [String]) -> ControlProblem {
        let hint =
            NearestName.of(name, among: known).map { "did you mean \"\($0)\"?" }
            ?? (known.isEmpty ? "there are none" : "known are \(known.joined(separator: ", "))")
        return ControlProblem(400, "unknown \(kind) \"\(shortened(name))\"; \(hint)")
    }

    /// Returns a client's text for a message, cut to 200 bytes of UTF-8 at a character boundary.
    package static func shortened(_ text: String) -> String {
        var room = 200
        guard text.utf8.count > room else { return text }
        return text.prefix { character in
            room -= character.utf8.count
            return room >= 0
        } + "…"
    }
}
