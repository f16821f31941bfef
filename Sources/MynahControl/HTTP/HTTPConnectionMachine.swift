/// Handles the requests of one connection in order: reads a head and a body within their limits, has the
/// request answered, and continues with the next.
///
/// This state machine does no I/O: its methods get events and return actions.
struct HTTPConnectionMachine {
    /// A part of a request, from the parser.
    enum Input: Hashable, Sendable {
        case head(HTTPHead)
        case body([UInt8])
        case end
        /// The bytes are not HTTP; the parser has stopped for this reason.
        case malformed(ControlProblem)
    }

    /// A time limit; at most one is running at a time.
    enum Timer: Hashable, Sendable {
        /// No byte of the next request has arrived.
        case idle
        /// A head has begun, and is not complete.
        case head
        /// A body has begun, and is not complete.
        case body
        /// The last response was sent, and the client has not closed the connection.
        case linger
    }

    enum Action: Sendable {
        /// Start a time limit in place of the current one; `nil` only stops that one.
        case arm(Timer?)
        /// Ask the client to send the body: 100 Continue.
        case sendContinue
        /// Have the handler answer, or send the response that is decided already.
        case answer(HTTPRequest, decided: HTTPResponse?, minorVersion: Int, keepsAlive: Bool)
        /// Send a response to a request that was not read completely, then `finish`.
        case refuse(ControlProblem)
        /// Close the sending side, and discard received bytes until the client closes its side.
        case finish
        /// Close both sides at once.
        case close
    }

    private struct Reception: Sendable {
        var request: HTTPRequest
        var decided: HTTPResponse?
        var minorVersion: Int
        var keepsAlive: Bool
    }

    private enum State: Sendable {
        case idle
        case head
        case body(Reception)
        case answering(keepsAlive: Bool)
        /// The last response was sent, and nothing more is read.
        case lingering
        case closed
    }

    /// The largest number of pending parts; one read produces far fewer, so only a malicious client reaches
    /// it.
    private static let pendingLimit = 16_384

    private var rules: HTTPRules
    /// The largest number of bytes that may arrive without completing a head or a part of a body.
    ///
    /// The parser limits names and values itself, but ignores spaces, empty lines and chunk extensions.
    private let headLimit: Int
    private let precheck: @Sendable (HTTPRequest) -> HTTPResponse?
    private var state = State.idle
    /// The body that is being received.
    ///
    /// The body is not in `state`, because there it would be copied with every chunk.
    private var body: [UInt8] = []
    /// The parts that arrived after the request that is being answered.
    private var pending: ArraySlice<Input> = []
    private var silentBytes = 0
    private var isQuiescing = false

    init(
        rules: HTTPRules, headLimit: Int, precheck: @escaping @Sendable (HTTPRequest) -> HTTPResponse?
    ) {
        self.rules = rules
        self.headLimit = headLimit
        self.precheck = precheck
    }

    /// Whether to leave further bytes unread in the socket for now.
    var holdsReads: Bool {
        if case .answering = state { true } else { !pending.isEmpty }
    }

    /// Whether received bytes are discarded.
    var discards: Bool {
        switch state {
        case .lingering, .closed: true
        case .idle, .head, .body, .answering: false
        }
    }

    /// Handles that the connection was accepted.
    func opened() -> [Action] { [.arm(.idle)] }

    /// Notes the address that the client has connected to, which is one of many if the server listens on all.
    mutating func connected(to host: IPAddress) { rules.local?.host = host }

    /// Handles received bytes, before they are parsed.
    mutating func received(_ count: Int) -> [Action] {
        silentBytes += count
        guard case .idle = state else { return [] }
        state = .head
        return [.arm(.head)]
    }

    /// Handles that all received bytes were parsed.
    mutating func parsed() -> [Action] {
        guard silentBytes > headLimit else { return [] }
        switch state {
        case .idle, .head: return refuse(Self.headTooLong(headLimit))
        case .body:
            return refuse(
                ControlProblem(400, "chunk extensions or trailers are longer than \(headLimit) bytes"))
        case .answering, .lingering, .closed: return []
        }
    }

