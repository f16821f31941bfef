import Testing

@testable import MynahControl

@Suite struct HTTPTargetTests {
    @Test(arguments: [
        ("/", [""]), ("/v1/devices", ["v1", "devices"]), ("/v1/devices/", ["v1", "devices", ""]),
        ("//a", ["", "a"]), ("/a%2Fb/c%20d+e", ["a/b", "c d+e"]), ("/%C3%A9/@18", ["é", "@18"]),
        ("/../a/.", ["..", "a", "."]), ("/180D~2/2A37?", ["180D~2", "2A37"]),
    ])
    func `a path's segments are decoded after they are split`(target: String, path: [String]) {
        #expect(HTTPTarget(target)?.path == path)
    }

    @Test(
        arguments: [
            ("/", []), ("/?", []), ("/?a", [HTTPQueryItem("a", "")]),
            ("/?a=b=c&&d=", [.init("a", "b=c"), .init("d", "")]),
            (
                "/?match=%7B%22event%22%3A%22a+b%2B%22%7D&a=1&a=2?",
                [
                    .init("match", #"{"event":"a b+"}"#), .init("a", "1"), .init("a", "2?"),
                ]
            ),
        ] as [(String, [HTTPQueryItem])])
    func `a query's items are decoded in order`(target: String, query: [HTTPQueryItem]) {
        #expect(HTTPTarget(target)?.query == query)
    }

    @Test(arguments: [
        "", "*", "a", "http://a/", "/%", "/%4", "/%4g", "/%00", "/%1F", "/%7f", "/%C3", "/%FF", "/?a=%zz",
        "/a#b", "/\u{7F}",
        "/%ED%A0%80",
    ])
    func `a target that is wrong is not read`(target: String) {
        #expect(HTTPTarget(target) == nil)
    }
}
