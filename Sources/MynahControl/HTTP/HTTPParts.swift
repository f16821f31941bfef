import NIOCore
import NIOHTTP1

/// The head of a response, and its body if that is complete, as NIO's types.
struct HTTPParts {
    var head: HTTPResponseHead
    /// The body; empty for a stream and for a HEAD request.
    var body: IOData

    init(_ response: HTTPResponse, for method: String?, minorVersion: Int, keepsAlive: Bool) {
        var headers = HTTPHeaders()
        for field in response.headers where field.isSendable {
            headers.add(name: field.name, value: field.value)
        }
        let type = HTTPField("content-type", response.contentType)
        if type.isSendable { headers.replaceOrAdd(name: type.name, value: type.value) }
        for (name, value) in [
            ("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "same-origin"),
        ]
        where !headers.contains(name: name) {
            headers.add(name: name, value: value)
        }
        // The encoder frames the body: with this length, or in chunks if there is none.
        headers.remove(name: "transfer-encoding")
        headers.remove(name: "content-length")
        body = .byteBuffer(ByteBuffer())
        if case .bytes(let bytes) = response.body {
            headers.add(name: "content-length", value: "\(bytes.count)")
            if method != "HEAD" { body = .byteBuffer(ByteBuffer(bytes: bytes)) }
        }
        headers.remove(name: "connection")
        if !keepsAlive { headers.add(name: "connection", value: "close") }
        head = HTTPResponseHead(
            version: HTTPVersion(major: 1, minor: min(minorVersion, 1)),
            status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    }
}

extension HTTPField {
    /// `true` if the field contains nothing that would end its line or the head.
    ///
    /// The text may come from a profile.
    fileprivate var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension HTTPHead {
    /// Converts a parsed head.
    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        target = head.uri
        minorVersion = head.version.minor
        headers = head.headers.map { HTTPField($0.name, $0.value) }
    }
}
