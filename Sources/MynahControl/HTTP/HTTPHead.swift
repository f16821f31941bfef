/// The head of a request, as parsed.
struct HTTPHead: Hashable, Sendable {
    /// The rule that determines the end of the body (RFC 9112, 6.3).
    enum BodyLength: Hashable, Sendable {
        case absent
        case known(Int)
        case chunked
    }

    var method: String
    var target: String
    /// The minor version of HTTP/1.x.
    var minorVersion: Int
    var headers: [HTTPField]

    /// Whether the connection can be used for another request after this one.
    ///
    /// The parser stops after a request that changes the protocol.
    var keepsAlive: Bool {
        minorVersion >= 1 && !headers.list("connection").contains("close")
            && headers["upgrade"] == nil && method != "CONNECT"
    }

    /// The rule for the body's length, or `nil` if two programs could interpret it differently.
    ///
    /// A different interpretation would allow request smuggling (RFC 9112, 11.2).
    var bodyLength: BodyLength? {
        let lengths = headers.values(of: "content-length")
        let codings = headers.list("transfer-encoding")
        guard headers["transfer-encoding"] == nil else {
            return lengths.isEmpty && codings == ["chunked"] && minorVersion >= 1 ? .chunked : nil
        }
        guard let first = lengths.first else { return .absent }
        guard lengths.count == 1, !first.isEmpty, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let length = Int(first) ?? .max
        return length == 0 ? .absent : .known(length)
    }
}
