import MynahCore

/// A request to the Record Access Control Point (Glucose Service 1.0.1, 3.4; Pulse Oximeter Service 1.0.1,
/// 3.5): an opcode, an operator and an operand.
struct RecordRequest: Hashable, Sendable {
    enum Procedure: UInt8 {
        case report = 1
        case delete = 2
        case abort = 3
        case number = 4
    }

    /// The result codes of a response.
    enum Response: UInt8 {
        case success = 1
        case opcodeNotSupported = 2
        case invalidOperator = 3
        case operatorNotSupported = 4
        case invalidOperand = 5
        case noRecords = 6
        case abortUnsuccessful = 7
        case procedureNotCompleted = 8
        case operandNotSupported = 9
    }

    /// The error for a request that is refused at once, with the result code of the response.
    struct Refusal: Error, Hashable {
        var response: Response
    }

    /// The records that an operator and its operand select.
    enum Selection: Hashable {
        case all
        case first
        case last
        /// The records between two sequence numbers; a limit is `nil` if there is none.
        case sequenceNumbers(from: UInt16?, to: UInt16?)
        /// The records between two user-facing times, in seconds since 1970; a limit is `nil` if there is
        /// none.
        case times(from: Int64?, to: Int64?)
    }

    private enum Operator {
        static let null: UInt8 = 0
        static let all: UInt8 = 1
        static let atMost: UInt8 = 2
        static let atLeast: UInt8 = 3
        static let range: UInt8 = 4
        static let first: UInt8 = 5
        static let last: UInt8 = 6
    }

    let procedure: Procedure
    let selection: Selection

    /// Parses a request of at least an opcode; throws a refusal if the request is invalid.
    init(_ value: [UInt8], of service: RecordedService = .glucose) throws(Refusal) {
        guard let opcode = value.first, let procedure = Procedure(rawValue: opcode) else {
            throw Refusal(response: .opcodeNotSupported)
        }
        guard value.count > 1 else { throw Refusal(response: .invalidOperator) }
        self.procedure = procedure
        let operand = value[2...]
        guard procedure != .abort else {
            guard value[1] == Operator.null else { throw Refusal(response: .invalidOperator) }
            guard operand.isEmpty else { throw Refusal(response: .invalidOperand) }
            selection = .all
            return
        }
        guard value[1] != Operator.null else { throw Refusal(response: .invalidOperator) }
        guard service.operators.contains(value[1]) else { throw Refusal(response: .operatorNotSupported) }
        switch value[1] {
        case Operator.all: selection = try Self.whole(.all, operand)
        case Operator.first: selection = try Self.whole(.first, operand)
        case Operator.last: selection = try Self.whole(.last, operand)
        case Operator.atMost: selection = try Self.filter(operand, 1) { (nil, $0[0]) }
        case Operator.atLeast: selection = try Self.filter(operand, 1) { ($0[0], nil) }
        case Operator.range: selection = try Self.filter(operand, 2) { ($0[0], $0[1]) }
        default: throw Refusal(response: .operatorNotSupported)
        }
    }

    private static func whole(
        _ selection: Selection, _ operand: ArraySlice<UInt8>
    ) throws(Refusal) -> Selection {
        guard operand.isEmpty else { throw Refusal(response: .invalidOperand) }
        return selection
    }

    /// Parses an operand: a filter type, and `count` values of that type.
    private static func filter(
        _ operand: ArraySlice<UInt8>, _ count: Int, _ limits: ([Int64]) -> (Int64?, Int64?)
    ) throws(Refusal) -> Selection {
        guard let type = operand.first else { throw Refusal(response: .invalidOperand) }
        guard type == 1 || type == 2 else { throw Refusal(response: .operandNotSupported) }
        let size = type == 1 ? 2 : OctetDate.octets
        let bytes = Array(operand.dropFirst())
        guard bytes.count == size * count else { throw Refusal(response: .invalidOperand) }
        let values = (0..<count).compactMap { index -> Int64? in
            let part = bytes[index * size..<(index + 1) * size]
            guard type == 1 else { return OctetDate(part)?.seconds }
            return part.reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        guard values.count == count, values == values.sorted() else {
            throw Refusal(response: .invalidOperand)
        }
        let (low, high) = limits(values)
        guard type == 1 else { return .times(from: low, to: high) }
        return .sequenceNumbers(from: low.map(UInt16.init), to: high.map(UInt16.init))
    }

    /// Returns the indices of the selected records, in ascending order.
    func places(in records: [StoredRecord]) -> [Int] {
        switch selection {
        case .all: return Array(records.indices)
        case .first: return records.isEmpty ? [] : [0]
        case .last: return records.isEmpty ? [] : [records.count - 1]
        case .sequenceNumbers(let low, let high):
            return records.indices.filter {
                (low ?? .min)...(high ?? .max) ~= records[$0].sequenceNumber
            }
        case .times(let low, let high):
            return records.indices.filter { index in
                records[index].time.map { (low ?? .min)...(high ?? .max) ~= $0 } ?? false
            }
        }
    }
}
