import MynahCore

/// A write or a subscription, after which a device may send values.
struct TimedRequest: Hashable {
    /// The content of a request: requests with one pattern get one answer.
    enum Pattern: Hashable {
        /// A write to the value with this handle.
        case write(AttributeHandle, [UInt8])
        /// A subscription to the value with this handle.
        case subscription(AttributeHandle)
        /// A write before the device was in the state with this number.
        case earlyWrite(AttributeHandle, [UInt8], state: Int)

        /// The handle of the value that was written or subscribed to.
        var handle: AttributeHandle {
            switch self {
            case .write(let handle, _), .subscription(let handle), .earlyWrite(let handle, _, _): handle
            }
        }
    }

    var pattern: Pattern
    /// The time at which it was sent, in microseconds.
    var sentAt: Int64
    /// The time of its response; a command has none, and was answered when it was sent.
    var time: Int64
    var link: Int
}

/// A value that a device sent.
struct TimedValue: Hashable {
    var value: ArraySlice<UInt8>
    /// The time at which it was sent, in microseconds.
    var time: Int64
    var link: Int
    /// The place among all values of the device.
    var place: Int
}

/// The reason for which a device sent a value, as far as times show it.
enum ValueCause: Hashable {
    /// The value answers a request, by the request's index, `delay` microseconds after the response.
    case answer(request: Int, delay: Int64)
    /// The value is one of those that come at regular times, whether or not there are requests.
    case stream
    /// Nothing is known to have caused it.
    case unasked
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element for which a condition holds, if it holds for all after it too.
    func bisection(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
