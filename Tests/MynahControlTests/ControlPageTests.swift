import Foundation
import MynahEmulator
import MynahLifecycle
import MynahTestSupport
import Testing

@testable import MynahControl

/// The page for browsers: its files as the server sends them.
@Suite(.timeLimit(.minutes(15))) struct ControlPageTests {
    private static let paths = ["/", "/page.css", "/page.js", "/icon.svg"]

    private func file(_ name: String) -> String {
        let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        return (try? String(contentsOfFile: "\(repository)/page/\(name)", encoding: .utf8)) ?? "no file"
    }

    private func request(
        _ path: String, _ method: String = "GET", headers: [HTTPField] = []
    ) -> HTTPResponse? {
        let target = HTTPTarget(path)
        return ControlPage.response(
            to: HTTPRequest(
                method: method, path: target?.path ?? [], query: target?.query ?? [], headers: headers))
    }

    private func text(_ response: HTTPResponse?) -> String {
        guard case .bytes(let bytes)? = response?.body else { return "no bytes" }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Files

    @Test func `the program has the files in the folder page`() throws {
        for (path, name) in zip(["/", "/page.css", "/icon.svg"], ["page.html", "page.css", "icon.svg"]) {
            #expect(text(request(path)) == file(name), "run page/embed")
        }
        let modules = try modules()
        for module in modules {
            #expect(script.contains(module.code), "run page/embed, which has to name \(module.name)")
        }
        #expect(script.utf8.count == modules.reduce(0) { $0 + $1.code.utf8.count }, "run page/embed")
    }

    @Test func `the page is below 70 kB`() {
        #expect(ControlPage.files.reduce(0) { $0 + $1.body.count } < 70_000)
    }

    /// A module of the page.
    private struct Module {
        var name: String
        /// The lines that the program has: no imports, no comments.
        var code: String
        var imports: [String: String] = [:]
        var exports: Set<String> = []
        var names: Set<String> = []

        init(name: String, text: String) {
            self.name = name
            let lines = text.split(separator: "\n").filter {
                $0.firstMatch(of: /^(import | *\/\/| *\/?\*)/) == nil
            }
            code = lines.map { ($0.hasPrefix("export ") ? $0.dropFirst(7) : $0) + "\n" }.joined()
            for line in text.split(separator: "\n") {
                if let match = line.wholeMatch(of: /import { (.+) } from '\.\/(\w+)\.js';/) {
                    for name in match.1.split(separator: ", ") { imports[String(name)] = String(match.2) }
                } else if let match = line.prefixMatch(
                    of: /(export )?(?:async )?(?:const|let|function) ([$\w]+)/)
                {
                    names.insert(String(match.2))
                    if match.1 != nil { exports.insert(String(match.2)) }
                }
            }
        }

        /// Whether the module uses a name: not as a member, as a key or in a text.
        func uses(_ name: String, isCalled: Bool = false) -> Bool {
            let next = name == "$" || isCalled ? "\\(" : "(?![\\w'\"\\\\-])(?!\\s*:)"
            let pattern = "(?<![\\w.$'\"-])\(NSRegularExpression.escapedPattern(for: name))\(next)"
            return code.range(of: pattern, options: .regularExpression) != nil
        }
    }

    private func modules() throws -> [Module] {
        let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(repository)/page/modules")
        return names.sorted().map { Module(name: String($0.dropLast(3)), text: file("modules/\($0)")) }
    }

    /// The script, as the program sends it.
    private var script: String { text(request("/page.js")) }

    // They are one file, in which nothing else would keep a module from what another one hides.
    @Test func `a module uses of others only the exports that it imports`() throws {
        let modules = try modules()
        for module in modules {
            for (name, origin) in module.imports {
                let exports = modules.first { $0.name == origin }?.exports ?? []
                #expect(exports.contains(name), "\(module.name) imports \(name) from \(origin)")
                #expect(module.uses(name), "\(module.name) imports \(name), and does not use it")
            }
            for other in modules where other.name != module.name {
                #expect(module.names.isDisjoint(with: other.names), "\(module.name), \(other.name)")
                for name in other.names where module.imports[name] == nil {
                    let isUsed = module.uses(name, isCalled: !other.exports.contains(name))
                    #expect(!isUsed, "\(module.name) uses \(name) of \(other.name)")
                }
            }
            #expect(
                module.exports.allSatisfy { name in modules.contains { $0.imports[name] == module.name } },
                "an export of \(module.name) is not used")
        }
    }

    @Test func `the page has no script and no style between its tags, and no other origin`() {
        let html = file("page.html")
        #expect(
            html.split(separator: "<script").dropFirst().allSatisfy { $0.contains("src=\"/page.js\"></") })
        for word in ["<style", "style=", " on", "javascript:", "http:", "https:"] {
            #expect(!html.lowercased().contains(word == " on" ? " onclick" : word), "\(word)")
        }
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "setInterval",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test func `the page has a button for each word of an app, and first those of its life`() {
        #expect(script.contains(".paths['/v1/devices/{device}/app']"))
        #expect(script.contains(".splice(0, \(AppTransition.allCases.count))"))
        #expect(UserAction.words.starts(with: AppTransition.allCases.map(\.rawValue)))
    }

    // MARK: Responses

    @Test(arguments: zip(paths, ["text/html", "text/css", "text/javascript", "image/svg+xml"]))
    func `a file has its type and headers that keep other origins out`(path: String, type: String) throws {
        let response = try #require(request(path))
        #expect(response.status == 200)
        #expect(response.contentType.hasPrefix(type))
        let policy = response.headers["content-security-policy"] ?? ""
        for rule in ["default-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"] {
            #expect(policy.split(separator: "; ").contains(Substring(rule)))
        }
        #expect(!policy.contains("unsafe"))
        #expect(response.headers["referrer-policy"] == "same-origin")
        #expect(response.headers["x-frame-options"] == "DENY")
        #expect(response.headers["cache-control"] == "no-cache")
    }

    @Test func `a file that the browser has is not sent again`() throws {
        let tag = try #require(request("/page.js")?.headers["etag"])
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let response = request("/page.js", headers: [HTTPField("If-None-Match", known)])
            #expect(response?.status == 304)
            #expect(text(response) == "")
            #expect(response?.headers["etag"] == tag)
        }
        #expect(request("/page.js", headers: [HTTPField("If-None-Match", "\"x\"")])?.status == 200)
        let tags = Self.paths.compactMap { request($0)?.headers["etag"] }
        #expect(Set(tags).count == Self.paths.count)
    }

    @Test func `other methods are refused, and other paths are not the page's`() {
        for method in ["POST", "DELETE", "OPTIONS"] {
            let response = request("/", method)
            #expect(response?.status == 405)
            #expect(response?.headers["Allow"] == "GET, HEAD")
        }
        for path in ["/v1", "/page.htm", "/page.js/", "/x/page.js", "//", "/metrics"] {
            #expect(request(path) == nil)
        }
    }

    // MARK: On the wire

    private func served(
        token: String? = nil, _ test: (ControlAddress) async throws -> Void
    ) async throws {
        let api = ControlAPI(NoDevices(), Journal(), version: "1")
        var options = ServerRig.patient
        options.token = token
        let server = HTTPServer(
            try ControlAddress("127.0.0.1:0"), options: options, precheck: { ControlAPI.refusal(of: $0) },
            handler: { await api.answer($0) })
        let address = try await server.start()
        do {
            try await test(address)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func response(
        _ address: ControlAddress, _ line: String, _ fields: [String] = [], hasBody: Bool = true
    ) async throws -> RawResponse {
        let client = try RawConnection(address)
        let head = ["\(line) HTTP/1.1", "Host: 127.0.0.1:\(address.port)"] + fields
        try await client.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        return try await client.readResponse(hasBody: hasBody)
    }

    @Test func `GET has the page, HEAD its head, and a page that is known nothing more`() async throws {
        try await served { address in
            let page = try await response(address, "GET /")
            #expect(page.status == 200 && page.body == file("page.html"))
            #expect(page.headers.contains("x-content-type-options: nosniff"))
            #expect(page.headers.contains("cross-origin-resource-policy: same-origin"))
            let head = try await response(address, "HEAD /", hasBody: false)
            #expect(head.status == 200 && head.headers == page.headers)
            let tag = page.headers.first { $0.hasPrefix("etag: ") }?.dropFirst(6) ?? ""
            let same = try await response(address, "GET /", ["If-None-Match: \(tag)"])
            #expect(same.status == 304 && same.body == "")
            #expect(!same.headers.contains { $0.hasPrefix("content-length") })
            #expect(try await response(address, "PUT /").status == 405)
        }
    }

    @Test func `the token in the page's address becomes a cookie, and leaves the address`() async throws {
        let token = "0123456789ab;cd+f"
        try await served(token: token) { address in
            let cookie = "mynah-\(address.port)=0123456789ab%3Bcd%2Bf"
            let signed = try await response(address, "GET /?token=0123456789ab%3Bcd%2Bf")
            #expect(signed.status == 303 && signed.body == "")
            #expect(signed.headers.contains("location: /"))
            #expect(
                signed.headers.contains(
                    "set-cookie: \(cookie.lowercased()); path=/; httponly; samesite=strict"))
            #expect(signed.headers.contains("cache-control: no-store"))
            let sent = ["Cookie: a=b; \(cookie)"]
            for line in ["GET /", "GET /page.js", "GET /v1"] {
                #expect(try await response(address, line, sent).status == 200)
                #expect(try await response(address, line).status == 403)
            }
            for fields in [
                ["Cookie: mynah-\(address.port)=wrong"], ["Cookie: mynah-1=0123456789ab%3Bcd%2Bf"],
                sent + ["Sec-Fetch-Site: same-site"], sent + ["Sec-Fetch-Site: cross-site"],
                sent + ["Origin: http://127.0.0.1:1"], sent + ["Authorization: Bearer wrong"],
            ] {
                #expect(try await response(address, "GET /v1", fields).status == 403, "\(fields)")
            }
            #expect(try await response(address, "GET /v1", sent + ["Sec-Fetch-Site: none"]).status == 200)
            #expect(try await response(address, "GET /?token=wrong", sent).status == 403)
            #expect(try await response(address, "POST /?token=0123456789ab%3Bcd%2Bf").status == 403)
            #expect(try await response(address, "GET /v1?token=0123456789ab%3Bcd%2Bf").status == 403)
        }
    }

    @Test func `without a token the address leads to the page, and no cookie is set`() async throws {
        try await served { address in
            let response = try await response(address, "GET /?token=x%0d%0aset-cookie:a")
            #expect(response.status == 400)
            let plain = try await self.response(address, "GET /?token=x")
            #expect(plain.status == 303)
            #expect(!plain.headers.contains { $0.hasPrefix("set-cookie") })
        }
    }
}
