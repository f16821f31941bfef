import MynahCore

/// Joins rules whose requests begin with the same bytes and have the same answer.
///
/// At least three requests with the same first byte and the same answer become one rule, for the bytes that
/// all of them begin with. They are not joined if a request with these bytes got no answer. Rules for other
/// requests come before the joined rule.
enum RulePatterns {
    /// The fewest requests that are joined.
    private static let least = 3

    /// The reaction of a device to a request, without its times.
    private struct Effect: Hashable {
        var error: UInt8?
        var targets: [[Int]]
        var values: [[UInt8]]

        init(_ rule: ImportedProfile.Rule) {
            error = rule.error
            targets = rule.answers.map { [$0.service, $0.characteristic] }
            values = rule.answers.map(\.value)
        }
    }

    /// Returns rules for the same requests, with the joined rules at the end.
    static func joined(_ rules: [ImportedProfile.Rule], unanswered: [[UInt8]]) -> [ImportedProfile.Rule] {
        var groups: [Effect: [Int]] = [:]
        for (index, rule) in rules.enumerated() where rule.turns.isEmpty && !rule.isOfState {
            groups[Effect(rule), default: []].append(index)
        }
        var joined: [(first: Int, rule: ImportedProfile.Rule)] = []
        var gone: Set<Int> = []
        var prefixes: [[UInt8]] = []
        let all = groups.values.filter { $0.count >= least }.sorted { ($0.count, $1[0]) > ($1.count, $0[0]) }
        for group in all {
            // Requests with different first bytes are never joined.
            for indices in Dictionary(grouping: group, by: { rules[$0].written.first }).values
            where indices.count >= least {
                let written = indices.map { rules[$0].written }
                let prefix = written.dropFirst().reduce(written[0]) { common($0, $1) }
                let isTaken = prefixes.contains { $0.starts(with: prefix) || prefix.starts(with: $0) }
                guard !isTaken, !unanswered.contains(where: { $0.starts(with: prefix) }) else { continue }
                prefixes.append(prefix)
                var rule = rules[indices[0]]
                rule.written = prefix
                rule.isPrefix = true
                for place in rule.answers.indices {
                    rule.answers[place].delay = AnswerTable.usualDelay(
                        of: indices.map { rules[$0].answers[place].delay })
                }
                joined.append((indices[0], rule))
                gone.formUnion(indices)
            }
        }
        return rules.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
            + joined.sorted { $0.first < $1.first }.map(\.rule)
    }

    private static func common(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        zip(one, other).prefix { $0 == $1 }.map(\.0)
    }
}
