/// The walls between modules, as rules over the text of a file.
enum ArchitectureRules {
    /// Each module's level; an import goes to a lower one.
    static let levels: [String: Int] = [
        "MynahSupport": 0, "MynahCDBus": 0, "MynahCGLib": 0, "MynahCYAML": 0,
        "MynahCCrypto": 0,
        "MynahCore": 1, "MynahDBus": 1,
        "MynahFaults": 2, "MynahValues": 2, "MynahLifecycle": 2, "MynahHCI": 2,
        "MynahProfiles": 3, "Mynah": 3, "MynahHost": 3, "MynahBlueZ": 3,
        "MynahEmulator": 4,
        "MynahControl": 5, "MynahImport": 5,
        "MynahRun": 6,
        "MynahConsole": 7,
        "MynahCLI": 8,
    ]

    /// The modules that each module may import, ours and others.
    static let allowed: [String: Set<String>] = [
        "MynahSupport": [],
        "MynahCore": ["MynahSupport"],
        "MynahDBus": ["MynahSupport", "MynahCDBus", "MynahCGLib"],
        "MynahFaults": ["MynahCore", "MynahSupport"],
        "MynahValues": ["MynahCore", "MynahSupport"],
        "MynahLifecycle": ["MynahCore", "MynahSupport"],
        "MynahHCI": ["MynahCore", "MynahSupport"],
        "MynahProfiles": ["MynahCore", "MynahCYAML", "MynahFaults", "MynahSupport", "MynahValues"],
        "MynahBlueZ": ["MynahCore", "MynahDBus", "MynahFaults", "MynahSupport"],
        "MynahHost": ["MynahCore", "MynahFaults", "MynahHCI", "MynahSupport", "MynahCCrypto"],
        "Mynah": ["MynahCore", "MynahLifecycle", "MynahSupport"],
        "MynahEmulator": [
            "Mynah", "MynahCore", "MynahFaults", "MynahLifecycle", "MynahProfiles", "MynahSupport",
            "MynahValues",
        ],
        "MynahControl": [
            "Mynah", "MynahCore", "MynahEmulator", "MynahLifecycle", "MynahProfiles", "MynahSupport",
            "MynahValues", "NIOCore", "NIOPosix", "NIOHTTP1",
        ],
        // The codecs of packets, to read captures of them.
        "MynahImport": ["MynahCore", "MynahHCI", "MynahHost", "MynahSupport", "MynahValues"],
        "MynahRun": [
            "Mynah", "MynahBlueZ", "MynahControl", "MynahCore", "MynahEmulator", "MynahFaults", "MynahHCI",
            "MynahHost", "MynahLifecycle", "MynahProfiles", "MynahSupport",
        ],
        "MynahConsole": [
            "Mynah", "MynahCore", "MynahEmulator", "MynahLifecycle", "MynahProfiles", "MynahRun",
            "MynahSupport", "MynahValues",
        ],
        "MynahCLI": [
            "Mynah", "MynahBlueZ", "MynahConsole", "MynahControl", "MynahCore", "MynahEmulator",
            "MynahFaults", "MynahHCI", "MynahHost", "MynahImport",
            "MynahLifecycle", "MynahProfiles", "MynahRun", "MynahSupport", "MynahValues", "ArgumentParser",
        ],
    ]

    /// The C library, the standard library's atomics, and what every module may use.
    static let everywhere: Set<String> = ["Glibc", "Synchronization", "Logging"]
    /// Where Apple's big library, and its small parts, may be used.
    static let foundation: Set<String> = ["Foundation", "FoundationEssentials", "Dispatch"]
    static let aboveFoundation: Set<String> = ["MynahCLI", "MynahControl"]
    /// The modules that only the run and the executable may name: the radios, and their parts.
    static let backends: Set<String> = ["MynahBlueZ", "MynahHost", "MynahHCI", "MynahDBus"]
    /// Where the compiler's checks may be waived.
    static let unchecked = [
        "Sources/MynahDBus/", "Sources/MynahSupport/Lock.swift",
        // Values that an executor guards in place of a lock.
        "Sources/MynahCore/Actor+OwnExecutor.swift",
    ]

    /// The rules that a file breaks; `path` is relative to the repository.
    static func violations(of path: String, _ text: String) -> [String] {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" else { return [] }
        let module = String(parts[1])
        guard let allowed = allowed[module] else { return ["\(path): the module \(module) has no level"] }
        var found: [String] = []
        var isPackage = false
        for line in text.split(separator: "\n") {
            let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
            if let first = code.first, first != " ", first != "}" { isPackage = code.hasPrefix("package ") }
            if isPackage, code.contains("@inlinable") {
                found.append("\(path): @inlinable in a package type needs @usableFromInline")
            }
            for statement in code.split(separator: ";") {
                guard let name = importedModule(statement) else { continue }
                let isAllowed =
                    allowed.contains(name) || everywhere.contains(name)
                    || foundation.contains(name) && aboveFoundation.contains(module)
                if !isAllowed { found.append("\(path): \(module) may not import \(name)") }
            }
            if code.contains("@unchecked Sendable") || code.contains("nonisolated(unsafe)"),
                !unchecked.contains(where: { path.hasPrefix($0) })
            {
                found.append("\(path): the compiler's checks are waived where they may not be")
            }
            if code.contains("fatalError(") { found.append("\(path): it may not end the process") }
            if homes.contains(where: { line.contains($0) }) {
                found.append("\(path): it names a folder of someone's machine")
            }
        }
        return found
    }

    private static let homes = ["/home/", "/Users/"]
    private static let kinds: Set<Substring> = [
        "actor", "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]

    /// The module that a statement imports, whole or one name of it; nil where it is no import.
    private static func importedModule(_ statement: Substring) -> String? {
        let words = statement.split { $0 == " " || $0 == "\t" }
        guard let index = words.firstIndex(of: "import"), words[..<index].allSatisfy({ isModifier($0) })
        else { return nil }
        return words[(index + 1)...].first { !kinds.contains($0) }.map { String($0.prefix { $0 != "." }) }
    }

    private static func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || ["public", "internal", "package", "private", "fileprivate"].contains(word)
    }
}
