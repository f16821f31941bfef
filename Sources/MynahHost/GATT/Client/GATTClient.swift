import MynahCore
import MynahHCI
import MynahSupport

/// The GATT clients of all links: an `ATTClient` for each link, and the deadline for its server's answer.
///
/// This state machine has no I/O.
struct GATTClient {
    /// The client of one link.
    ///
    /// The functions change the entry in place, because copying a value out of the map would copy the whole
    /// entry.
    private struct Entry {
        var client = ATTClient()
        /// The time by which the pending request must be answered, or `nil` if there is none.
        var deadline: Duration?
        /// The duration by which the deadline is extended, once, if the link is being paired when the
        /// deadline passes.
        var extra = Duration.zero
        /// Whether the driver has scheduled a call of `expire` and not made it yet.
        var isWatched = false

        /// Changes the state of the client.
        ///
        /// If this sends a request, its deadline is set from `times` and the clock. Otherwise the clock is
        /// not read, which saves time for notifications.
        mutating func change(
            _ times: Times, from now: () -> Duration, _ body: (inout ATTClient) -> Void
        ) {
            let before = client.transaction
            body(&client)
            if !client.isAwaiting {
                deadline = nil
            } else if client.transaction != before {
                deadline = now() + times.limit
                extra = times.longest - times.limit
            }
        }

        mutating func expire(at now: Duration, isPairing: Bool) {
            isWatched = false
            guard let deadline, deadline <= now else { return }
            guard !isPairing || extra == .zero else {
                self.deadline = deadline + extra
                extra = .zero
                return
            }
            self.deadline = nil
            client.timedOut(client.transaction)
        }

        mutating func takeWatch() -> Duration? {
            guard !isWatched, let deadline else { return nil }
            isWatched = true
            return deadline
        }
    }

    /// The time limits for a server's answer.
    ///
    /// The longer one applies to a link that is being paired, because its user may be typing a passkey.
    private struct Times {
        /// The transaction timeout of the specification (Core Specification, Vol 3, Part F, 3.3.3).
        let longest: Duration
        /// The time limit for links that are not being paired.
        var limit: Duration
    }

    private var times: Times
    private var entries = SortedMap<ConnectionHandle, Entry>()
    /// Whether new links confirm indications.
    var confirmsIndications = true

    init(timeout: Duration) {
        times = Times(longest: timeout, limit: timeout)
    }

    /// Sets the time limit for answers to later requests; `nil` restores the limit of the specification.
    mutating func limitAnswers(to limit: Duration?) {
        times.limit = min(limit ?? times.longest, times.longest)
    }

    mutating func addLink(_ link: ConnectionHandle) {
        var entry = Entry()
        entry.client.confirmsIndications = confirmsIndications
        entries[link] = entry
    }

    /// Removes a link, and ends its requests with an error.
    mutating func end(_ link: ConnectionHandle) {
        entries[link]?.client.end(Self.ended)
        _ = entries.removeValue(forKey: link)
    }

    /// Runs a procedure on a link, after the procedures that were requested before; `done` is called once.
    mutating func perform<Procedure: GATTProcedure>(
        _ procedure: Procedure, on link: ConnectionHandle, at now: @autoclosure () -> Duration,
        into actions: inout [ATTClient.Action],
        done: @escaping @Sendable (Result<Procedure.Value, RequestError>) -> Void
    ) {
        guard let index = entries.index(of: link) else { return done(.failure(Self.ended)) }
        entries[at: index].change(times, from: now) { $0.add(procedure, into: &actions, done: done) }
    }

    // MARK: Commands

