import MynahCore

/// The answers to each request pattern, derived from the causes of single values.
///
/// The usual answer to a pattern is the list of values that followed such a request most often. If no list
/// followed at least 80 % of the answered requests, the answers are given in turn if possible: each request
/// gets the next answer, in the order of the capture.
struct AnswerTable {
    /// A value that followed a request.
    struct Answer: Hashable {
        /// The index of the value among all values that the device sent.
        var place: Int
        var handle: AttributeHandle
        var value: [UInt8]
        /// The time from the response to the value, in microseconds.
        var delay: Int64
    }

    /// The device's answers to the requests with one pattern.
    struct Reaction: Hashable {
        /// The values that usually follow one request, in order of time, each with its usual delay.
        var answers: [Answer]
        /// The values to send after the first request, the second request and so on, if the answers differ.
        ///
        /// Each element has one value for each of `answers`. The list is empty if the answers never change.
        var turns: [[[UInt8]]] = []
        /// The number of requests with the pattern.
        ///
        /// `otherCount` is the number of those that got no answer, or an answer that differs from `answers`.
        var requestCount: Int
        var otherCount = 0
        /// An example of an answer that differs from `answers`, or `nil` if there is none.
        var other: [Answer]?
    }

    /// The fraction of requests that must get the same answer; the other answers then count as exceptions.
    private static let usual = 0.8
    /// The maximum number of elements of `Reaction.turns`.
    static let longestTurn = 64
    /// The maximum length of a value in `Reaction.turns`, in bytes.
    ///
    /// The value becomes the text of a variable, which has at most 512 bytes.
    private static let longestInTurn = 256

    /// The device's reactions to the requests of each pattern.
    private(set) var reactions: [TimedRequest.Pattern: Reaction] = [:]
    /// The reactions to patterns that got an answer less than half of the time.
    ///
    /// The profile does not contain these reactions.
    private(set) var rare: [TimedRequest.Pattern: Reaction] = [:]

    /// Makes the table of requests and their answers.
    ///
    /// `couldAnswer` is `false` if the device could not send a value after a request, because the client had
    /// not subscribed.
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

    /// The handles and values of an answer, without the times.
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
        // If several answers are equally common, the first one is used.
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

    /// Returns a reaction with a different answer to each request (`Reaction.turns`).
    ///
    /// Returns `nil` unless most answers have values of the same characteristics. If a request got a
    /// different answer or none, its turn repeats the previous answer, so that later answers keep their
    /// turns.
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

    /// Returns the middle of the interval of 20 ms that contains the most delays.
    ///
    /// If there are several such intervals, the earliest one is used. The delays of a device may have two
    /// usual values, for example with two connection intervals.
    static func usualDelay(of delays: [Int64]) -> Int64 {
        let sorted = delays.sorted()
        var (best, start) = (0..<1, 0)
        for end in sorted.indices {
            while sorted[end] - sorted[start] > 20_000 { start += 1 }
            if end + 1 - start > best.count { best = start..<(end + 1) }
        }
        return (sorted[best.lowerBound] + sorted[best.upperBound - 1]) / 2
    }

    /// Returns these answers, each with the usual delay of the answers at the same position in `lists`.
    private static func timed(_ answers: [Answer], by lists: [[Answer]]) -> [Answer] {
        answers.enumerated().map { index, answer in
            var answer = answer
            answer.delay = usualDelay(of: lists.map { $0[index].delay })
            return answer
        }
    }
}
