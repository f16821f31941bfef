import Foundation
import Testing

@testable import MynahProfiles

/// The article about events, held against their table.
@Suite struct EventArticleTests {
    private static let path =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        + "/Sources/Mynah/Mynah.docc/Events.md"
    private static let head = ["| events | fields |", "|---|---|"]

    /// A line of the article for each event, or for several in a row with the same fields.
    private static var lines: [String] {
        var groups: [(names: [String], fields: [String])] = []
        for row in EventTable.rows {
            let fields = row.fields.map { "`\($0.key)`" }
            if let last = groups.indices.last, groups[last].fields == fields {
                groups[last].names.append("`\(row.name.rawValue)`")
            } else {
                groups.append((["`\(row.name.rawValue)`"], fields))
            }
        }
        return head
            + groups.map { group in
                let fields = group.fields.isEmpty ? "none" : group.fields.joined(separator: ", ")
                return "| \(group.names.joined(separator: ", ")) | \(fields) |"
            }
    }

    /// `MYNAH_RECORD=1` writes the table into the article.
    @Test func `the article lists each event with the fields of the table`() throws {
        var article = try String(contentsOfFile: Self.path, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(article.firstIndex(of: Self.head[0]))
        let end = try #require(article[start...].firstIndex { !$0.hasPrefix("|") })
        guard ProcessInfo.processInfo.environment["MYNAH_RECORD"] != nil else {
            return #expect(Array(article[start..<end]) == Self.lines)
        }
        article.replaceSubrange(start..<end, with: Self.lines)
        try article.joined(separator: "\n").write(toFile: Self.path, atomically: true, encoding: .utf8)
    }
}
