import MynahCore

/// Finds out which values of one characteristic answer requests, and which the device sends by itself.
///
/// A value can only answer the last request before it on its link, or an earlier one if the answer is late.
/// The decision uses these terms:
///
/// - A kind is all values with the same first byte and length.
/// - A group is a set of requests that are compared: equal requests, requests with the same first byte, or
///   all writes of one characteristic.
/// - A value is near a request if it came within a second of the request, or within half a second of another
///   near value.
/// - A value is a usual answer if the second or third row of the table applies to it.
///
/// The first row that applies to a value decides its cause:
///
/// | the value | cause |
/// |---|---|
/// | comes at one rate with or without requests, or fills a gap of a regular stream | the stream |
/// | has the delay at which most requests of a group got a value | the request |
/// | is of a kind, and most requests of a group got exactly one value of this kind | the request |
/// | is of a kind with a regular period | the stream |
/// | is near, but most values of its kind came without a request | none |
/// | is near, but few similar requests have a near value | none |
/// | is near, but late after a write's usual answer, and the only one of its kind | none |
/// | is near | the request |
/// | anything else | none |
struct CauseFinder {
    /// The time within which a value is near a request (see `CauseFinder`), in microseconds.
    ///
    /// `nearPrevious` is the time within which it is near another value that is near a request.
    static let near: Int64 = 1_000_000
    static let nearPrevious: Int64 = 500_000
    /// The value that replaces `near` for writes if the capture has fewer than three requests.
    static let nearFew: Int64 = 2_000_000
    /// The longest time between a request and its answer, in microseconds.
    static let latest: Int64 = 60_000_000
    /// The maximum number of values in one answer; a longer answer is a stream.
    ///
    /// `largestAnswer` is the maximum number of bytes of its lines in a profile.
    static let longestAnswer = 10_000
    private static let largestAnswer = 1 << 19
    /// The length of a line in a profile without its value, in bytes.
    private static let lineSize = 72
    /// The maximum number of values that a subscription alone causes; if there are more, they are a stream.
    static let longestGreeting = 4

    /// The number of earlier requests that are tried as the cause of a late answer.
    private static let displaced = 3
    /// The fraction of a group's requests that must get an answer with the same delay.
    ///
    /// Values with this delay are then assumed to be answers.
    private static let usual = 0.6
    /// The fraction of values or requests that must agree; the others are then exceptions.
    private static let most = 0.8

    /// Returns the cause of each value.
    ///
    /// The values must be in order of time, and the requests in order of `sentAt`.
    static func causes(of values: [TimedValue], after requests: [TimedRequest]) -> [ValueCause] {
        var finder = CauseFinder(values, requests)
        finder.findNear()
        finder.sortByKind()
        finder.findUsualDelays()
        finder.findDisplaced()
        finder.findCompanions()
        return finder.decide()
    }

    /// The properties of a value from which its cause is derived.
    private struct Place {
        /// The index of the last request before the value, or `nil` if its link has none.
        var request: Int?
        /// The time from the response to that request until the value.
        var delay: Int64 = 0
        var isNear = false
        var kind = 0
        /// `true` if the value is a usual answer: most requests of a group got a value with this delay, or of
        /// this kind.
        var isUsual = false
    }

    /// The values with the same first byte and length.
    private struct Kind {
        var members: [Int] = []
        /// `true` if the values come at the same rate, whether or not requests are sent between them.
        ///
        /// Only short gaps between values can show that.
        var isFree = false
        /// The time between two successive values, or `nil` if it varies.
        ///
        /// Values with `Place.isUsual` are ignored.
        var period: Int64?
        /// The number of values that came soon after a request.
        ///
        /// `farCount` is the number of all others. Values with `Place.isUsual` are ignored.
        var nearCount = 0
        var farCount = 0
    }

    private let values: [TimedValue]
    private let requests: [TimedRequest]
    private var places: [Place]
    private var kinds: [Kind] = []
    /// The number of requests in each group of similar requests.
    ///
    /// `groups` has the groups of each request: first that of equal requests, and last that of all writes to
    /// the characteristic.
    private var groupSizes: [Int] = []
    private var groups: [[Int]] = []
    /// The delays at which most requests of a group get an answer.
    private var delays: [Int: [ClosedRange<Int64>]] = [:]
    /// The number of requests in each group of similar requests after which a value came soon (`near`).
    private var nearCounts: [Int: Int] = [:]

    private init(_ values: [TimedValue], _ requests: [TimedRequest]) {
        (self.values, self.requests) = (values, requests)
        places = Array(repeating: Place(), count: values.count)
        var numbers: [GroupKey: Int] = [:]
        for request in requests {
            groups.append(
                GroupKey.all(of: request.pattern).map { key in
                    let number = numbers[key] ?? groupSizes.count
                    if number == groupSizes.count {
                        numbers[key] = number
                        groupSizes.append(0)
                    }
                    groupSizes[number] += 1
                    return number
                })
        }
    }

