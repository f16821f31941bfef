import MynahSupport

/// Numbers the requests to tests across all devices of a run, and remembers how each ended.
///
/// This object outlives the devices, so that an answer to a request of a removed device is refused with the
/// right reason.
package final class RequestNumbers: Sendable {
    private struct State {
        var last = 0
        var ends: [(id: Int, end: RequestEnd)] = []
    }

    /// The most requests whose end is remembered; without a limit, a peer could fill the memory.
    static let memory = 1024

    private let state = Lock(State())

    /// Makes a counter whose numbers begin with 1.
    package init() {}

    /// Returns the next number.
    func next() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// Records how a request ended.
    func note(_ end: RequestEnd, of id: Int) {
        state.withLock { state in
            if state.ends.count == Self.memory { state.ends.removeFirst() }
            state.ends.append((id, end))
        }
    }

    /// The reason that a request can no longer be answered, or `nil` if its end is not known.
    package func refusal(of id: Int) -> ControlRefusal? {
        switch state.withLock({ $0.ends.last { $0.id == id }?.end }) {
        case nil: nil
        case .answered?: .conflict("request \(id) was answered before")
        case .timeout?: .conflict("request \(id) was not answered in time: its central got 0x0E")
        case .disconnected?: .conflict("the central of request \(id) has disconnected")
        case .reset?: .conflict("request \(id) was answered with 0x0E, because its device was reset")
        case .ended?:
            .conflict(
                "request \(id) was answered with 0x0E, because its app has ended or its device was removed")
        }
    }
}
