/// A header field.
package struct HTTPField: Hashable, Sendable {
    /// The field's name, which is case-insensitive.
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A percent-decoded item of a query.
package struct HTTPQueryItem: Hashable, Sendable {
    /// The text before the equals sign.
    package var name: String
    /// The text after the equals sign, or empty if there is none.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// Returns the values of all fields with this name, which is case-insensitive.
    package func values(of name: String) -> [String] {
        filter { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }
            .map(\.value)
    }

    /// The value of the first field with this name, which is case-insensitive, or `nil` if there is none.
    package subscript(name: String) -> String? { values(of: name).first }

    /// Returns the members of the comma-separated lists in all fields with this name, in lower case.
    func list(_ name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmed.lowercased() }
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at both ends.
    var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// A request that has passed the server's checks.
package struct HTTPRequest: Hashable, Sendable {
    /// The method, in upper case.
    package var method: String
    /// The percent-decoded segments of the path.
    ///
    /// `/v1/devices` has two segments, and a slash at the end adds an empty one.
    package var path: [String]
    /// The query's items, in order.
    package var query: [HTTPQueryItem]
    /// The header fields, in order.
    package var headers: [HTTPField]
    /// The body; empty while only the head is being checked.
    package var body: [UInt8]
    /// `true` if the request came through a Unix socket, whose clients may refer to files by path.
    package var isUnixSocket: Bool

    package init(
        method: String, path: [String], query: [HTTPQueryItem] = [], headers: [HTTPField] = [],
        body: [UInt8] = [], isUnixSocket: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.isUnixSocket = isUnixSocket
    }

    /// Returns the value of the query's first item with this name, or `nil` if there is none.
    package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}
