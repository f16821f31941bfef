import MynahCore

/// Divides the values that a device sent into answers to requests, and values that it sent by itself.
struct SentValues {
    /// The answers to each write and each subscription.
    let table: AnswerTable
    /// The indices of the values that the device sent by itself, by handle.
    private(set) var recorded: [AttributeHandle: [Int]] = [:]
    /// The index of the only value that no request caused, by handle.
    ///
    /// All other values of the characteristic answer requests.
    private(set) var exceptions: [AttributeHandle: Int] = [:]
    /// The characteristics whose values answer requests.
    private(set) var answering: Set<AttributeHandle> = []
    /// The characteristics that sent values although the capture has no subscription to them on the link.
    private(set) var unsubscribed: Set<AttributeHandle> = []
    /// The characteristics that certainly sent values without a subscription.
    ///
    /// The capture shows the whole link from its start. The link was not encrypted, so no bond can have
    /// restored a subscription.
    private(set) var unasked: Set<AttributeHandle> = []

    /// The states of the device.
    ///
    /// `earlyWrites` has the indices of the writes that got a different reaction because a state had not
    /// begun yet.
    private(set) var states: [StateFinder.State] = []
    private(set) var earlyWrites: Set<Int> = []

    /// The maximum number of writes that are compared with the values of other services.
    private static let writeLimit = 10_000

    init(_ server: ObservedServer, _ table: TableModel) {
        var services: [AttributeHandle: Int] = [:]
        var configured: [AttributeHandle: AttributeHandle] = [:]
        for (index, service) in table.services.enumerated() {
            for characteristic in service.characteristics {
                services[characteristic.value] = index
                if let handle = characteristic.configuration { configured[handle] = characteristic.value }
            }
        }
        let (requests, writeIndices) = Self.requests(server, services, configured)
        let subscriptions = Subscriptions(server, configured)
        var writes: [Int: [Int]] = [:]
        var starts: [AttributeHandle: [Int]] = [:]
        for (index, request) in requests.enumerated() {
            switch request.pattern {
            case .write(let handle, _): writes[services[handle] ?? -1, default: []].append(index)
            case .subscription(let handle): starts[handle, default: []].append(index)
            case .earlyWrite: break
            }
        }
        // Values of a service without writes may answer writes to other services.
        let all = writes.values.joined().sorted()
        let grouped = Dictionary(grouping: server.sent.indices, by: server.sent.handle)
        var answers: [Int: [AnswerTable.Answer]] = [:]
        for handle in grouped.keys.sorted() {
            guard let service = services[handle], let places = grouped[handle] else { continue }
            let scope = writes[service] ?? (all.count <= Self.writeLimit ? all : [])
            let candidates = (scope + (starts[handle] ?? [])).sorted()
            let values = places.map { place in
                TimedValue(
                    value: server.sent.value(at: place), time: server.sent.time(at: place),
                    link: server.sent.link(at: place), place: place)
            }.sorted { ($0.time, $0.place) < ($1.time, $1.place) }
            let causes = CauseFinder.causes(of: values, after: candidates.map { requests[$0] })
            var own: [Int] = []
            for (value, cause) in zip(values, causes) {
                guard case .answer(let request, let delay) = cause else {
                    own.append(value.place)
                    continue
                }
                answering.insert(handle)
                answers[candidates[request], default: []].append(
                    .init(place: value.place, handle: handle, value: Array(value.value), delay: delay))
            }
            if own.count == 1, let only = own.first, answering.contains(handle) {
                exceptions[handle] = only
            } else if !own.isEmpty {
                recorded[handle] = own.sorted()
            }
            let links = Set(places.map { server.sent.link(at: $0) }).filter {
                !subscriptions.isKnown(handle, onLink: $0)
            }
            if !links.isEmpty { unsubscribed.insert(handle) }
            if links.contains(where: { server.links[$0]?.wasEncrypted == false }) { unasked.insert(handle) }
        }
        let found = StateFinder.episodes(server, services, writeIndices, answers)
        states = StateFinder.states(of: found.episodes)
        var patterns = requests
        for (number, state) in states.enumerated() {
            for guarded in state.guarded {
                for episode in guarded.episodes {
                    earlyWrites.insert(found.writes[episode])
                    guard let request = found.requests[episode] else { continue }
                    // The same rule applies to all of these writes.
                    patterns[request].pattern = .earlyWrite(guarded.handle, guarded.written, state: number)
                }
            }
        }
        self.table = AnswerTable(patterns, answers: answers) { request, handle in
            subscriptions.isOn(handle, onLink: request.link, at: request.time)
        }
    }

    /// Returns the way in which a characteristic sends values without a subscription, or `nil` if it does
    /// not.
    func subscription(to found: TableModel.Characteristic) -> ImportedProfile.Subscription? {
        guard unsubscribed.contains(found.value) else { return nil }
        if found.lacksConfiguration { return ImportedProfile.Subscription.none }
        return unasked.contains(found.value) ? .always : nil
    }

    /// Returns a note about values without a subscription, or `nil` if none is needed.
    func note(onSubscriptionsTo found: TableModel.Characteristic) -> String? {
        switch (subscription(to: found), unsubscribed.contains(found.value)) {
        case (ImportedProfile.Subscription.none?, _): nil
        case (.always?, _): "it sent values to a central that had not subscribed"
        case (nil, true):
            """
            it sent values to a central that did not subscribe in the capture, perhaps before it; Mynah's \
            sends them only to one that subscribes
            """
        case (nil, false): found.lacksConfiguration ? "it has no 2902, and Mynah's has one" : nil
        }
    }

