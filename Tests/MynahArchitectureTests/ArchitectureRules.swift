/// The walls between modules, as rules over the text of a file.
enum ArchitectureRules {
    /// Each module's level; an import goes to a lower level, and only as `allowed` says.
    static let allowed: [String: Set<String>] = [
        "MynahSupport": [],
        "MynahCore": ["MynahSupport"],
        "MynahDBus": ["MynahSupport", "MynahCDBus", "MynahCGLib"],
        "MynahLifecycle": ["MynahCore", "MynahSupport"],
        "MynahProfiles": ["MynahCore", "MynahSupport", "Yams"],
        "MynahHCI": ["MynahCore", "MynahSupport"],
        "MynahBlueZ": ["MynahCore", "MynahDBus", "MynahSupport"],
        "MynahHost": ["MynahCore", "MynahHCI", "MynahSupport"],
        "Mynah": ["MynahCore", "MynahLifecycle", "MynahSupport"],
        "MynahEmulator": ["Mynah", "MynahCore", "MynahProfiles", "MynahSupport"],
        "MynahControl": ["MynahEmulator", "MynahSupport", "FlyingFox"],
        "MynahCLI": [
            "Mynah", "MynahBlueZ", "MynahControl", "MynahCore", "MynahEmulator", "MynahHCI", "MynahHost",
            "MynahProfiles",
            "MynahSupport", "ArgumentParser",
        ],
    ]

    /// The C library, and what every module may use.
    static let everywhere: Set<String> = ["Glibc", "Musl", "Logging"]
    /// Where Apple's big library, and its small parts, may be used.
    static let foundation: Set<String> = ["Foundation", "FoundationEssentials", "Dispatch"]
    static let aboveFoundation: Set<String> = ["MynahCLI", "MynahControl"]
    /// Where the compiler's checks may be waived.
    static let unchecked = ["Sources/MynahDBus/", "Sources/MynahSupport/Lock.swift"]

    /// What a file breaks; `path` is relative to the repository.
    static func violations(of path: String, _ text: String) -> [String] {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" else { return [] }
        let module = String(parts[1])
        guard let allowed = allowed[module] else { return ["\(path): the module \(module) has no level"] }
        var found: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let index = words.firstIndex(of: "import"), words[..<index].allSatisfy({ isModifier($0) }),
                words.count > index + 1
            {
                let name = String(words[index + 1].prefix { $0 != "." })
                let isAllowed =
                    allowed.contains(name) || everywhere.contains(name)
                    || foundation.contains(name) && aboveFoundation.contains(module)
                if !isAllowed { found.append("\(path): \(module) may not import \(name)") }
            }
            let code = line.prefix { $0 != "/" }
            if code.contains("@unchecked Sendable") || code.contains("nonisolated(unsafe)"),
                !unchecked.contains(where: { path.hasPrefix($0) })
            {
                found.append("\(path): the compiler's checks are waived outside MynahDBus and the lock")
            }
        }
        return found
    }

    private static func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || ["public", "internal", "package", "private", "fileprivate"].contains(word)
    }
}