    /// The key of a group of requests that are compared with each other.
    private enum GroupKey: Hashable {
        case exact(TimedRequest.Pattern)
        case firstByte(AttributeHandle, UInt8)
        case written(AttributeHandle)

        static func all(of pattern: TimedRequest.Pattern) -> [GroupKey] {
            guard case .write(let handle, let bytes) = pattern else { return [.exact(pattern)] }
            return [.exact(pattern)] + (bytes.first.map { [.firstByte(handle, $0)] } ?? [])
                + [.written(handle)]
        }
    }

    // MARK: Single values

    /// Finds the last request before each value, and whether the value came soon after this request (`near`).
    private mutating func findNear() {
        var last: [Int: Int] = [:]
        var previous: [Int: Int] = [:]
        var position = 0
        var run = 0
        for index in values.indices {
            let (time, link) = (values[index].time, values[index].link)
            while position < requests.count, requests[position].sentAt <= time {
                last[requests[position].link] = position
                position += 1
            }
            defer { previous[link] = index }
            guard let request = last[link] else { continue }
            places[index].request = request
            // In a capture, a value may precede the response to the request that caused it.
            places[index].delay = max(0, time - requests[request].time)
            let isNext =
                previous[link].map {
                    places[$0].request == request && places[$0].isNear
                        && time - values[$0].time <= Self.nearPrevious
                } ?? false
            places[index].isNear = places[index].delay <= limit(requests[request].pattern) || isNext
            run = previous[link].map { places[$0].request == request } == true ? run + 1 : 1
            if case .subscription = requests[request].pattern, run > Self.longestGreeting {
                places[index].isNear = false
            }
        }
    }

    private func limit(_ pattern: TimedRequest.Pattern) -> Int64 {
        if case .write = pattern, requests.count < 3 { Self.nearFew } else { Self.near }
    }

    /// Sorts values into kinds by first byte and length.
    ///
    /// Values of one length with different first bytes are one kind if they form a stream together, or if
    /// requests caused few of them.
    private mutating func sortByKind() {
        for list in Dictionary(grouping: values.indices, by: { values[$0].value.count }).values {
            var rest: [[Int]] = []
            for members in Dictionary(grouping: list, by: { values[$0].value.first }).values {
                if isFree(members) { add(Kind(members: members, isFree: true)) } else { rest.append(members) }
            }
            // If a first byte and length has many values, these are always a kind of their own.
            let limit = max(2, list.count / 20)
            let joined = rest.filter { $0.count <= limit }.joined().sorted()
            let far = joined.count { !places[$0].isNear }
            let isStream = isFree(joined)
            if joined.count > list.count / 2, isStream || far >= 3 && far > joined.count / 2 {
                add(Kind(members: joined, isFree: isStream))
                rest.removeAll { $0.count <= limit }
            }
            for members in rest { add(Kind(members: members)) }
        }
    }

    private mutating func add(_ kind: Kind) {
        for index in kind.members { places[index].kind = kinds.count }
        kinds.append(kind)
    }

    /// Whether values come with the same gaps while requests are sent, so that the requests do not cause
    /// them.
    ///
    /// Polled values come once for each request, so each of their gaps has a request. A single gap may match
    /// by chance, unless there are many other gaps.
    private func isFree(_ members: [Int]) -> Bool {
        let gaps = gaps(members)
        let (inner, crossing) = (gaps.filter { !$0.hasRequest }, gaps.filter(\.hasRequest))
        guard inner.count >= 3, crossing.count >= (inner.count < 20 ? 2 : 1),
            let median = Self.median(inner.map(\.length))
        else { return false }
        return [inner, crossing].allSatisfy { gaps in
            let regular = gaps.count { Self.isLike($0.length, median, max(Self.tolerance(0), median / 5)) }
            return Double(regular) >= 0.7 * Double(gaps.count)
        }
    }

    private struct Gap {
        var length: Int64
        /// `true` if a request was sent during the gap.
        var hasRequest: Bool
    }

    /// Returns the gaps between successive values on the same link.
    private func gaps(_ members: [Int]) -> [Gap] {
        zip(members, members.dropFirst()).compactMap { before, after in
            guard values[before].link == values[after].link else { return nil }
            return Gap(
                length: values[after].time - values[before].time,
                hasRequest: places[before].request != places[after].request)
        }
    }

    // MARK: Usual answers

    /// Returns the largest difference between two delays of the same answer, in microseconds.
    private static func tolerance(_ delay: Int64) -> Int64 { min(max(20_000, delay / 20), 100_000) }

