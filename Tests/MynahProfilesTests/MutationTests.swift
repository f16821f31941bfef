import MynahCore
import MynahProfiles
import MynahSupport
import Testing

/// Files that nobody would write, from the shipped ones.
@Suite struct MutationTests {
    private static let pieces: [[UInt8]] =
        [
            "\n", " ", "  ", "\t", ":", ": ", "- ", "[", "]", "{", "}", ",", "\"", "'", "#", "&a ", "*a",
            "|\n", ">\n", "!!", "? ", "%",
            "0x", "99999999999999999999", "-1", "~", "null", "true", "<<: ", "---\n", "...\n", "\\",
            "\u{FEFF}", "\u{1F680}", "é",
            "uuid: ", "value: ", "hex: ", "every: ", "1800", "2902", "app: {}\n", "name: ",
            "faults: [", "on: read", "do: vanish", "nth: 1..2", "generate: heart-rate", "fields: ",
            "layout: ", "generate: list, values: []", "uint8", "count: ",
        ].map { Array($0.utf8) } + [[0x00], [0xFF], [0xC3], [0x85], [0x1B]]

    private func mutated(_ text: String, _ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeSubrange(start..<end)
            case 1:
                bytes.insert(
                    contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
            default:
                bytes.replaceSubrange(
                    start..<(Bool.random(using: &random) ? start : end),
                    with: Self.pieces.randomElement(using: &random) ?? [])
            }
        }
        return bytes
    }

    @Test(
        "a mutated profile is read, or its problems have positions in it",
        arguments: ShippedProfileTests.names)
    func mutations(_ name: String) throws {
        let text = contents(of: "\(repository)/profiles/\(name).yaml")
        var random = SeededRandom(seed: 7)
        var refused = 0
        for _ in 0..<60 {
            let mutated = String(decoding: mutated(text, &random), as: UTF8.self)
            let issues = issues(mutated)
            #expect(issues.first { !isPlaced($0, in: mutated) } == nil)
            if issues.contains(where: { $0.severity == .error }) { refused += 1 }
        }
        #expect(refused > 0)
    }

    /// Whether it names a place that is there, in words that no terminal would act on.
    private func isPlaced(_ issue: ProfileIssue, in text: String) -> Bool {
        let isPrintable = issue.description.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" || $0 == "\t"
        }
        guard isPrintable, !issue.message.isEmpty else { return false }
        guard let mark = issue.mark else { return true }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.indices.contains(mark.line - 1) else { return false }
        return (1...lines[mark.line - 1].unicodeScalars.count + 1).contains(mark.column)
    }
}
