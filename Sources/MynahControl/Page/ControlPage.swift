/// The web page at `/`: HTML, a style sheet, a module and an icon.
enum ControlPage {
    struct File: Sendable {
        /// The path of the file, without the leading slash.
        var path: String
        var contentType: String
        var body: [UInt8]
        /// The entity tag, which distinguishes versions of the content (RFC 9110, 8.8.3).
        var entityTag: String

        init(_ path: String, _ contentType: String, _ text: String) {
            self.path = path
            self.contentType = contentType
            body = Array(text.utf8)
            // FNV-1a.
            let hash = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            entityTag = "\"\(String(hash, radix: 16))\""
        }
    }

    static let files = [
        File("", "text/html; charset=utf-8", PageFiles.html),
        File("page.css", "text/css; charset=utf-8", PageFiles.css),
        File("page.js", "text/javascript; charset=utf-8", PageFiles.js),
        File("icon.svg", "image/svg+xml", PageFiles.icon),
    ]

    /// The content security policy.
    ///
    /// The page loads nothing from another origin, cannot be embedded in another page, and does not treat
    /// text as markup or script.
    private static let policy = [
        "default-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "object-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// Returns the response to a request for a file of the page, or `nil` for any other request.
    static func response(to request: HTTPRequest) -> HTTPResponse? {
        guard request.path.count <= 1, let file = files.first(where: { $0.path == request.path.first ?? "" })
        else { return nil }
        guard request.method == "GET" || request.method == "HEAD" else {
            let problem = ControlProblem(405, "/\(file.path) takes GET, HEAD, not \(request.method)")
            return HTTPResponse(problem, headers: [HTTPField("Allow", "GET, HEAD")])
        }
        let tags = request.headers.values(of: "if-none-match").flatMap { $0.split(separator: ",") }
        let isKnown = tags.map(\.trimmed).contains { tag in
            tag == "*" || tag == file.entityTag || tag == "W/\(file.entityTag)"
        }
        return HTTPResponse(
            isKnown ? 304 : 200, contentType: file.contentType, headers: headers(of: file),
            body: .bytes(isKnown ? [] : file.body))
    }

    private static func headers(of file: File) -> [HTTPField] {
        [
            // The browser caches the file, and asks each time whether it has changed.
            HTTPField("cache-control", "no-cache"), HTTPField("etag", file.entityTag),
            HTTPField("content-security-policy", policy), HTTPField("referrer-policy", "same-origin"),
            HTTPField("cross-origin-opener-policy", "same-origin"), HTTPField("x-frame-options", "DENY"),
        ]
    }
}
