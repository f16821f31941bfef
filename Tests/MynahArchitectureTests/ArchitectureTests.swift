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
        ("Sources/MynahSupport/A.swift", "let ratio = 1 / 2; nonisolated(unsafe) var a = 1"),
        ("Sources/MynahCore/A.swift", "import struct Foundation.URL"),
        ("Sources/MynahCore/A.swift", "import MynahSupport; import MynahDBus"),
        ("Sources/MynahProfiles/A.swift", "internal import Foundation"),
        ("Sources/MynahCore/A.swift", "import MynahProfiles.Profile"),
        ("Sources/MynahBlueZ/A.swift", "import MynahProfiles"),
        ("Sources/MynahControl/A.swift", "import MynahBlueZ"),
        ("Sources/MynahRun/A.swift", "import MynahConsole"),
        ("Sources/MynahBlueZ/A.swift", "default: fatalError(\"no such flag\")"),
        ("Sources/MynahCLI/A.swift", #"let cache = "/home/me/.cache""#),
        ("Sources/MynahSupport/A.swift", "package struct A<B> {\n    @inlinable package init() {}\n}"),
    ])
    func `a file that breaks a wall is found`(path: String, text: String) {
        #expect(ArchitectureRules.violations(of: path, text).count == 1)
    }

    @Test(arguments: [
        ("Sources/MynahCLI/A.swift", "import MynahBlueZ\nimport Dispatch"),
        ("Sources/MynahCore/A.swift", "public import MynahSupport\n// import MynahBlueZ is for others"),
        ("Sources/MynahDBus/A.swift", "final class A: @unchecked Sendable {}"),
        (
            "Sources/MynahSupport/A.swift",
            "package let a = 1\n@usableFromInline package struct A<B> {\n    @inlinable package init() {}\n}"
        ),
        ("Tests/Anything/A.swift", "import MynahBlueZ"),
        ("Sources/MynahDBus/A.swift", "import struct Glibc.pthread_t\nlet imported = 1 // fatalError()"),
        ("Sources/MynahControl/A.swift", "import Foundation\nimport NIOHTTP1"),
    ])
    func `a file that keeps them is not`(path: String, text: String) {
        #expect(ArchitectureRules.violations(of: path, text) == [])
    }

    @Test func `every allowed import goes to a lower level`() throws {
        for (module, imports) in ArchitectureRules.allowed {
            let level = try #require(ArchitectureRules.levels[module])
            for name in imports.filter({ $0.hasPrefix("Mynah") }) {
                let below = try #require(ArchitectureRules.levels[name])
                #expect(below < level, "\(module) imports \(name)")
            }
        }
    }

    @Test func `only the run and the executable name a backend, and no module its own stack's neighbour`() {
        for (module, imports) in ArchitectureRules.allowed where !["MynahCLI", "MynahRun"].contains(module) {
            let named = imports.intersection(ArchitectureRules.backends)
            let own: Set<String> =
                switch module {
                case "MynahBlueZ": ["MynahDBus"]
                case "MynahHost": ["MynahHCI"]
                // It names their codecs, and no radio.
                case "MynahImport": ["MynahHCI", "MynahHost"]
                default: []
                }
            #expect(named.isSubset(of: own), "\(module) names a backend")
        }
    }

    @Test func `every module of the package has its rules, and its folder`() throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appending(path: "Sources").path)
        #expect(folders.count > 8)
        for folder in folders where folder != "README.md" {
            #expect(ArchitectureRules.levels[folder] != nil, "\(folder) has no level")
            #expect(manifest.contains("\"\(folder)\""), "\(folder) is in no target")
        }
    }
}
