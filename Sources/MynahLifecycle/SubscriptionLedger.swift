package import MynahCore

/// Records which central manager of a phone is subscribed to which characteristic.
///
/// The phone drives this state machine: it passes in the requests of managers, and the end of each write, of
/// each manager and of each link. It routes each value by `hears`.
///
/// A Client Characteristic Configuration belongs to the phone, and not to an app (Core Specification, Vol 3,
/// Part G, 3.3.3.3): it is written for the first manager and cleared after the last. Requests for one
/// characteristic are answered in order:
///
/// | the first request | the configuration is off | it is on, others are subscribed | it is on, no other is |
/// |---|---|---|---|
/// | subscribe | it is written | answered | answered |
/// | unsubscribe | answered | answered | cleared, or answered if a later request subscribes |
///
/// Without a request, the configuration is cleared when no manager is subscribed any more. A refused write
/// answers its request with the error and changes no subscription.
package struct SubscriptionLedger: Sendable {
    /// An action for the phone.
    package enum Action: Hashable, Sendable {
        /// Write the configuration of a characteristic, and pass the result to `written` with the number.
        case write(UInt64, Characteristic, isOn: Bool)
        /// Answer the oldest request of a manager for a characteristic; `error` is `nil` if it succeeded.
        case answer(ManagerKey, Characteristic, isOn: Bool, error: RequestError?)
    }

    /// A characteristic of a connected device.
    package struct Characteristic: Hashable, Sendable {
        package var link: Peer.ID
        /// The attribute handle of the value.
        package var handle: AttributeHandle

        /// Identifies the characteristic whose value has this handle.
        package init(link: Peer.ID, handle: AttributeHandle) {
            self.link = link
            self.handle = handle
        }
    }

    private struct Request: Sendable {
        var manager: ManagerKey
        var isOn: Bool
    }

    private enum Configuration: Sendable {
        case off
        case on
        /// A write is in progress; with `isForRequest`, it is for the oldest request, which waits for an
        /// answer.
        case writing(UInt64, isOn: Bool, isForRequest: Bool)
    }

    private struct Entry: Sendable {
        var configuration = Configuration.off
        var subscribers: [ManagerKey] = []
        var requests: [Request] = []

        var isIdle: Bool {
            if case .off = configuration { subscribers.isEmpty && requests.isEmpty } else { false }
        }
    }

    private var entries: [Characteristic: Entry] = [:]
    private var lastWrite: UInt64 = 0

    /// Makes a ledger without subscriptions.
    package init() {}

    // MARK: State

    /// The managers that receive the values of a characteristic, in the order in which they subscribed.
    package func subscribers(of characteristic: Characteristic) -> [ManagerKey] {
        entries[characteristic]?.subscribers ?? []
    }

    /// Whether a manager receives the values of a characteristic: it is subscribed, or the write that
    /// subscribes it has no response yet.
    ///
    /// The device may send a value as soon as it has accepted the write, which is before the phone receives
    /// the response.
    package func hears(_ manager: ManagerKey, _ characteristic: Characteristic) -> Bool {
        guard let entry = entries[characteristic] else { return false }
        if entry.subscribers.contains(manager) { return true }
        guard case .writing(_, isOn: true, _) = entry.configuration else { return false }
        return entry.requests.last { $0.manager == manager }?.isOn ?? false
    }

    // MARK: Events

    /// Handles a manager's request to subscribe or unsubscribe (setNotifyValue(_:for:)).
    package mutating func setNotify(
        _ isOn: Bool, for characteristic: Characteristic, of manager: ManagerKey,
        into actions: inout [Action]
    ) {
        entries[characteristic, default: Entry()].requests.append(Request(manager: manager, isOn: isOn))
        settle(characteristic, into: &actions)
    }

    /// Handles the result of a write; a write on a link that has ended is ignored.
    package mutating func written(_ write: UInt64, error: RequestError?, into actions: inout [Action]) {
        let found = entries.first { _, entry in
            if case .writing(write, _, _) = entry.configuration { true } else { false }
        }
        guard let (characteristic, before) = found,
            case .writing(_, let isOn, let isForRequest) = before.configuration
        else { return }
        var entry = before
        entry.configuration = isOn == (error == nil) ? .on : .off
        if let error, isForRequest {
            let request = entry.requests.removeFirst()
            actions.append(.answer(request.manager, characteristic, isOn: request.isOn, error: error))
        } else if error != nil {
            // No manager is subscribed, so values that still arrive are dropped.
            entry.configuration = .off
        }
        entries[characteristic] = entry
        settle(characteristic, into: &actions)
    }

    /// Removes a manager from a link that only other managers still use, without answering its requests.
    package mutating func release(
        _ link: Peer.ID, by manager: ManagerKey, into actions: inout [Action]
    ) {
        for characteristic in characteristics(of: link) {
            guard var entry = entries[characteristic] else { continue }
            entry.subscribers.removeAll { $0 == manager }
            if case .writing(let write, let isOn, true) = entry.configuration,
                entry.requests.first?.manager == manager
            {
                entry.configuration = .writing(write, isOn: isOn, isForRequest: false)
            }
            entry.requests.removeAll { $0.manager == manager }
            entries[characteristic] = entry
            settle(characteristic, into: &actions)
        }
    }

    /// Removes a link that has ended; its requests are answered with the error.
    package mutating func linkEnded(_ link: Peer.ID, _ error: RequestError, into actions: inout [Action]) {
        for characteristic in characteristics(of: link) { drop(characteristic, error, into: &actions) }
    }

    /// Removes the characteristics in a range of changed services; requests for them are answered with the
    /// error.
    package mutating func servicesChanged(
        _ handles: ClosedRange<AttributeHandle>, on link: Peer.ID, _ error: RequestError,
        into actions: inout [Action]
    ) {
        for characteristic in characteristics(of: link) where handles.contains(characteristic.handle) {
            drop(characteristic, error, into: &actions)
        }
    }

    private func characteristics(of link: Peer.ID) -> [Characteristic] {
        entries.keys.filter { $0.link == link }.sorted { $0.handle < $1.handle }
    }

    private mutating func drop(
        _ characteristic: Characteristic, _ error: RequestError, into actions: inout [Action]
    ) {
        guard let entry = entries.removeValue(forKey: characteristic) else { return }
        for request in entry.requests {
            actions.append(.answer(request.manager, characteristic, isOn: request.isOn, error: error))
        }
    }

    /// Answers requests until one needs a write, and clears a configuration that no manager needs.
    private mutating func settle(_ characteristic: Characteristic, into actions: inout [Action]) {
        guard var entry = entries[characteristic] else { return }
        defer { entries[characteristic] = entry.isIdle ? nil : entry }
        while let request = entry.requests.first {
            let isOn: Bool
            switch entry.configuration {
            case .writing: return
            case .on: isOn = true
            case .off: isOn = false
            }
            let others = entry.subscribers.filter { $0 != request.manager }
            let isNeeded =
                request.isOn || !others.isEmpty || entry.requests.dropFirst().contains { $0.isOn }
                || !entry.subscribers.contains(request.manager)
            guard request.isOn ? isOn : isNeeded || !isOn else {
                return write(request.isOn, isForRequest: true, characteristic, &entry, &actions)
            }
            if !request.isOn {
                entry.subscribers = others
            } else if others.count == entry.subscribers.count {
                entry.subscribers.append(request.manager)
            }
            entry.requests.removeFirst()
            actions.append(.answer(request.manager, characteristic, isOn: request.isOn, error: nil))
        }
        if case .on = entry.configuration, entry.subscribers.isEmpty {
            write(false, isForRequest: false, characteristic, &entry, &actions)
        }
    }

    private mutating func write(
        _ isOn: Bool, isForRequest: Bool, _ characteristic: Characteristic, _ entry: inout Entry,
        _ actions: inout [Action]
    ) {
        lastWrite += 1
        entry.configuration = .writing(lastWrite, isOn: isOn, isForRequest: isForRequest)
        actions.append(.write(lastWrite, characteristic, isOn: isOn))
    }
}