    /// Writes with a command.
    ///
    /// Returns `false` if the link has no room; `Outbound` then reports when it has. Throws `valueTooLong` if
    /// the value does not fit into a command.
    func write(
        _ value: [UInt8], to handle: AttributeHandle, on link: ConnectionHandle, _ outbound: inout Outbound
    ) throws(RadioError) -> Bool {
        let room = mtu(of: link) - 3
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes, and a command on this link carries \(room)")
        }
        return send(on: link, &outbound) { ATTClientPDU.writeCommand(handle, value) } ?? false
    }

    /// Writes with a command that `sign` signs.
    ///
    /// Returns `false` if the link has no room; `Outbound` then reports when it has. Throws `valueTooLong` if
    /// the value does not fit into a signed command, and `insufficientSecurity` if `sign` returns `nil`
    /// because there is no key.
    func writeSigned(
        _ value: [UInt8], to handle: AttributeHandle, on link: ConnectionHandle, _ outbound: inout Outbound,
        sign: ([UInt8]) -> [UInt8]?
    ) throws(RadioError) -> Bool {
        let room = mtu(of: link) - 3 - SignedWrite.signatureLength
        guard value.count <= room else {
            throw RadioError(
                .valueTooLong,
                "the value has \(value.count) bytes, and a signed command on this link carries \(room)")
        }
        let isSent = send(on: link, &outbound) { sign(ATTClientPDU.signedWriteCommand(handle, value)) }
        guard let isSent else {
            throw RadioError(
                .insufficientSecurity, "there is no key to sign with",
                remedy: "pair with the peripheral first")
        }
        return isSent
    }

    /// Whether a link has room for a command; if not, `Outbound` reports when it has.
    func hasRoom(on link: ConnectionHandle, _ outbound: inout Outbound) -> Bool {
        if outbound.takes(on: link) { return true }
        outbound.refuse(.write, on: link)
        return false
    }

    /// Sends a command; returns `false` if the link has no room, and `nil` if `command` returns `nil`.
    private func send(
        on link: ConnectionHandle, _ outbound: inout Outbound, _ command: () -> [UInt8]?
    ) -> Bool? {
        guard hasRoom(on: link, &outbound) else { return false }
        guard let pdu = command() else { return nil }
        outbound.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
        return true
    }

    // MARK: Answers

    /// Handles a PDU of the server on a link.
    mutating func receive(
        _ bytes: [UInt8], on link: ConnectionHandle, at now: @autoclosure () -> Duration,
        into actions: inout [ATTClient.Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        entries[at: index].change(times, from: now) { $0.receive(bytes, into: &actions) }
    }

    /// Handles the deadline of a link, which is extended once if the link is being paired.
    mutating func expire(_ link: ConnectionHandle, at now: Duration, isPairing: Bool = false) {
        guard let index = entries.index(of: link) else { return }
        entries[at: index].expire(at: now, isPairing: isPairing)
    }

    /// Returns the clock's time at which `expire` must be called, or `nil` if no call is needed or one is
    /// already scheduled.
    ///
    /// The driver calls this again after `expire`, because a later request may have moved the deadline.
    mutating func takeWatch(of link: ConnectionHandle) -> Duration? {
        guard let index = entries.index(of: link) else { return nil }
        return entries[at: index].takeWatch()
    }

    /// The time by which the pending request of a link must be answered, or `nil` if there is none.
    func deadline(of link: ConnectionHandle) -> Duration? {
        entries.index(of: link).flatMap { entries[at: $0].deadline }
    }

    /// The MTU of a link, in bytes.
    func mtu(of link: ConnectionHandle) -> Int {
        entries.index(of: link).map { entries[at: $0].client.bearer.mtu } ?? GATT.defaultMTU
    }

    /// Adopts the MTU that the server at this end of the bearer has negotiated.
    mutating func agreed(on mtu: Int, _ link: ConnectionHandle) {
        entries[link]?.client.bearer.mtu = mtu
    }

    /// Handles the encryption of a link.
    ///
    /// `handle` is the value handle of Service Changed if the bond contains a subscription to it, or else
    /// `nil`.
    mutating func secured(
        _ link: ConnectionHandle, remembering handle: AttributeHandle?, at now: @autoclosure () -> Duration,
        into actions: inout [ATTClient.Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        if let handle, entries[at: index].client.bearer.serviceChanged == .unknown {
            entries[at: index].client.bearer.serviceChanged = .subscribed(handle)
        }
        entries[at: index].change(times, from: now) { $0.secured(into: &actions) }
    }

    /// The value handle of Service Changed on a link, or `nil` if the client is not subscribed.
    func serviceChanged(of link: ConnectionHandle) -> AttributeHandle? {
        guard let index = entries.index(of: link),
            case .subscribed(let handle) = entries[at: index].client.bearer.serviceChanged
        else { return nil }
        return handle
    }

    private static let ended = RequestError.failed(
        RadioError(.disconnected, "the link ended before the peripheral answered"))
}
