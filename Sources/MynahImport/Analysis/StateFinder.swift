import MynahCore

/// Finds writes that change the device's reaction to other writes, such as a password that unlocks a lock.
///
/// A state is reported if all of this holds:
///
/// - Writes of one value, or with one first byte, had one reaction at first, and later only others; one of
///   the values had both. The reactions differ in kind: an error, or values with another first byte or
///   length. A number that changes is not a state.
/// - Exactly one other write comes between the two reactions, and never before the first one.
///
/// If later links begin with the first reaction again, the state ends with the link. All of this must then
/// hold for each link.
enum StateFinder {
    /// A write, and the device's reaction to it.
    struct Episode: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
        var link: Int
        var reaction: Reaction
    }

    /// The reaction of a device to a write.
    enum Reaction: Hashable {
        case refused(UInt8)
        /// The values that the device sent, or an empty list if there were none.
        case answered([Sent])
    }

    /// A value that was sent.
    struct Sent: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    /// A state of the device, which begins with a write, such as an unlocked lock.
    struct State: Hashable {
        /// The write that begins the state.
        var setter: Setter
        /// `true` if the state ends with the link.
        var endsWithLink: Bool
        /// The groups of writes that got other reactions before the state.
        var guarded: [Guarded] = []
    }

    /// The write that begins a state.
    struct Setter: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    /// A group of writes that got the same reaction until the state began.
    struct Guarded: Hashable {
        var handle: AttributeHandle
        /// The written value, or its first byte.
        var written: [UInt8]
        var isPrefix: Bool
        var before: Reaction
        /// The indices of these writes among the episodes.
        var episodes: [Int]
    }

    /// The maximum number of states.
    ///
    /// `window` is the maximum number of writes between two reactions.
    private static let limit = 16
    private static let window = 64
    /// The minimum number of writes in a group.
    private static let least = 3

    /// Returns the states that a list of episodes shows.
    ///
    /// The episodes must be in order of time.
    static func states(of episodes: [Episode]) -> [State] {
        let finder = Finder(episodes)
        var states: [State] = []
        var taken: Set<Int> = []
        for group in finder.groups {
            guard let (guarded, setter, endsWithLink) = finder.change(of: group),
                taken.isDisjoint(with: guarded.episodes)
            else { continue }
            let index = states.firstIndex { $0.setter == setter && $0.endsWithLink == endsWithLink }
            guard index != nil || states.count < limit else { continue }
            taken.formUnion(guarded.episodes)
            if let index {
                states[index].guarded.append(guarded)
            } else {
                states.append(State(setter: setter, endsWithLink: endsWithLink, guarded: [guarded]))
            }
        }
        return states
    }

    /// A group of writes that are compared with each other.
    private struct Group {
        var handle: AttributeHandle
        var written: [UInt8]
        var isPrefix: Bool
        var members: [Int] = []
    }

    /// The kind of a reaction: the error, or the characteristic, length and first byte of each value.
    ///
    /// The kind does not change if only a number in the values changes.
    private enum Kind: Hashable {
        case refused(UInt8)
        case answered([Shape])

        struct Shape: Hashable {
            var handle: AttributeHandle
            var first: UInt8?
            var count: Int
        }

        init(_ reaction: Reaction) {
            switch reaction {
            case .refused(let code): self = .refused(code)
            case .answered(let sent):
                self = .answered(
                    sent.map { Shape(handle: $0.handle, first: $0.value.first, count: $0.value.count) })
            }
        }
    }

    private struct Finder {
        let episodes: [Episode]
        private(set) var groups: [Group] = []
        /// The index of the first occurrence of each write.
        ///
        /// `firstOnLink` has the index of the first occurrence on each link.
        private var first: [Setter: Int] = [:]
        private var firstOnLink: [Int: [Setter: Int]] = [:]

        init(_ episodes: [Episode]) {
            self.episodes = episodes
            var wide: [Setter: Int] = [:]
            var exact: [Setter: Int] = [:]
            var lists: [[Group]] = [[], []]
            for (index, episode) in episodes.enumerated() {
                let setter = Setter(handle: episode.handle, value: episode.value)
                if first[setter] == nil { first[setter] = index }
                if firstOnLink[episode.link]?[setter] == nil {
                    firstOnLink[episode.link, default: [:]][setter] = index
                }
                func add(_ bytes: [UInt8], _ known: inout [Setter: Int], _ list: Int) {
                    let key = Setter(handle: episode.handle, value: bytes)
                    let place = known[key] ?? lists[list].count
                    if place == lists[list].count {
                        known[key] = place
                        lists[list].append(Group(handle: key.handle, written: bytes, isPrefix: list == 0))
                    }
                    lists[list][place].members.append(index)
                }
                // A group of writes with the same first byte shows more than a group of equal writes.
                if episode.value.count > 1 { add(Array(episode.value.prefix(1)), &wide, 0) }
                add(episode.value, &exact, 1)
            }
            groups = lists.joined().filter { $0.members.count >= StateFinder.least }
        }

        func change(of group: Group) -> (Guarded, Setter, endsWithLink: Bool)? {
            let reactions = group.members.map { episodes[$0].reaction }
            guard let before = reactions.first, before != .answered([]) else { return nil }
            let kind = Kind(before)
            var early: [Int] = []
            var late: [Int] = []
            for (member, reaction) in zip(group.members, reactions) {
                if Kind(reaction) == kind {
                    guard reaction == before else { return nil }
                    early.append(member)
                } else {
                    // A missing answer may be due to a lost packet.
                    if case .answered = before, reaction == .answered([]) { return nil }
                    late.append(member)
                }
            }
            guard !late.isEmpty else { return nil }
            if group.isPrefix {
                let values = Set(early.map { episodes[$0].value })
                guard late.contains(where: { values.contains(episodes[$0].value) }) else { return nil }
            } else if Set(late.map { Kind(episodes[$0].reaction) }).count > 1 {
                return nil
            }
            let guarded = Guarded(
                handle: group.handle, written: group.written, isPrefix: group.isPrefix, before: before,
                episodes: early)
            if let last = early.last, let start = late.first, last < start {
                let link = episodes[start].link
                let found = setters(between: last, start, link, group).filter {
                    first[$0].map { $0 > last } == true
                }
                return found.count == 1 ? found.first.map { (guarded, $0, false) } : nil
            }
            return setter(early, late, group).map { (guarded, $0, true) }
        }

        /// Returns the only write that can have begun the state on every link, if each link starts before the
        /// state.
        ///
        /// Returns `nil` if there is no such write, or more than one. `early` and `late` are the episodes of
        /// the group before and after its reaction changed.
        private func setter(_ early: [Int], _ late: [Int], _ group: Group) -> Setter? {
            let lates = Dictionary(grouping: late) { episodes[$0].link }
            let earlies = Dictionary(grouping: early) { episodes[$0].link }
            guard earlies.count > 1 else { return nil }
            var common: Set<Setter>?
            for (link, members) in lates {
                guard let start = members.first, let last = earlies[link]?.last, last < start else {
                    return nil
                }
                let found = setters(between: last, start, link, group).filter {
                    firstOnLink[link]?[$0].map { $0 > last } == true
                }
                common = common?.intersection(found) ?? found
            }
            guard let common, common.count == 1, let only = common.first else { return nil }
            let isNeverEarly = earlies.allSatisfy { link, members in
                guard let place = firstOnLink[link]?[only], let last = members.last else { return true }
                return place > last
            }
            return isNeverEarly ? only : nil
        }

        /// Returns the accepted writes on a link between two indices, except those of the group.
        private func setters(between low: Int, _ high: Int, _ link: Int, _ group: Group) -> Set<Setter> {
            guard high - low <= StateFinder.window else { return [] }
            var result: Set<Setter> = []
            for episode in episodes[(low + 1)..<high] where episode.link == link {
                if case .refused = episode.reaction { continue }
                let isMember = episode.handle == group.handle && episode.value.starts(with: group.written)
                if isMember, group.isPrefix || episode.value == group.written { continue }
                result.insert(Setter(handle: episode.handle, value: episode.value))
            }
            return result
        }
    }
}
