import Foundation
import Testing

@Suite struct PublicLimitTests {
    @Test func `the library's public declarations stay few`() throws {
        var counts: [String: Int] = [:]
        for (path, source) in try SourceFolder.sources.get() {
            let module = try #require(PublicLimits.module(of: path))
            guard PublicLimits.modules.contains(module) else { continue }
            counts[module, default: 0] += source.publicLines
        }
        #expect(counts.keys.sorted() == PublicLimits.modules)
        #expect(counts.values.reduce(0, +) <= PublicLimits.all, "\(counts)")
        for (module, limit) in PublicLimits.each {
            #expect(try #require(counts[module]) <= limit, "\(module)")
        }
    }

    @Test func `they are the modules of the library's products`() throws {
        let package = ArchitectureTests.root.appending(path: "Package.swift")
        let manifest = try String(contentsOf: package, encoding: .utf8)
        let products = manifest.components(separatedBy: "dependencies:")[0].components(
            separatedBy: ".library(")
        let modules = products.dropFirst().flatMap { product in
            let targets = product.components(separatedBy: "targets: [").last?.prefix { $0 != "]" } ?? ""
            return targets.split(separator: ",").map { $0.filter { $0.isLetter } }
        }
        #expect(modules.sorted() == PublicLimits.modules)
    }

    @Test(arguments: [
        ("public struct A {\n    public var a = 1; public var b = 2\n    var c = 3\n}", 2),
        ("public import MynahCore\npublic extension A {}\n@frozen public enum B { case one }", 1),
        ("case `public`\nlet kind = Kind.public // public let\nlet text = \"public let\"", 0),
        ("@discardableResult\npublic func a(\n    _ kind: Kind = .public\n) {}", 1),
        ("public private(set) var a = 1\npackage var b = 2", 1),
    ])
    func `lines that declare something public are counted`(text: String, lines: Int) {
        #expect(SourceText(text).publicLines == lines)
    }
}
