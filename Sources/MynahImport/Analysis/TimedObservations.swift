import MynahCore

/// A write or a subscription, after which a device may send values.
struct TimedRequest: Hashable {
    /// The content of a request; all requests with the same pattern get the same answer.
    enum Pattern: Hashable {
        /// A write to the value with this handle.
        case write(AttributeHandle, [UInt8])
        /// A subscription to the value with this handle.
        case subscription(AttributeHandle)
        /// A write before the device entered the state with this number.
        case earlyWrite(AttributeHandle, [UInt8], state: Int)

        /// The handle of the value that was written or subscribed to.
        var handle: AttributeHandle {
            switch self {
            case .write(let handle, _), .subscription(let handle), .earlyWrite(let handle, _, _): handle
            }
        }
    }

    var pattern: Pattern
    /// The time at which the request was sent, in microseconds.
    var sentAt: Int64
    /// The time of the response, in microseconds.
    ///
    /// For a command, which has no response, this is the time at which it was sent.
    var time: Int64
    var link: Int
}

/// A value that a device sent.
struct TimedValue: Hashable {
    var value: ArraySlice<UInt8>
    /// The time at which the value was sent, in microseconds.
    var time: Int64
    var link: Int
    /// The index among all values that the device sent.
    var place: Int
}

/// The reason that a device sent a value, as far as the times show it.
enum ValueCause: Hashable {
    /// The value answers the request with this index, `delay` microseconds after the response.
    case answer(request: Int, delay: Int64)
    /// The value is part of a stream, which continues at regular times regardless of requests.
    case stream
    /// The value has no known cause.
    case unasked
}

extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element meets a condition.
    ///
    /// All later elements must meet the condition too.
    func bisection(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