    /// Finds the values with a usual delay: one after which most requests of a group got a value.
    private mutating func findUsualDelays() {
        var followers: [Int: [Int]] = [:]
        for index in values.indices {
            guard let request = places[index].request, places[index].delay <= Self.latest,
                !kinds[places[index].kind].isFree
            else { continue }
            for group in groups[request] where groupSizes[group] > 1 {
                followers[group, default: []].append(index)
            }
        }
        for (group, list) in followers {
            let sorted = list.sorted { (places[$0].delay, $0) < (places[$1].delay, $1) }
            delays[group] = markUsual(sorted, needed: needed(group))
        }
    }

    /// Returns the number of requests in a group that must get a value with the same delay to make it usual.
    ///
    /// The number is 60 % of the group's requests, but at least two.
    private func needed(_ group: Int) -> Int {
        max(2, Int((Double(groupSizes[group]) * Self.usual).rounded(.up)))
    }

    /// Marks the values with a usual delay, and returns the ranges of these delays.
    ///
    /// `list` has the values that follow a group's requests, sorted by delay.
    private mutating func markUsual(_ list: [Int], needed: Int) -> [ClosedRange<Int64>] {
        var found: [ClosedRange<Int64>] = []
        var counts: [Int: Int] = [:]
        var end = 0
        var marked = 0
        for start in list.indices {
            let delay = places[list[start]].delay
            while end < list.count, places[list[end]].delay - delay <= Self.tolerance(delay) {
                if let request = places[list[end]].request { counts[request, default: 0] += 1 }
                end += 1
            }
            if counts.count >= needed {
                for index in list[max(start, marked)..<end] { places[index].isUsual = true }
                marked = end
                let last = places[list[end - 1]].delay
                if found.last.map({ $0.upperBound < delay }) ?? true { found.append(delay...last) }
            }
            if let request = places[list[start]].request {
                counts[request] = counts[request] == 1 ? nil : counts[request].map { $0 - 1 }
            }
        }
        return found
    }

    /// Finds values that answer a request after which the client has already sent another one.
    ///
    /// Such a value becomes the answer of the earlier request if that has no answer yet, and if its delay is
    /// one that the answers to similar requests have.
    private mutating func findDisplaced() {
        guard !delays.isEmpty else { return }
        var answered = Set(places.filter(\.isUsual).compactMap(\.request))
        var earlier: [Int?] = []
        var last: [Int: Int] = [:]
        for (index, request) in requests.enumerated() {
            earlier.append(last[request.link])
            last[request.link] = index
        }
        for index in values.indices where !places[index].isUsual && !kinds[places[index].kind].isFree {
            var candidate = places[index].request.flatMap { earlier[$0] }
            for _ in 0..<Self.displaced {
                guard let request = candidate else { break }
                let delay = values[index].time - requests[request].time
                let isUsual = groups[request].contains { group in
                    delays[group]?.contains { $0.contains(delay) } == true
                }
                if isUsual, answered.insert(request).inserted {
                    places[index].request = request
                    places[index].delay = delay
                    places[index].isUsual = true
                    break
                }
                candidate = earlier[request]
            }
        }
    }

    /// Marks a value as an answer if most similar requests got a value with the same first byte and length.
    ///
    /// The delay does not matter. Most values with this first byte and length must be the first such value
    /// after one of these requests.
    private mutating func findCompanions() {
        for kind in kinds where kind.members.count >= 3 && !kind.isFree {
            var first: [Int: Int] = [:]
            for index in kind.members {
                guard let request = places[index].request, first[request] == nil,
                    places[index].delay <= Self.latest
                else { continue }
                first[request] = index
            }
            var byGroup: [Int: [Int]] = [:]
            for (request, index) in first {
                for group in groups[request] where groupSizes[group] >= 3 {
                    byGroup[group, default: []].append(index)
                }
            }
            for (group, indices) in byGroup
            where Double(indices.count) >= Self.most * Double(max(groupSizes[group], kind.members.count)) {
                for index in indices { places[index].isUsual = true }
            }
        }
    }

    // MARK: Decision

    private mutating func decide() -> [ValueCause] {
        for number in kinds.indices { weigh(&kinds[number]) }
        let answered = Set(
            places.filter { $0.isNear && !kinds[$0.kind].isFree && kinds[$0.kind].period == nil }
                .compactMap(\.request))
        for request in answered { for group in groups[request] { nearCounts[group, default: 0] += 1 } }
        // The requests with a usual answer, by their widest group: other values after them are exceptions.
        var usualRequests: [Int: Set<Int>] = [:]
        for place in places where place.isUsual {
            guard let request = place.request, let group = groups[request].last else { continue }
            usualRequests[group, default: []].insert(request)
        }
        let settled = Set(
            usualRequests.filter {
                groupSizes[$0.key] >= 5 && Double($0.value.count) >= Self.most * Double(groupSizes[$0.key])
            }.keys)
        var causes = values.indices.map { cause(of: $0, settled: settled) }
        limit(&causes)
        return causes
    }

