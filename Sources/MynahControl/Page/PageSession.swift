/// The session of a browser that shows the page.
///
/// The token is in a cookie, because a browser sends no Authorization header when it opens a page.
enum PageSession {
    /// Returns the token in `GET /?token=TOKEN`, or `nil` for any other request.
    static func token(inTargetOf head: HTTPHead) -> String? {
        guard head.method == "GET", head.target.hasPrefix("/?"), let target = HTTPTarget(head.target) else {
            return nil
        }
        return target.query.first { $0.name == "token" }?.value
    }

    /// Whether a request has the token in its cookie.
    ///
    /// A browser sends a cookie to every port of its host, and `SameSite` does not distinguish ports. A page
    /// on another port could therefore make the browser send the cookie. Sec-Fetch-Site is then `same-site`,
    /// and the cookie is ignored. Browsers send that header only over HTTPS and to localhost. Otherwise,
    /// only Origin reveals such a page.
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

    /// Returns a redirect to the page without the token in its address.
    ///
    /// The token would otherwise stay in the address bar and the history. The response sets the cookie,
    /// unless the server has no token.
    static func signIn(_ token: String?, port: UInt16) -> HTTPResponse {
        var headers = [HTTPField("location", "/"), HTTPField("referrer-policy", "no-referrer")]
        if let token {
            headers.append(
                HTTPField(
                    "set-cookie", "\(name(port))=\(value(token)); Path=/; HttpOnly; SameSite=Strict"))
        }
        return HTTPResponse(303, contentType: "text/plain", headers: headers, body: .bytes([]))
    }

    /// Returns the name of the cookie, which contains the port because all ports of a host share their
    /// cookies.
    private static func name(_ port: UInt16) -> String { "mynah-\(port)" }

    /// Returns the value of the cookie: the token, percent-encoded because cookies do not allow all
    /// characters.
    private static func value(_ token: String) -> String { ControlClient.encode(token) }
}
