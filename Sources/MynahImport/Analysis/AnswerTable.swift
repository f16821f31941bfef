import MynahCore

/// The answers of each request pattern, from the causes of single values.
///
/// The values that followed a pattern most times are its answer. If no answer was the usual one, the
/// answers are given in turn, in the order of the capture.
struct AnswerTable {
    /// A value that came after a request.
    struct Answer: Hashable {
        /// The place of the value among all that the device sent.
        var place: Int
        var handle: AttributeHandle
        var value: [UInt8]
        /// Microseconds after the response.
        var delay: Int64
    }

    /// The reaction to one pattern.
    struct Reaction: Hashable {
        /// The answers to one request, in the order of time, with their usual delays.
        var answers: [Answer]
        /// The values of the answers in turn, each with as many as `answers`; empty if the answers never
        /// change.
        var turns: [[[UInt8]]] = []
        /// How often the pattern was requested, and how often another answer came, or none.
        var requestCount: Int
        var otherCount = 0
        /// An answer that is left out; `nil` if there is none.
        var other: [Answer]?
    }

    /// The part of requests whose common answer makes other answers exceptions.
    private static let usual = 0.8
    /// The most answers that are given in turn.
    static let longestTurn = 64
    /// Longer values are not given in turn: the text of a variable has at most 512 bytes.
    private static let longestInTurn = 256

    /// The reactions by pattern.
    private(set) var reactions: [TimedRequest.Pattern: Reaction] = [:]
    /// The patterns that were answered less than half of the times, and are not answered by the profile.
    private(set) var rare: [TimedRequest.Pattern: Reaction] = [:]

    /// A table of requests, each with its answers; `couldAnswer` is `false` if a value of a handle could
    /// not be sent after a request, for the client had not subscribed.
    init(
        _ requests: [TimedRequest], answers: [Int: [Answer]],
        couldAnswer: (TimedRequest, AttributeHandle) -> Bool
    ) {
        var patterns: [TimedRequest.Pattern: [Int]] = [:]
        for (index, request) in requests.enumerated() { patterns[request.pattern, default: []].append(index) }
        for (pattern, indices) in patterns {
            let lists = indices.map { index in
                (answers[index] ?? []).sorted { ($0.delay, $0.place) < ($1.delay, $1.place) }
            }
            let answered = lists.filter { !$0.isEmpty }
            guard let reaction = Self.reaction(lists) else { continue }
            let missing = zip(indices, lists).count { index, list in
                list.isEmpty && reaction.answers.contains { couldAnswer(requests[index], $0.handle) }
            }
            var result = reaction
            result.requestCount = answered.count + missing
            if missing > answered.count {
                result.otherCount = answered.count
                result.other = result.answers
                rare[pattern] = result
            } else {
                result.otherCount += missing
                reactions[pattern] = result
            }
        }
    }

    /// The values of an answer, without their times.
    private struct Content: Hashable {
        var handles: [AttributeHandle]
        var values: [[UInt8]]

        init(_ list: [Answer]) {
            handles = list.map(\.handle)
            values = list.map(\.value)
        }
    }

    private static func reaction(_ all: [[Answer]]) -> Reaction? {
        let lists = all.filter { !$0.isEmpty }
        guard let first = lists.first else { return nil }
        var counts: [Content: Int] = [:]
        for list in lists { counts[Content(list), default: 0] += 1 }
        // Of several, the first one.
        var best = first
        for list in lists where counts[Content(list), default: 0] > counts[Content(best), default: 0] {
            best = list
        }
        let count = counts[Content(best), default: 0]
        if Double(count) < usual * Double(lists.count), let turns = turns(all) { return turns }
        let same = lists.filter { Content($0) == Content(best) }
        return Reaction(
            answers: timed(best, by: same), requestCount: lists.count, otherCount: lists.count - count,
            other: lists.first { Content($0) != Content(best) })
    }

    /// Answers in turn: most have as many values of the same characteristics.
    ///
    /// Another answer, or none, keeps its turn with the answer before it, so that the others keep theirs.
    private static func turns(_ lists: [[Answer]]) -> Reaction? {
        let answered = lists.filter { !$0.isEmpty }
        var counts: [[AttributeHandle]: Int] = [:]
        for list in answered { counts[list.map(\.handle), default: 0] += 1 }
        let most = counts.values.max() ?? 0
        guard Double(most) >= usual * Double(answered.count),
            let shape = answered.lazy.map({ $0.map(\.handle) }).first(where: { counts[$0] == most })
        else { return nil }
        func fits(_ list: [Answer]) -> Bool {
            list.map(\.handle) == shape && list.allSatisfy { $0.value.count <= longestInTurn }
        }
        let fitting = answered.filter(fits)
        guard fitting.count > 1, let first = fitting.first else { return nil }
        var turns: [[[UInt8]]] = []
        for list in lists.prefix(longestTurn) {
            turns.append(fits(list) ? list.map(\.value) : turns.last ?? first.map(\.value))
        }
        let left = answered.count - lists.prefix(longestTurn).count(where: fits)
        return Reaction(
            answers: timed(first, by: fitting), turns: turns, requestCount: answered.count, otherCount: left,
            other: answered.first { !fits($0) } ?? fitting.dropFirst(longestTurn).first)
    }

    /// The middle of the 20 ms in which most of the delays are; of several, the earliest.
    ///
    /// The delays of one device may have two values, as with two connection intervals.
    static func usualDelay(of delays: [Int64]) -> Int64 {
        let sorted = delays.sorted()
        var (best, start) = (0..<1, 0)
        for end in sorted.indices {
            while sorted[end] - sorted[start] > 20_000 { start += 1 }
            if end + 1 - start > best.count { best = start..<(end + 1) }
        }
        return (sorted[best.lowerBound] + sorted[best.upperBound - 1]) / 2
    }

    /// The answers with the usual delay of each among lists of the same length.
    private static func timed(_ answers: [Answer], by lists: [[Answer]]) -> [Answer] {
        answers.enumerated().map { index, answer in
            var answer = answer
            answer.delay = usualDelay(of: lists.map { $0[index].delay })
            return answer
        }
    }
}
