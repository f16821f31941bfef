import MynahCore
import MynahHCI
import MynahSupport

/// The clients of all links, without I/O: an `ATTClient` for each link, and the time by which its server must
/// answer.
struct GATTClient {
    /// The client of one link.
    ///
    /// The functions change the entry in place, because reading one of its values from outside would copy the
    /// entry.
    private struct Entry {
        var client = ATTClient()
        /// The time by which the pending request must be answered; `nil` if there is no request.
        var deadline: Duration?
        /// The additional time for an answer on a link that is pairing.
        var extra = Duration.zero
        /// `true` if a call to `expire` is scheduled, and has not been made yet.
        var isWatched = false

        /// Changes the state of the client.
        ///
        /// A request that this sends has to be answered within `times`.
        ///
        /// The clock is read only if a request was sent: most PDUs are notifications, after which none is.
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

    /// The times in which a server must answer a request.
    private struct Times {
        /// The transaction timeout of the specification (Core Specification, Vol 3, Part F, 3.3.3).
        let longest: Duration
        /// The current limit, which does not apply to a link that is pairing: its user may be typing while
        /// the server waits.
        var limit: Duration
    }

    private var times: Times
    private var entries = SortedMap<ConnectionHandle, Entry>()
    /// Whether new links confirm indications.
    var confirmsIndications = true

    init(timeout: Duration) {
        times = Times(longest: timeout, limit: timeout)
    }

    /// Sets the time limit for answers to later requests, or with `nil` the limit of the specification.
    mutating func limitAnswers(to limit: Duration?) {
        times.limit = min(limit ?? times.longest, times.longest)
    }

    /// Adds a link.
    mutating func addLink(_ link: ConnectionHandle) {
        var entry = Entry()
        entry.client.confirmsIndications = confirmsIndications
        entries[link] = entry
    }

    /// Removes a link that has ended, and ends its requests.
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

    /// Writes with a command; returns `false` if the link has no room, and `Outbound` reports when it has.
    ///
    /// Throws `valueTooLong` if a command cannot carry the value.
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

    /// Writes with a command that `sign` signs; returns `false` if the link has no room, and `Outbound`
    /// reports when it has.
    ///
    /// Throws `valueTooLong` if a signed command cannot carry the value, `insufficientSecurity` if `sign` has
    /// no key and returns `nil`.
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

    /// Whether a link has room for a command; if not, `Outbound` reports when it has room.
    func hasRoom(on link: ConnectionHandle, _ outbound: inout Outbound) -> Bool {
        if outbound.takes(on: link) { return true }
        outbound.refuse(.write, on: link)
        return false
    }

    /// Sends a command if the link has room; returns whether it had, or `nil` if there is no command to send.
    private func send(
        on link: ConnectionHandle, _ outbound: inout Outbound, _ command: () -> [UInt8]?
    ) -> Bool? {
        guard hasRoom(on: link, &outbound) else { return false }
        guard let pdu = command() else { return nil }
        outbound.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: pdu), to: link)
        return true
    }

    // MARK: Answers

    /// Handles a PDU of a link's server.
    mutating func receive(
        _ bytes: [UInt8], on link: ConnectionHandle, at now: @autoclosure () -> Duration,
        into actions: inout [ATTClient.Action]
    ) {
        guard let index = entries.index(of: link) else { return }
        entries[at: index].change(times, from: now) { $0.receive(bytes, into: &actions) }
    }

    /// Handles a link's deadline; `isPairing` is `true` if the link is being paired.
    mutating func expire(_ link: ConnectionHandle, at now: Duration, isPairing: Bool = false) {
        guard let index = entries.index(of: link) else { return }
        entries[at: index].expire(at: now, isPairing: isPairing)
    }

    /// Returns the time at which to call `expire`, or `nil` if no request is waiting, or if a call is
    /// scheduled already.
    ///
    /// A deadline that a later request has moved is checked again when the scheduled call is made.
    mutating func takeWatch(of link: ConnectionHandle) -> Duration? {
        guard let index = entries.index(of: link) else { return nil }
        return entries[at: index].takeWatch()
    }

    /// The time by which the pending request of a link must be answered; `nil` if there is no request.
    func deadline(of link: ConnectionHandle) -> Duration? {
        entries.index(of: link).flatMap { entries[at: $0].deadline }
    }

    /// The MTU of a link.
    func mtu(of link: ConnectionHandle) -> Int {
        entries.index(of: link).map { entries[at: $0].client.bearer.mtu } ?? GATT.defaultMTU
    }

    /// Adopts the MTU that the server on this side of the bearer has agreed on.
    mutating func agreed(on mtu: Int, _ link: ConnectionHandle) {
        entries[link]?.client.bearer.mtu = mtu
    }

    /// Notes that a link is encrypted; `handle` is the value of Service Changed if the bond remembers a
    /// subscription to it.
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

    /// The handle of Service Changed on a link; `nil` if the server does not indicate it.
    func serviceChanged(of link: ConnectionHandle) -> AttributeHandle? {
        guard let index = entries.index(of: link),
            case .subscribed(let handle) = entries[at: index].client.bearer.serviceChanged
        else { return nil }
        return handle
    }

    private static let ended = RequestError.failed(
        RadioError(.disconnected, "the link ended before the peripheral answered"))
}
