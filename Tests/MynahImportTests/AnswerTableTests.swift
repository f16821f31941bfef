import MynahCore
import Testing

@testable import MynahImport

/// The answers of each request pattern.
@Suite struct AnswerTableTests {
    /// The table of requests of one byte, each with the values that answered it: the byte, its delay in
    /// milliseconds.
    private static func table(
        _ requests: [(UInt8, [(UInt8, Int64)])], isSubscribed: Bool = true
    ) -> AnswerTable {
        let timed = requests.enumerated().map { index, request in
            TimedRequest(
                pattern: .write(21, [request.0]), sentAt: Int64(index), time: Int64(index), link: 1)
        }
        var answers: [Int: [AnswerTable.Answer]] = [:]
        for (index, request) in requests.enumerated() where !request.1.isEmpty {
            answers[index] = request.1.enumerated().map { place, answer in
                .init(place: place, handle: 18, value: [answer.0], delay: answer.1 * 1000)
            }
        }
        return AnswerTable(timed, answers: answers) { _, _ in isSubscribed }
    }

    /// Five answers, each with another value.
    private static let counting: [[(UInt8, Int64)]] = (0..<5).map { [(UInt8($0), 30 as Int64)] }

    private static func one(_ lists: [[(UInt8, Int64)]]) -> AnswerTable.Reaction? {
        table(lists.map { (1, $0) }).reactions[.write(21, [1])]
    }

    @Test func `the answer that came most often is kept, with its usual delay`() throws {
        let usual: [[(UInt8, Int64)]] = [32, 48, 40, 40].map { [(0x81, $0)] }
        let reaction = try #require(Self.one(usual + [[(0x82, 900)]]))
        #expect(reaction.answers.map(\.value) == [[0x81]] && reaction.answers.map(\.delay) == [40_000])
        #expect(reaction.turns.isEmpty && reaction.requestCount == 5 && reaction.otherCount == 1)
        #expect(reaction.other?.map(\.value) == [[0x82]])
    }

    @Test func `a delay is where most delays are`() {
        #expect(AnswerTable.usualDelay(of: [90_000, 20_000, 25_000, 91_000, 92_000]) == 91_000)
        #expect(AnswerTable.usualDelay(of: [20_000, 90_000]) == 20_000)
        #expect(AnswerTable.usualDelay(of: [30_000, 40_000, 45_000]) == 37_500)
    }

    @Test func `answers that are never the same are given in turn`() throws {
        let reaction = try #require(Self.one(Self.counting))
        #expect(reaction.turns == [[[0]], [[1]], [[2]], [[3]], [[4]]])
        #expect(reaction.answers.map(\.delay) == [30_000] && reaction.otherCount == 0)
        // One that has another shape is an exception.
        let other = try #require(Self.one(Self.counting + [[(9, 30), (9, 60)]]))
        #expect(
            other.turns.count == 6 && other.turns.last == [[4]] && other.otherCount == 1
                && other.other?.count == 2)
    }

    @Test func `polled values that are always the same have no exceptions`() throws {
        let reaction = try #require(Self.one(Array(repeating: [(0x64, 25)], count: 50)))
        #expect(reaction.otherCount == 0 && reaction.other == nil && reaction.requestCount == 50)
    }

    @Test func `a request that was rarely answered has no answer`() {
        let table = Self.table([(1, [(0x81, 30)]), (1, []), (1, []), (2, [])])
        #expect(table.reactions.isEmpty)
        #expect(table.rare[.write(21, [1])]?.otherCount == 1)
        // Without a subscription, no answer could come.
        let other = Self.table([(1, [(0x81, 30)]), (1, []), (1, [])], isSubscribed: false)
        #expect(other.reactions[.write(21, [1])]?.otherCount == 0)
    }

    @Test func `rules with one answer become a rule for what their requests begin with`() {
        func rule(_ written: [UInt8], _ value: UInt8) -> ImportedProfile.Rule {
            .init(
                written: written,
                answers: [.init(service: 0, characteristic: 1, value: [value], delay: Int64(written[1]))])
        }
        let rules = [
            rule([1, 2, 3], 9), rule([1, 2, 4], 9), rule([2, 0], 9), rule([1, 2, 5], 9), rule([1, 3], 8),
        ]
        let joined = RulePatterns.joined(rules, unanswered: [])
        #expect(joined.map(\.written) == [[2, 0], [1, 3], [1, 2]])
        #expect(joined.map(\.isPrefix) == [false, false, true])
        // A request that begins so had no answer.
        #expect(RulePatterns.joined(rules, unanswered: [[1, 2]]).map(\.written) == rules.map(\.written))
    }
}
