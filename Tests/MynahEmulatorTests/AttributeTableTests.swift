import MynahCore
import Testing

@testable import MynahEmulator

@Suite struct AttributeTableTests {
    let key = AttributeKey()
    let other = AttributeKey()
    let central = Peer.ID(1)
    var table = AttributeTable()

    init() {
        table.add(Self.entry(.stored([1, 2, 3, 4])), as: key)
        table.add(Self.entry(.stored([9])), as: other)
    }

    static func entry(_ source: AttributeTable.Source, every: Duration? = nil) -> AttributeTable.Entry {
        AttributeTable.Entry(
            service: "180D", characteristic: "2A37", descriptor: nil, source: source, maximumLength: 6,
            readError: nil, writeError: nil, every: every)
    }

    mutating func read(offset: Int) -> PendingReply.Outcome {
        table.read(ReadRequest(central: central, attribute: key, offset: offset), at: .zero)
    }

    mutating func write(_ parts: [(AttributeKey, Int, [UInt8])]) -> PendingReply.Outcome {
        table.write(
            WriteRequest(
                central: central,
                parts: parts.map { WriteRequest.Part(attribute: $0.0, offset: $0.1, value: $0.2) },
                wantsResponse: true))
    }

    @Test(arguments: [(0, [1, 2, 3, 4]), (2, [3, 4]), (4, [])] as [(Int, [UInt8])])
    mutating func `a read starts at its offset, and at the end it is empty`(offset: Int, bytes: [UInt8]) {
        #expect(read(offset: offset) == .success(bytes))
    }

    @Test(arguments: [5, 512, -1])
    mutating func `an offset past the end is refused`(offset: Int) {
        #expect(read(offset: offset) == .failure(.invalidOffset))
    }

    @Test mutating func `a write replaces the value and reads back`() {
        #expect(write([(key, 0, [7])]) == .success([]))
        #expect(read(offset: 0) == .success([7]))
    }

    @Test mutating func `a write with an offset keeps the bytes before it`() {
        #expect(write([(key, 2, [8, 9, 10])]) == .success([]))
        #expect(read(offset: 0) == .success([1, 2, 8, 9, 10]))
    }

    @Test mutating func `a value longer than maxLength is refused and changes nothing`() {
        #expect(write([(key, 0, [0, 0, 0, 0, 0, 0])]) == .success([]))
        #expect(write([(key, 0, [1, 1, 1, 1, 1, 1, 1])]) == .failure(.invalidAttributeValueLength))
        #expect(write([(key, 6, [1])]) == .failure(.invalidAttributeValueLength))
        #expect(read(offset: 0) == .success([0, 0, 0, 0, 0, 0]))
    }

    @Test mutating func `of a write in parts all are carried out or none`() {
        #expect(write([(other, 0, [5]), (key, 5, [6])]) == .failure(.invalidOffset))
        #expect(table.value(of: other, at: .zero) == [9])
        #expect(write([(key, 0, [5]), (key, 1, [6]), (other, 0, [7])]) == .success([]))
        #expect(table.value(of: key, at: .zero) == [5, 6])
        #expect(table.value(of: other, at: .zero) == [7])
    }

    @Test mutating func `an ordered error replaces the answer`() {
        var entry = Self.entry(.stored([1]))
        entry.readError = ATTError(code: 0x85)
        entry.writeError = ATTError(code: 0x80)
        table.add(entry, as: key)
        #expect(read(offset: 0) == .failure(ATTError(code: 0x85)))
        #expect(write([(key, 0, [2])]) == .failure(ATTError(code: 0x80)))
        #expect(table.value(of: key, at: .zero) == [1])
    }

    @Test mutating func `a generated value does not change between two ticks`() {
        table.add(Self.entry(.generated { [UInt8($0)] }, every: .seconds(1)), as: key)
        #expect(table.value(of: key, at: .milliseconds(999)) == [0])
        #expect(table.value(of: key, at: .milliseconds(1000)) == [1])
        #expect(table.value(of: key, at: .milliseconds(1999)) == [1])
    }

    @Test mutating func `without every, a generated value changes each second`() {
        table.add(Self.entry(.generated { [UInt8($0)] }), as: key)
        #expect(table.value(of: key, at: .milliseconds(1999)) == [1])
        #expect(table.value(of: key, at: .seconds(200)) == [200])
        #expect(table.value(of: key, at: .seconds(-1)) == [0])
    }

    @Test mutating func `each central reads all parts of a long value from one tick`() {
        table.add(Self.entry(.generated { Array(repeating: UInt8($0), count: 30) }), as: key)
        func part(_ number: UInt32, at offset: Int, _ seconds: Int) -> [UInt8]? {
            let request = ReadRequest(central: Peer.ID(number), attribute: key, offset: offset)
            return try? table.read(request, at: .seconds(seconds)).get()
        }
        #expect(part(1, at: 0, 1) == Array(repeating: 1, count: 30))
        #expect(part(2, at: 0, 2) == Array(repeating: 2, count: 30))
        #expect(part(1, at: 22, 3) == Array(repeating: 1, count: 8))
        #expect(part(2, at: 22, 3) == Array(repeating: 2, count: 8))
        // It begins anew at 0, and has begun nothing after a new connection.
        #expect(part(1, at: 0, 4) == Array(repeating: 4, count: 30))
        table.forgetLink(of: Peer.ID(1))
        #expect(part(1, at: 22, 5) == Array(repeating: 5, count: 8))
        #expect(part(2, at: 22, 5) == Array(repeating: 2, count: 8))
        // A short value is read anew with any offset.
        table.set(.stored([1, 2]), of: key)
        #expect(part(2, at: 0, 6) == [1, 2])
        #expect(part(2, at: 1, 6) == [2])
    }

    @Test mutating func `an attribute that is not there is an error, not a crash`() {
        let request = ReadRequest(central: central, attribute: AttributeKey())
        #expect(table.read(request, at: .zero) == .failure(.unlikelyError))
    }
}
