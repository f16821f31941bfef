/// How much of the library is public, so that `package` stays the rule and users find what is for them.
enum PublicLimits {
    /// The modules of the library's products.
    static let modules = ["Mynah", "MynahBlueZ", "MynahCore", "MynahHCI", "MynahHost", "MynahLifecycle"]
    /// Lines that declare something public, in all these modules and in one of them; the numbers may only
    /// fall.
    static let all = 739
    static let each = ["MynahHCI": 59]

    /// The module that a source of the repository belongs to.
    static func module(of path: String) -> String? {
        path.split(separator: "/").dropFirst().first.map(String.init)
    }
}

extension SourceText {
    /// The lines that declare something `public`; an import and an extension declare nothing.
    var publicLines: Int {
        let found = words.indices.filter { index in
            let start = words[index].range.lowerBound
            let isCase = start > 0 && covered[start - 1] == UInt8(ascii: ".")
            let next = index + 1 < words.count ? words[index + 1].text : ""
            return words[index].text == "public" && !isCase && next != "import" && next != "extension"
        }
        return Set(found.map { line(of: words[$0]) }).count
    }
}