    static func headTooLong(_ limit: Int) -> ControlProblem {
        ControlProblem(431, "the request line and headers are longer than \(limit) bytes")
    }

    /// Handles a parsed part of a request.
    mutating func handle(_ input: Input) -> [Action] {
        silentBytes = 0
        switch state {
        case .answering:
            guard pending.count < Self.pendingLimit else { return close() }
            pending.append(input)
            return []
        case .lingering, .closed: return []
        case .idle, .head, .body: return step(input)
        }
    }

    /// Handles that the response was sent completely.
    mutating func answered() -> [Action] {
        guard case .answering(let keepsAlive) = state else { return [] }
        guard keepsAlive, !isQuiescing else {
            state = .lingering
            forget()
            return [.arm(.linger), .finish]
        }
        state = .idle
        var actions = [Action.arm(.idle)]
        while let next = pending.first, !holdsAnswer {
            pending.removeFirst()
            actions += step(next)
        }
        return actions
    }

    private var holdsAnswer: Bool {
        switch state {
        case .answering, .lingering, .closed: true
        case .idle, .head, .body: false
        }
    }

    /// Handles that a time limit elapsed.
    mutating func timeIsUp() -> [Action] {
        switch state {
        case .head: refuse(ControlProblem(408, "the request line and headers did not come in time"))
        case .body: refuse(ControlProblem(408, "the body did not come in time"))
        case .idle, .lingering: close()
        case .answering, .closed: []
        }
    }

    /// Handles the end of the server: the current request is the last.
    mutating func quiesce() -> [Action] {
        isQuiescing = true
        switch state {
        case .idle, .head: return close()
        case .body, .answering, .lingering, .closed: return []
        }
    }

    /// Handles that the connection has ended.
    mutating func closed() -> [Action] {
        state = .closed
        forget()
        return [.arm(nil)]
    }

    // MARK: -

    private mutating func step(_ input: Input) -> [Action] {
        switch (input, state) {
        case (.malformed(let problem), _): return refuse(problem)
        case (.head(let head), .idle), (.head(let head), .head): return startRequest(head)
        case (.body(let bytes), .body):
            guard body.count + bytes.count <= rules.bodyLimit else {
                return refuse(HTTPRules.tooLong(rules.bodyLimit))
            }
            // The bytes count also if nobody will read them.
            body += bytes
            return []
        case (.end, .body(var reception)):
            reception.request.body = body
            body = []
            state = .answering(keepsAlive: reception.keepsAlive)
            let keepsAlive = reception.keepsAlive && !isQuiescing
            return [
                .arm(nil),
                .answer(
                    reception.request, decided: reception.decided, minorVersion: reception.minorVersion,
                    keepsAlive: keepsAlive),
            ]
        // The parser does not do this.
        case (.head, _), (.body, _), (.end, _): return close()
        }
    }

    private mutating func startRequest(_ head: HTTPHead) -> [Action] {
        if let problem = rules.refusal(of: head) { return refuse(problem) }
        guard let target = HTTPTarget(head.target) else {
            return refuse(
                ControlProblem(400, "the request target is not a path with correct percent-encoding"))
        }
        let request = HTTPRequest(
            method: head.method, path: target.path, query: target.query, headers: head.headers,
            isUnixSocket: rules.local == nil)
        let decided =
            rules.signIn(head) ?? precheck(request)
            ?? HTTPRules.mediaTypeProblem(head).map { HTTPResponse($0) }
        state = .body(
            Reception(
                request: request, decided: decided, minorVersion: head.minorVersion,
                keepsAlive: head.keepsAlive))
        let waits = head.minorVersion >= 1 && head.headers.list("expect").contains("100-continue")
        return waits && head.bodyLength != .absent ? [.arm(.body), .sendContinue] : [.arm(.body)]
    }

    private mutating func refuse(_ problem: ControlProblem) -> [Action] {
        state = .lingering
        forget()
        return [.arm(.linger), .refuse(problem), .finish]
    }

    private mutating func close() -> [Action] {
        state = .closed
        forget()
        return [.arm(nil), .close]
    }

    private mutating func forget() {
        pending = []
        body = []
    }
}
