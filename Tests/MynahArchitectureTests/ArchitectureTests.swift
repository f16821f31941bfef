import Foundation
import Testing

@Suite struct ArchitectureTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `no source file of the project breaks a wall`() throws {
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 50)
        for file in files {
            let path = "Sources" + file.path.dropFirst(sources.path.count)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(ArchitectureRules.violations(of: path, text) == [])
        }
    }

    @Test(arguments: [
        ("Sources/MynahCore/A.swift", "import MynahBlueZ"),
        ("Sources/MynahCore/A.swift", "public import Foundation"),
        ("Sources/MynahProfiles/A.swift", "import Mynah"),
        ("Sources/Mynah/A.swift", "@testable internal import MynahBlueZ"),
        ("Sources/MynahEmulator/A.swift", "import MynahBlueZ"),
        ("Sources/MynahHost/A.swift", "import Mynah"),
        ("Sources/MynahBlueZ/A.swift", "import MynahHCI"),
        ("Sources/MynahLifecycle/A.swift", "import Mynah"),
        ("Sources/MynahNew/A.swift", "import MynahCore"),
        ("Sources/Mynah/A.swift", "final class A: @unchecked Sendable {}"),
        ("Sources/MynahSupport/A.swift", "    nonisolated(unsafe) var a = 1"),
    ])
    func `a file that breaks a wall is found`(path: String, text: String) {
        #expect(ArchitectureRules.violations(of: path, text).count == 1)
    }

    @Test(arguments: [
        ("Sources/MynahCLI/A.swift", "import MynahBlueZ\nimport Dispatch"),
        ("Sources/MynahCore/A.swift", "public import MynahSupport\n// import MynahBlueZ is for others"),
        ("Sources/MynahDBus/A.swift", "final class A: @unchecked Sendable {}"),
        ("Tests/Anything/A.swift", "import MynahBlueZ"),
    ])
    func `a file that keeps them is not`(path: String, text: String) {
        #expect(ArchitectureRules.violations(of: path, text) == [])
    }

    @Test func `no level lies above one that it imports`() {
        var levels: [String: Int] = [:]
        // The longest way down from a module is its level; a cycle would have none.
        func level(_ module: String, _ above: [String]) -> Int? {
            if let known = levels[module] { return known }
            guard !above.contains(module), let imports = ArchitectureRules.allowed[module] else {
                return above.contains(module) ? nil : 0
            }
            var highest = -1
            for name in imports {
                guard let below = level(name, above + [module]) else { return nil }
                highest = max(highest, below)
            }
            levels[module] = highest + 1
            return highest + 1
        }
        for module in ArchitectureRules.allowed.keys { #expect(level(module, []) != nil) }
    }
}
