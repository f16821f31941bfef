import MynahCore
import MynahSupport

/// What a client does on a server in one or several requests, without I/O: answers in, requests out.
///
/// An answer that breaks the rules ends it with an error, and each must bring it on: a hostile server can make it neither
/// trap nor go on for ever.
protocol GATTProcedure: Sendable {
    /// The first request, where one is needed at all; on a bearer that is as it is now.
    mutating func begin(_ bearer: ATTClient.Bearer) -> GATTStep
    /// What to do after an answer: the bytes behind the opcode of the response, or the error.
    mutating func take(_ answer: Result<[UInt8], ATTError>) -> GATTStep
}

/// What a procedure wants next.
enum GATTStep: Hashable, Sendable {
    case ask([UInt8])
    case done(GATTValue)
    case failed(RequestError)

    /// The server broke a rule.
    static func violated(_ message: String) -> GATTStep {
        .failed(.failed(RadioError(.protocolViolation, message)))
    }
}

/// What a procedure comes to.
enum GATTValue: Hashable, Sendable {
    case none
    case mtu(Int)
    case bytes([UInt8])
    /// One for each that was asked for; nil: it was cut, or had no room.
    case values([[UInt8]?])
    case services([RemoteService])
    case characteristics([RemoteCharacteristic])
    case descriptors([RemoteDescriptor])
}

/// Goes through a range of handles, request by request.
struct HandleWalk: Hashable, Sendable {
    /// Where the next request starts; nil: the range is done.
    private(set) var next: UInt16?
    let end: UInt16

    init(_ range: ClosedRange<UInt16>) {
        next = range.lowerBound
        end = range.upperBound
    }

    /// What is left; nil: nothing.
    var rest: ClosedRange<UInt16>? {
        guard let next, next <= end else { return nil }
        return next...end
    }

    /// Takes one that was found; false: it is not in what is left, or ends before it starts.
    mutating func take(_ range: ClosedRange<UInt16>) -> Bool {
        guard let rest, rest.contains(range.lowerBound) else { return false }
        // Groups may reach past the range that was asked for (Core Specification, Vol 3, Part F, 3.4.4.10).
        next = range.upperBound < end ? range.upperBound + 1 : nil
        return true
    }
}

extension ByteReader {
    /// Two handles, as a range; nil: they are none.
    mutating func readHandles() -> ClosedRange<UInt16>? {
        guard let start = readUInt16(), let end = readUInt16(), start > 0, start <= end else { return nil }
        return start...end
    }
}
