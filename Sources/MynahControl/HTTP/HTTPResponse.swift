package import MynahSupport
import NIOHTTP1

/// A response, whose body is complete or a stream.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        /// The whole body.
        case bytes([UInt8])
        /// A function that writes the body; the body ends when the function returns.
        ///
        /// The function's task is cancelled when the client disconnects.
        case stream(@Sendable (HTTPStreamWriter) async -> Void)
    }

    /// The status code.
    package var status: Int
    /// The media type.
    package var contentType: String
    /// Additional header fields; the server adds those for the connection and the length.
    package var headers: [HTTPField]
    package var body: Body

    package init(_ status: Int, contentType: String, headers: [HTTPField] = [], body: Body) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a JSON document.
    package static func json(_ json: JSON, status: Int = 200) -> HTTPResponse {
        var bytes: [UInt8] = []
        json.write(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return HTTPResponse(status, contentType: "application/json", body: .bytes(bytes))
    }

    /// Makes a response with text.
    package static func text(
        _ text: String, contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(200, contentType: contentType, body: .bytes(Array(text.utf8)))
    }

    /// Makes a response with a stream of server-sent events.
    package static func events(_ body: @escaping @Sendable (HTTPStreamWriter) async -> Void) -> HTTPResponse {
        HTTPResponse(200, contentType: "text/event-stream", body: .stream(body))
    }

    /// Makes a problem document (RFC 9457); `headers` are additional fields, such as `Allow` for status 405.
    package init(_ problem: ControlProblem, headers: [HTTPField] = []) {
        var response = HTTPResponse.json(problem.json, status: problem.status)
        response.contentType = "application/problem+json"
        response.headers = headers
        self = response
    }
}

extension ControlProblem {
    /// The problem document: title, status, detail, and the problem's own members.
    package var json: JSON {
        let title =
            switch status {
            // NIO uses the names of RFC 7231 for these statuses; RFC 9110, 15.5.14 and 15.5.21, changed
            // them.
            case 413: "Content Too Large"
            case 422: "Unprocessable Content"
            default: HTTPResponseStatus(statusCode: status).reasonPhrase
            }
        return .object(
            [
                .init("title", .string(title)), .init("status", .integer(status)),
                .init("detail", .string(detail)),
            ]
                + members)
    }
}

/// Writes the body of a response to a client, as fast as the client reads.
package struct HTTPStreamWriter: Sendable {
    private let send: @Sendable ([UInt8]) async -> Bool

    /// Makes a writer from a function that returns `false` when the client has disconnected.
    package init(_ send: @escaping @Sendable ([UInt8]) async -> Bool) {
        self.send = send
    }

    /// Writes bytes, and waits until the socket has accepted them.
    ///
    /// Returns `false` if the client has disconnected.
    @discardableResult
    package func write(_ bytes: [UInt8]) async -> Bool { await send(bytes) }
}
