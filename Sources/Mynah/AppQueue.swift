import MynahCore
import MynahLifecycle

/// A queue of events for an app that does not run.
///
/// The length of the queue is limited, because any connected central can fill it.
struct AppQueue {
    typealias Entry = AppProcess.Delivery

    static let limit = 4096
    private var entries: [Entry] = []
    private var missed = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Adds an event.
    mutating func append(_ entry: Entry) {
        if entries.count < Self.limit { entries.append(entry) } else { missed += 1 }
    }

    mutating func takeAll() -> (events: [Entry], missed: Int) {
        defer { removeAll() }
        return (entries, missed)
    }

    mutating func removeAll() {
        entries = []
        missed = 0
    }
}

extension PeripheralEvent {
    /// The kind of the event by the rules of the app's life cycle.
    var kind: BluetoothEvent {
        switch self {
        case .read: .read
        case .write(let request, _): request.wantsResponse ? .write : .writeCommand
        case .subscribed: .subscribe
        case .unsubscribed: .unsubscribe
        default: .other
        }
    }

    /// The attribute that the event is about.
    var attribute: AttributeKey? {
        switch self {
        case .read(let request, _): request.attribute
        case .write(let request, _): request.parts.first?.attribute
        case .subscribed(let attribute, _, _), .unsubscribed(let attribute, _): attribute
        default: nil
        }
    }

    /// The refusals to report if the request is answered with an error, one for each attribute.
    ///
    /// The list is empty if the event is not a request.
    func refusals(with error: ATTError, because reason: RefusedRequest.Reason) -> [RefusedRequest] {
        func refusal(_ access: RefusedRequest.Access, _ attribute: AttributeKey, _ central: Peer.ID)
            -> RefusedRequest
        {
            RefusedRequest(
                central: central, attribute: attribute, access: access, error: error, reason: reason)
        }
        switch self {
        case .read(let request, _): return [refusal(.read, request.attribute, request.central)]
        case .write(let request, _):
            var attributes: [AttributeKey] = []
            for part in request.parts where !attributes.contains(part.attribute) {
                attributes.append(part.attribute)
            }
            return attributes.map { refusal(.write, $0, request.central) }
        default: return []
        }
    }

    /// The central that caused the event.
    var central: Central? {
        switch self {
        case .read(_, let central), .write(_, let central): central
        case .subscribed(_, let central, _), .unsubscribed(_, let central): central
        default: nil
        }
    }
}

extension CentralManagerEvent {
    /// The kind of the event by the rules of the app's life cycle, or `nil` for an event that neither wakes
    /// an app nor is queued.
    var kind: BluetoothEvent? {
        switch self {
        case .discovered: .discovered
        case .connected: .connected
        case .failedToConnect, .disconnected: .disconnected
        case .valueUpdated, .servicesChanged: .notified
        case .readyToWrite: .answered
        case .stateChanged: .state
        case .connectionEvent: .connectionEvent
        case .willRestoreState, .mtuChanged, .nameUpdated, .paired, .pairing, .lost, .recovered, .warning,
            .missed:
            nil
        }
    }
}
