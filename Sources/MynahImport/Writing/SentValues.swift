import MynahCore

/// Divides the values that a device sent into answers to requests, and values that it sent by itself.
struct SentValues {
    /// The answers to each write and each subscription.
    let table: AnswerTable
    /// The places of the values that the device sent by itself, by handle.
    private(set) var recorded: [AttributeHandle: [Int]] = [:]
    /// The place of the only value that no request caused, of a characteristic that sends answers.
    private(set) var exceptions: [AttributeHandle: Int] = [:]
    /// The characteristics whose values answer requests.
    private(set) var answering: Set<AttributeHandle> = []
    /// The characteristics that sent values on links on which nobody had subscribed to them.
    private(set) var unsubscribed: Set<AttributeHandle> = []

    /// More writes than these are not compared with the values of other services.
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
        let requests = Self.requests(server, services, configured)
        let subscriptions = Subscriptions(server, configured)
        var writes: [Int: [Int]] = [:]
        var starts: [AttributeHandle: [Int]] = [:]
        for (index, request) in requests.enumerated() {
            switch request.pattern {
            case .write(let handle, _): writes[services[handle] ?? -1, default: []].append(index)
            case .subscription(let handle): starts[handle, default: []].append(index)
            }
        }
        // A device without writes to the service may answer those to another one.
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
            if places.contains(where: { !subscriptions.isKnown(handle, onLink: server.sent.link(at: $0)) }) {
                unsubscribed.insert(handle)
            }
        }
        self.table = AnswerTable(requests, answers: answers) { request, handle in
            subscriptions.isOn(handle, onLink: request.link, at: request.time)
        }
    }

    /// The writes that a device may have answered, and the subscriptions, in the order of time.
    private static func requests(
        _ server: ObservedServer, _ services: [AttributeHandle: Int],
        _ configured: [AttributeHandle: AttributeHandle]
    ) -> [TimedRequest] {
        server.writes.compactMap { write -> TimedRequest? in
            if case .refused = write.outcome { return nil }
            let pattern: TimedRequest.Pattern
            if services[write.handle] != nil {
                pattern = .write(write.handle, write.value)
            } else if let handle = configured[write.handle], write.isSubscription {
                pattern = .subscription(handle)
            } else {
                return nil
            }
            return TimedRequest(pattern: pattern, sentAt: write.sentAt, time: write.time, link: write.link)
        }.enumerated().sorted { ($0.element.sentAt, $0.offset) < ($1.element.sentAt, $1.offset) }
            .map(\.element)
    }
}

extension ObservedServer.Write {
    /// `true` if a write to a Client Characteristic Configuration asks for notifications or indications.
    var isSubscription: Bool { value.first.map { $0 & 3 != 0 } == true }
}

/// The subscriptions of the clients of a capture.
private struct Subscriptions {
    private struct Key: Hashable {
        var handle: AttributeHandle
        var link: Int
    }

    /// The writes of each Client Characteristic Configuration in the order of time.
    private var changes: [Key: [(time: Int64, isOn: Bool)]] = [:]
    private var known: Set<Key> = []

    init(_ server: ObservedServer, _ configured: [AttributeHandle: AttributeHandle]) {
        for write in server.writes where write.outcome == .stored || write.outcome == .sent {
            guard let handle = configured[write.handle] else { continue }
            let key = Key(handle: handle, link: write.link)
            // A clock that was set back does not change the order.
            let time = max(write.time, changes[key]?.last?.time ?? write.time)
            changes[key, default: []].append((time, write.isSubscription))
            if write.isSubscription { known.insert(key) }
        }
    }

    /// Whether a client has subscribed on a link at any time.
    func isKnown(_ handle: AttributeHandle, onLink link: Int) -> Bool {
        known.contains(Key(handle: handle, link: link))
    }

    /// Whether a client is subscribed; without a write of the capture, a bond may have kept that.
    func isOn(_ handle: AttributeHandle, onLink link: Int, at time: Int64) -> Bool {
        guard let changes = changes[Key(handle: handle, link: link)] else { return true }
        let next = changes.bisection { $0.time > time }
        return next > 0 && changes[next - 1].isOn
    }
}