    /// Returns the writes that a device may have answered, and the subscriptions, in order of time.
    ///
    /// `writes` has the index of each request among all writes.
    private static func requests(
        _ server: ObservedServer, _ services: [AttributeHandle: Int],
        _ configured: [AttributeHandle: AttributeHandle]
    ) -> (requests: [TimedRequest], writes: [Int]) {
        var isOn = SubscriptionSwitch()
        let found = server.writes.enumerated().compactMap { index, write -> (TimedRequest, Int)? in
            if case .refused = write.outcome { return nil }
            let pattern: TimedRequest.Pattern
            if services[write.handle] != nil {
                pattern = .write(write.handle, write.value)
            } else if let handle = configured[write.handle] {
                // A repeated subscription, which phones write, is not a new one.
                guard isOn.update(write) else { return nil }
                pattern = .subscription(handle)
            } else {
                return nil
            }
            let request = TimedRequest(
                pattern: pattern, sentAt: write.sentAt, time: write.time, link: write.link)
            return (request, index)
        }.sorted { ($0.0.sentAt, $0.1) < ($1.0.sentAt, $1.1) }
        return (found.map(\.0), found.map(\.1))
    }
}

/// Tracks the active subscriptions by the writes to Client Characteristic Configurations.
struct SubscriptionSwitch {
    private struct Key: Hashable {
        var handle: AttributeHandle
        var link: Int
    }

    private var on: Set<Key> = []

    /// Handles a write; returns whether it begins a subscription.
    mutating func update(_ write: ObservedServer.Write) -> Bool {
        let key = Key(handle: write.handle, link: write.link)
        guard write.isSubscription else {
            on.remove(key)
            return false
        }
        return on.insert(key).inserted
    }
}

extension ObservedServer.Write {
    /// `true` if a write to a Client Characteristic Configuration enables notifications or indications.
    var isSubscription: Bool { value.first.map { $0 & 3 != 0 } == true }
}

extension StateFinder {
    /// Returns the writes to characteristics, each with the device's reaction.
    ///
    /// Also returns the index of each of these writes among all writes, and among all requests.
    fileprivate static func episodes(
        _ server: ObservedServer, _ services: [AttributeHandle: Int], _ writeIndices: [Int],
        _ answers: [Int: [AnswerTable.Answer]]
    ) -> (episodes: [Episode], writes: [Int], requests: [Int?]) {
        var numbers: [Int: Int] = [:]
        for (request, write) in writeIndices.enumerated() { numbers[write] = request }
        var result: (episodes: [Episode], writes: [Int], requests: [Int?]) = ([], [], [])
        let order = server.writes.indices.sorted {
            (server.writes[$0].sentAt, $0) < (server.writes[$1].sentAt, $1)
        }
        for index in order {
            let write = server.writes[index]
            guard services[write.handle] != nil, !write.value.isEmpty else { continue }
            let reaction: Reaction
            switch write.outcome {
            case .unanswered: continue
            case .refused(let code): reaction = .refused(code)
            case .stored, .sent:
                let list = numbers[index].flatMap { answers[$0] } ?? []
                reaction = .answered(
                    list.sorted { ($0.delay, $0.place) < ($1.delay, $1.place) }.map {
                        Sent(handle: $0.handle, value: $0.value)
                    })
            }
            result.episodes.append(
                Episode(handle: write.handle, value: write.value, link: write.link, reaction: reaction))
            result.writes.append(index)
            result.requests.append(numbers[index])
        }
        return result
    }
}

/// The subscriptions of all clients in a capture.
private struct Subscriptions {
    private struct Key: Hashable {
        var handle: AttributeHandle
        var link: Int
    }

    /// The writes to each Client Characteristic Configuration, in the order of time.
    private var changes: [Key: [(time: Int64, isOn: Bool)]] = [:]
    private var known: Set<Key> = []

    init(_ server: ObservedServer, _ configured: [AttributeHandle: AttributeHandle]) {
        for write in server.writes where write.outcome == .stored || write.outcome == .sent {
            guard let handle = configured[write.handle] else { continue }
            let key = Key(handle: handle, link: write.link)
            // If the clock was set back during the capture, the order is kept.
            let time = max(write.time, changes[key]?.last?.time ?? write.time)
            changes[key, default: []].append((time, write.isSubscription))
            if write.isSubscription { known.insert(key) }
        }
    }

    /// Whether a client subscribed to the characteristic at any time on this link.
    func isKnown(_ handle: AttributeHandle, onLink link: Int) -> Bool {
        known.contains(Key(handle: handle, link: link))
    }

    /// Whether a client was subscribed at a time.
    ///
    /// Returns `true` if the capture has no write to the configuration, because a bond may have restored a
    /// subscription.
    func isOn(_ handle: AttributeHandle, onLink link: Int, at time: Int64) -> Bool {
        guard let changes = changes[Key(handle: handle, link: link)] else { return true }
        let next = changes.bisection { $0.time > time }
        return next > 0 && changes[next - 1].isOn
    }
}
