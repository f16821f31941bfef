import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Events for the tests of the journal.
enum Events {
    /// An event with these fields, and a fixed time.
    static func event(_ name: DeviceEvent.Name, _ fields: [(String, JSON)] = []) -> DeviceEvent {
        DeviceEvent(
            time: WallTime(microseconds: 0), name: name,
            fields: [.init("device", .string("lock"))] + fields.map { .init($0.0, $0.1) })
    }

    /// A write of a value.
    static func write(_ value: String, of characteristic: String = "2A39") -> DeviceEvent {
        event(
            .write,
            [
                ("service", .string("180D")), ("characteristic", .string(characteristic)),
                ("value", .string(value)),
            ])
    }

    /// A match of any write.
    static let anyWrite: EventMatch = {
        do throws(EventMatch.Problem) {
            return try EventMatch(parsing: "write")
        } catch {
            preconditionFailure("write is an event")
        }
    }()

    /// A change of the MTU to this number, which tells it from others.
    static func numbered(_ number: Int) -> DeviceEvent { event(.mtuChanged, [("mtu", .integer(number))]) }

    /// A journal with these events.
    static func journal(_ events: [DeviceEvent], capacity: Int = 100) -> Journal {
        let journal = Journal(capacity: capacity, epoch: "e")
        for event in events { journal.append(event) }
        return journal
    }
}

/// The problem that is thrown, or `nil` if there is none.
func thrown(_ body: () async throws(ControlProblem) -> Void) async -> ControlProblem? {
    do throws(ControlProblem) {
        try await body()
        return nil
    } catch {
        return error
    }
}

extension ControlProblem {
    /// A member beside the title, the status and the detail.
    subscript(key: String) -> JSON? { members.first { $0.key == key }?.value }
}
