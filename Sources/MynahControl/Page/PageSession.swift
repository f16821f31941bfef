/// The session of a browser that shows the page: the token is in a cookie, because a link cannot send an
/// Authorization header.
enum PageSession {
    /// The token in `GET /?token=TOKEN`, or `nil` for any other request.
    static func token(inTargetOf head: HTTPHead) -> String? {
        guard head.method == "GET", head.target.hasPrefix("/?"), let target = HTTPTarget(head.target) else {
            return nil
        }
        return target.query.first { $0.name == "token" }?.value
    }

    /// Whether a request has the token in its cookie.
    ///
    /// A browser sends a cookie to every port of its host, and `SameSite` does not distinguish ports. So a
    /// page on another port could make the browser send it; then Sec-Fetch-Site is `same-site`, and the
    /// cookie is ignored. Browsers send that header only over HTTPS and to localhost. Otherwise, only Origin
    /// shows the difference.
    static func isSent(_ token: String, port: UInt16, by head: HTTPHead) -> Bool {
        let sites = head.headers.list("sec-fetch-site")
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
        let prefix = name(port) + "="
        let cookies = head.headers.values(of: "cookie").flatMap { $0.split(separator: ";") }
        return cookies.map(\.trimmed).contains { cookie in
            cookie.hasPrefix(prefix)
                && HTTPRules.areEqual(String(cookie.dropFirst(prefix.count)), value(token))
        }
    }

    /// Redirects the browser to the page without the token, which would otherwise stay in the address bar and
    /// the history.
    ///
    /// The response sets the cookie, unless the server has no token.
    static func signIn(_ token: String?, port: UInt16) -> HTTPResponse {
        var headers = [HTTPField("location", "/"), HTTPField("referrer-policy", "no-referrer")]
        if let token {
            headers.append(
                HTTPField(
                    "set-cookie", "\(name(port))=\(value(token)); Path=/; HttpOnly; SameSite=Strict"))
        }
        return HTTPResponse(303, contentType: "text/plain", headers: headers, body: .bytes([]))
    }

    /// The name of the cookie, with the port because servers on other ports of this host have cookies of
    /// their own.
    private static func name(_ port: UInt16) -> String { "mynah-\(port)" }

    /// The value of the cookie: the token, encoded because it may contain characters that a cookie may not.
    private static func value(_ token: String) -> String { ControlClient.encode(token) }
}
