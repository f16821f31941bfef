import MynahCore
import MynahSupport

/// A GATT procedure of a client, with one or more requests.
///
/// This state machine has no I/O: answers go in, and requests come out.
///
/// An invalid answer ends the procedure with an error, and each valid one makes progress. So a hostile server
/// can neither crash the procedure nor keep it running for ever.
protocol GATTProcedure: Sendable {
    /// The result of the procedure.
    associatedtype Value: Sendable

    /// Returns the first step: a request, or the value if the bearer's state makes a request unnecessary.
    mutating func start(_ bearer: ATTClient.Bearer) -> GATTStep<Value>
    /// Returns the next step after an answer: the response without its opcode, or the error.
    mutating func resume(_ answer: Result<[UInt8], ATTError>) -> GATTStep<Value>
    /// Returns the new state of the bearer after the procedure has ended with a value.
    func bearer(_ bearer: ATTClient.Bearer, after value: Value) -> ATTClient.Bearer
}

extension GATTProcedure {
    /// Returns the bearer unchanged, because few procedures change it.
    func bearer(_ bearer: ATTClient.Bearer, after value: Value) -> ATTClient.Bearer { bearer }
}

/// The next step of a procedure.
enum GATTStep<Value: Sendable>: Sendable {
    case ask([UInt8])
    case done(Value)
    case failed(RequestError)

    /// The step that ends the procedure because the server violated the protocol.
    static func violated(_ message: String) -> GATTStep {
        .failed(.failed(RadioError(.protocolViolation, message)))
    }
}

/// A procedure with any type of value, and the function that receives the value.
///
/// A client's queue holds such procedures. They are wrapped in a closure, and not in an existential of a
/// generic type: the compiler specialises a closure, so a request needs no metadata look-up at run time.
struct QueuedProcedure {
    /// An event for a procedure.
    enum Event {
        case begin
        /// The response without its opcode, or the error.
        case answer(Result<[UInt8], ATTError>)
        /// The procedure must end, because the server will not answer any more.
        case end(RequestError)
    }

    private let body: (Event, inout ATTClient.Bearer) -> [UInt8]?

    /// Wraps a procedure that has not begun; `done` is called once, when the procedure ends.
    init<Procedure: GATTProcedure>(
        _ procedure: Procedure, done: @escaping @Sendable (Result<Procedure.Value, RequestError>) -> Void
    ) {
        var procedure = procedure
        body = { event, bearer in
            let step: GATTStep<Procedure.Value>
            switch event {
            case .begin: step = procedure.start(bearer)
            case .answer(let answer): step = procedure.resume(answer)
            case .end(let error): step = .failed(error)
            }
            switch step {
            case .ask(let pdu): return pdu
            case .done(let value):
                bearer = procedure.bearer(bearer, after: value)
                done(.success(value))
            case .failed(let error): done(.failure(error))
            }
            return nil
        }
    }

    /// Handles an event; returns the next request, or `nil` if the procedure has ended and called `done`.
    func handle(_ event: Event, _ bearer: inout ATTClient.Bearer) -> [UInt8]? { body(event, &bearer) }
}

/// Steps through a range of handles, request by request.
struct HandleWalk: Hashable, Sendable {
    /// The first handle of the next request, or `nil` after the end of the range.
    private(set) var next: AttributeHandle?
    let end: AttributeHandle

    init(_ range: ClosedRange<AttributeHandle>) {
        next = range.lowerBound
        end = range.upperBound
    }

    /// The part of the range that was not searched yet, or `nil` at its end.
    var rest: ClosedRange<AttributeHandle>? {
        guard let next, next <= end else { return nil }
        return next...end
    }

    /// Continues after a range that the server returned.
    ///
    /// Returns `false` if that range does not begin in `rest`, so that the answer is invalid.
    mutating func advance(_ range: ClosedRange<AttributeHandle>) -> Bool {
        guard let rest, rest.contains(range.lowerBound) else { return false }
        // A group may end after the requested range (Core Specification, Vol 3, Part F, 3.4.4.10).
        next = range.upperBound < end ? range.upperBound + 1 : nil
        return true
    }
}

extension ByteReader {
    /// Reads two handles as a range; returns `nil` if the first is zero or the second is lower.
    mutating func readHandles() -> ClosedRange<AttributeHandle>? {
        guard let start = readAttributeHandle(), let end = readAttributeHandle(), start > .none, start <= end
        else { return nil }
        return start...end
    }
}
