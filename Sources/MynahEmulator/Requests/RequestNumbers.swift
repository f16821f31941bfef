import MynahSupport

/// Numbers the requests that a test is asked to answer, over all devices of a run, and remembers how they
/// have ended.
///
/// Outlives the devices, so that an answer to a request of a removed device is refused with the reason.
package final class RequestNumbers: Sendable {
    private struct State {
        var last = 0
        var ends: [(id: Int, end: RequestEnd)] = []
    }

    /// How many ends are remembered: anybody on the air could otherwise grow our memory.
    static let memory = 1024

    private let state = Lock(State())

    /// Numbers from 1 on.
    package init() {}

    /// The next number.
    func next() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// A request has ended.
    func note(_ end: RequestEnd, of id: Int) {
        state.withLock { state in
            if state.ends.count == Self.memory { state.ends.removeFirst() }
            state.ends.append((id, end))
        }
    }

    /// Why a request cannot be answered any more, or `nil` if none of this number is known to have ended.
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