    private func weigh(_ kind: inout Kind) {
        let others = kind.members.filter { !places[$0].isUsual }
        kind.nearCount = others.count { places[$0].isNear }
        kind.farCount = others.count - kind.nearCount
        guard others.count >= 5 else { return }
        let gaps = gaps(others)
        guard let median = Self.median(gaps.map(\.length)), median > 0 else { return }
        func part(_ gaps: [Gap]) -> Double {
            // A value of a stream may have been mistaken for a usual answer.
            let regular = gaps.count { gap in
                let count = (gap.length + median / 2) / median
                return (1...4).contains(count) && Self.isLike(gap.length, count * median, median / 6)
            }
            return Double(regular) / Double(max(1, gaps.count))
        }
        let crossing = gaps.filter(\.hasRequest)
        // Several values that one request caused may be regular too.
        let isOwn = kind.farCount > 0 || crossing.count >= 3 && part(crossing) >= 0.7
        if isOwn, part(gaps) >= 0.7 { kind.period = median }
    }

    private func cause(of index: Int, settled: Set<Int>) -> ValueCause {
        let place = places[index]
        let kind = kinds[place.kind]
        if kind.isFree { return .stream }
        guard let request = place.request else { return kind.period == nil ? .unasked : .stream }
        let answer = ValueCause.answer(request: request, delay: place.delay)
        if place.isUsual { return fillsGap(index, kind) ? .stream : answer }
        if kind.period != nil { return .stream }
        guard place.isNear, kind.farCount == 0 || kind.nearCount > kind.farCount, !isRare(request) else {
            return .unasked
        }
        return isException(index, settled) ? .unasked : answer
    }

    /// Whether a value that came soon after this request is there by chance.
    ///
    /// This is assumed if no value came soon after most similar requests.
    private func isRare(_ request: Int) -> Bool {
        guard let group = groups[request].prefix(2).first(where: { groupSizes[$0] >= 5 }) else {
            return false
        }
        return 4 * nearCounts[group, default: 0] < groupSizes[group]
    }

    /// Whether the values of a stream would have a gap if this value did not belong to it.
    private func fillsGap(_ index: Int, _ kind: Kind) -> Bool {
        guard let period = kind.period else { return false }
        let position = kind.members.bisection { $0 >= index }
        let link = values[index].link
        func isOther(_ other: Int) -> Bool { !places[other].isUsual && values[other].link == link }
        guard let before = kind.members[..<position].suffix(8).last(where: isOther),
            let after = kind.members[(position + 1)...].prefix(8).first(where: isOther)
        else { return false }
        return Self.isLike(values[index].time - values[before].time, period, period / 4)
            && Self.isLike(values[after].time - values[before].time, 2 * period, period / 2)
    }

    /// Whether a value does not answer a write, although it came soon after the write.
    ///
    /// The value comes late after another answer, which all similar writes have got, and few values have the
    /// same first byte and length.
    private func isException(_ index: Int, _ settled: Set<Int>) -> Bool {
        guard index > 0, let request = places[index].request, let group = groups[request].last,
            settled.contains(group), places[index - 1].request == request
        else { return false }
        return values[index].time - values[index - 1].time > 200_000
            && kinds[places[index].kind].members.count <= max(1, groupSizes[group] / 10)
    }

    /// Marks the answers to a request as a stream if the request has too many of them.
    private func limit(_ causes: inout [ValueCause]) {
        var counts: [Int: (values: Int, bytes: Int)] = [:]
        for (index, cause) in causes.enumerated() {
            guard case .answer(let request, _) = cause else { continue }
            counts[request, default: (0, 0)].values += 1
            counts[request, default: (0, 0)].bytes += Self.lineSize + 2 * values[index].value.count
        }
        for (index, cause) in causes.enumerated() {
            guard case .answer(let request, _) = cause, let count = counts[request] else { continue }
            var limit = Self.longestAnswer
            if case .subscription = requests[request].pattern { limit = Self.longestGreeting }
            if count.values > limit || count.bytes > Self.largestAnswer { causes[index] = .stream }
        }
    }

    // MARK: Numbers

    private static func median(_ numbers: [Int64]) -> Int64? {
        numbers.isEmpty ? nil : numbers.sorted()[numbers.count / 2]
    }

    private static func isLike(_ number: Int64, _ other: Int64, _ tolerance: Int64) -> Bool {
        abs(number - other) <= tolerance
    }
}
