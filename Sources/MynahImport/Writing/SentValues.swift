import MynahCore

/// Divides the values that a device sent into answers to writes and values that it sent by itself.
///
/// Either all values of a characteristic are answers, or none.
///
/// They are answers if each came within a second after a write to its service, or half a second after another
/// answer to that write. A value may overtake the response to the write that it answers.
struct SentValues {
    /// A value that came after a write, in microseconds after the response to it.
    struct Answer: Hashable {
        /// The characteristic's index in the server's list.
        var place: Int
        var handle: AttributeHandle
        var value: [UInt8]
        var delay: Int64
    }

    private static let firstWithin: Int64 = 1_000_000
    private static let nextWithin: Int64 = 500_000
    /// The most values of one answer, as many as a device keeps for a central.
    ///
    /// More values are a transfer, and not an answer.
    private static let limit = 64

    /// The answers to a write, by its place in the server's list.
    private(set) var answers: [Int: [Answer]] = [:]
    /// The places of the values that the device sent by itself, by handle.
    private(set) var recorded: [AttributeHandle: [Int]] = [:]

    /// `services` has the value handles of each service.
    init(_ server: ObservedServer, services: [[AttributeHandle]]) {
        var service: [AttributeHandle: Int] = [:]
        for (index, handles) in services.enumerated() {
            for handle in handles { service[handle] = index }
        }
        // The writes to the values of each service, in the order of time.
        var writes: [Int: [Int]] = [:]
        for (index, write) in server.writes.enumerated() {
            guard let service = service[write.handle] else { continue }
            if case .refused = write.outcome { continue }
            writes[service, default: []].append(index)
        }
        for (index, list) in writes {
            writes[index] = list.sorted { server.writes[$0].sentAt < server.writes[$1].sentAt }
        }
        for (handle, places) in Dictionary(grouping: server.sent.indices, by: server.sent.handle) {
            guard let index = service[handle] else { continue }
            if let found = Self.answers(places, to: writes[index] ?? [], server) {
                for (write, answer) in found { answers[write, default: []].append(answer) }
            } else {
                recorded[handle] = places
            }
        }
        for (write, list) in answers {
            answers[write] = list.sorted { ($0.delay, $0.place) < ($1.delay, $1.place) }
        }
    }

    /// Each value with its write, or `nil` if one has none.
    private static func answers(
        _ places: [Int], to writes: [Int], _ server: ObservedServer
    ) -> [(Int, Answer)]? {
        var result: [(Int, Answer)] = []
        var position = 0
        var counts: [Int: Int] = [:]
        var last: (write: Int, time: Int64)?
        let sorted = places.sorted {
            (server.sent.time(at: $0), $0) < (server.sent.time(at: $1), $1)
        }
        for place in sorted {
            let value = server.sent[place]
            while position < writes.count, server.writes[writes[position]].sentAt <= value.time {
                position += 1
            }
            guard let write = position > 0 ? writes[position - 1] : nil,
                server.writes[write].link == value.link
            else { return nil }
            let delay = max(0, value.time - server.writes[write].time)
            let isNext = last.map { $0.write == write && value.time - $0.time <= nextWithin } ?? false
            guard delay <= firstWithin || isNext else { return nil }
            last = (write, value.time)
            counts[write, default: 0] += 1
            if counts[write, default: 0] > limit { return nil }
            result.append(
                (write, Answer(place: place, handle: value.handle, value: value.value, delay: delay)))
        }
        return result
    }
}
