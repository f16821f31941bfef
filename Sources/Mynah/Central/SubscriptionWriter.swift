import MynahCore
import MynahLifecycle

/// Writes the Client Characteristic Configuration descriptors for the subscriptions of all of a phone's
/// managers together.
///
/// Belongs to a phone, and runs on the phone's executor.
final class SubscriptionWriter {
    /// The descriptor and the value that subscribe to a characteristic.
    struct Configuration: Sendable {
        /// The attribute handle of the descriptor.
        var handle: AttributeHandle
        /// The value to write: 1 for notifications, 2 for indications.
        var bits: UInt8
        /// Whether to pair with a device that asks for security.
        var pairs: Bool
    }

    private struct Request {
        var manager: ManagerKey
        var characteristic: SubscriptionLedger.Characteristic
        var continuation: CheckedContinuation<Result<Void, RequestError>, Never>
    }

    private var ledger = SubscriptionLedger()
    private var configurations: [SubscriptionLedger.Characteristic: Configuration] = [:]
    /// The unanswered requests, in order.
    private var requests: [Request] = []
    private let radio: (any CentralRadio)?
    private let work: PhoneWork

    init(_ radio: (any CentralRadio)?, _ work: PhoneWork) {
        self.radio = radio
        self.work = work
    }

    /// Whether a manager receives the values of a characteristic.
    func hears(_ manager: ManagerKey, _ characteristic: SubscriptionLedger.Characteristic) -> Bool {
        ledger.hears(manager, characteristic)
    }

    /// Subscribes or unsubscribes a manager, and returns when that is done.
    func setNotify(
        _ isOn: Bool, for characteristic: SubscriptionLedger.Characteristic,
        by configuration: Configuration, of manager: ManagerKey
    ) async throws(RequestError) {
        configurations[characteristic] = configuration
        try await withCheckedContinuation { continuation in
            requests.append(
                Request(manager: manager, characteristic: characteristic, continuation: continuation))
            change { $0.setNotify(isOn, for: characteristic, of: manager, into: &$1) }
        }.get()
    }

    /// Ends the subscriptions of a manager on a link that only other managers still use.
    func release(_ link: Peer.ID, by manager: ManagerKey) {
        change { $0.release(link, by: manager, into: &$1) }
        let error = RequestError.failed(RadioError(.disconnected, "the peripheral was disconnected"))
        answer(.failure(error)) { $0.manager == manager && $0.characteristic.link == link }
    }

    /// Ends the subscriptions on a link that ended, or that is about to end.
    func linkEnded(_ link: Peer.ID, _ error: RequestError) {
        change { $0.linkEnded(link, error, into: &$1) }
        configurations = configurations.filter { $0.key.link != link }
    }

    /// Updates the subscriptions after the services in a range of attribute handles changed.
    func servicesChanged(_ handles: ClosedRange<AttributeHandle>, on link: Peer.ID) {
        let error = RequestError.failed(RadioError(.unknownAttribute, "the peripheral's services changed"))
        change { $0.servicesChanged(handles, on: link, error, into: &$1) }
    }

    /// Fails the unanswered requests, because the phone has stopped.
    func stop(_ error: RequestError) {
        ledger = SubscriptionLedger()
        configurations = [:]
        answer(.failure(error)) { _ in true }
    }

    // MARK: The ledger

    /// Handles the peripheral's answer to a write, or the error.
    func written(_ number: UInt64, _ error: RequestError?) {
        change { $0.written(number, error: error, into: &$1) }
    }

    private func change(_ body: (inout SubscriptionLedger, inout [SubscriptionLedger.Action]) -> Void) {
        var actions: [SubscriptionLedger.Action] = []
        body(&ledger, &actions)
        for action in actions { perform(action) }
    }

    private func perform(_ action: SubscriptionLedger.Action) {
        switch action {
        case .write(let number, let characteristic, let isOn):
            guard let configuration = configurations[characteristic] else { return }
            work.start(.configure(number, configuration, on: characteristic.link, isOn))
        case .answer(let manager, let characteristic, _, let error):
            guard
                let index = requests.firstIndex(where: {
                    $0.manager == manager && $0.characteristic == characteristic
                })
            else { return }
            let request = requests.remove(at: index)
            request.continuation.resume(returning: error.map { .failure($0) } ?? .success(()))
        }
    }

    private func answer(_ result: Result<Void, RequestError>, _ isOver: (Request) -> Bool) {
        let over = requests.filter(isOver)
        requests.removeAll(where: isOver)
        for request in over { request.continuation.resume(returning: result) }
    }

    /// Writes a configuration, after pairing if the device asks for it; returns the error, or `nil` if it
    /// succeeded.
    func write(
        _ isOn: Bool, _ configuration: Configuration, _ link: Peer.ID
    ) async -> RequestError? {
        guard let radio else { return nil }
        let phone = work.link
        do throws(RequestError) {
            try await radio.asking(link, pairs: configuration.pairs) {
                await phone.consents(toPairOn: link)
            } _: { radio, link throws(RequestError) in
                try await radio.write(
                    [isOn ? configuration.bits : 0, 0], to: configuration.handle, of: link)
            }
            return nil
        } catch {
            return error
        }
    }
}

extension CentralRadio {
    /// Sends a request.
    ///
    /// If the peripheral requires security and the user consents, pairs and repeats it, as an iPhone does.
    nonisolated func asking<Value: Sendable>(
        _ peer: Peer.ID, pairs: Bool, consents: @Sendable () async -> Bool,
        _ body: @Sendable (any CentralRadio, Peer.ID) async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        do throws(RequestError) {
            return try await body(self, peer)
        } catch {
            guard error.asksForSecurity, pairs, await consents() else { throw error }
            do throws(RadioError) {
                try await pair(peer)
            } catch let failure {
                // If the radio cannot pair at all, the peripheral's error is thrown.
                throw failure.code == .unsupported ? error : .failed(failure)
            }
            return try await body(self, peer)
        }
    }
}
