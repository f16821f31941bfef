import NIOCore
import NIOHTTP1

/// A response's head, and its body if that is whole, as NIO writes them.
struct HTTPParts {
    var head: HTTPResponseHead
    /// Empty for a stream and for HEAD.
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
        // The encoder frames the body: with this length, or else in chunks.
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
    /// `true` if the text cannot end its line, or the head, early: a value may come from a profile.
    fileprivate var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension HTTPHead {
    /// A head from the parser.
    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        target = head.uri
        minorVersion = head.version.minor
        headers = head.headers.map { HTTPField($0.name, $0.value) }
    }
}
