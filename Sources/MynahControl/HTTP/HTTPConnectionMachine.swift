/// Handles the requests of one connection, one after the other.
///
/// For each request, the machine checks the limits of the head and the body, and has the request answered.
/// This state machine does no I/O: its methods handle events and return actions.
struct HTTPConnectionMachine {
    /// A part of a request, from the parser.
    enum Input: Hashable, Sendable {
        case head(HTTPHead)
        case body([UInt8])
        case end
        /// The bytes are not valid HTTP; the parser has stopped for this reason.
        case malformed(ControlProblem)
    }

    /// A time limit; at most one is running at a time.
    enum Timer: Hashable, Sendable {
        /// The time limit for the first byte of the next request.
        case idle
        /// The time limit for the rest of a head.
        case head
        /// The time limit for the rest of a body.
        case body
        /// The time limit for the client to close the connection after the last response.
        case linger
    }

    enum Action: Sendable {
        /// Start a time limit, which replaces the current one; with `nil`, only stop the current one.
        case arm(Timer?)
        /// Ask the client to send the body: 100 Continue.
        case sendContinue
        /// Pass the request to the handler, or send the response `decided` instead if it is not `nil`.
        case answer(HTTPRequest, decided: HTTPResponse?, minorVersion: Int, keepsAlive: Bool)
        /// Send a response to a request that was not read completely, and then `finish`.
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
        /// The last response was sent, and received bytes are discarded.
        case lingering
        case closed
    }

    /// The maximum number of parts in `pending`, which only a malicious client can exceed.
    ///
    /// One read from the socket results in far fewer parts.
    private static let pendingLimit = 16_384

    private var rules: HTTPRules
    /// The maximum number of bytes that may arrive without completing a head or a part of a body.
    ///
    /// The parser limits names and values itself, but ignores spaces, empty lines and chunk extensions.
    private let headLimit: Int
    private let precheck: @Sendable (HTTPRequest) -> HTTPResponse?
    private var state = State.idle
    /// The part of the body received so far.
    ///
    /// The body is not stored in `state`, because there it would be copied with every chunk.
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

    /// Whether the connection must not read further bytes from the socket for now.
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

    /// Handles a new connection.
    func opened() -> [Action] { [.arm(.idle)] }

    /// Sets the local address of the connection; a server that listens on all addresses has many.
    mutating func connected(to host: IPAddress) { rules.local?.host = host }

    /// Handles received bytes before they are parsed.
    mutating func received(_ count: Int) -> [Action] {
        silentBytes += count
        guard case .idle = state else { return [] }
        state = .head
        return [.arm(.head)]
    }

    /// Handles the end of parsing: all received bytes were parsed.
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

    /// Handles the end of a response that was sent completely.
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

    /// Handles the end of the current time limit.
    mutating func timeIsUp() -> [Action] {
        switch state {
        case .head: refuse(ControlProblem(408, "the request line and headers did not come in time"))
        case .body: refuse(ControlProblem(408, "the body did not come in time"))
        case .idle, .lingering: close()
        case .answering, .closed: []
        }
    }

    /// Handles the shutdown of the server: the current request is the last one.
    mutating func quiesce() -> [Action] {
        isQuiescing = true
        switch state {
        case .idle, .head: return close()
        case .body, .answering, .lingering, .closed: return []
        }
    }

    /// Handles the end of the connection.
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
            // The bytes count even if the handler never gets them.
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
        // The parser never produces these parts in this state.
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
