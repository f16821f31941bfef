import MynahCore

/// The values that a device sent, in the order of the capture.
///
/// A recorded device may send thousands of values a second for hours. Their bytes are therefore in one
/// buffer, instead of in an object for each value.
struct SentLog: RandomAccessCollection {
    private struct Record {
        var time: Int64
        var start: Int
        var link: Int32
        var count: UInt16
        var handle: AttributeHandle
        var table: UInt16
    }

    private var records: [Record] = []
    private var bytes: [UInt8] = []

    var startIndex: Int { 0 }
    var endIndex: Int { records.count }

    subscript(place: Int) -> ObservedServer.Sent {
        let record = records[place]
        var sent = ObservedServer.Sent(
            handle: record.handle, value: Array(value(at: place)), time: record.time, link: Int(record.link))
        sent.table = Int(record.table)
        return sent
    }

    /// Returns the bytes of a value as a slice of the shared buffer.
    func value(at place: Int) -> ArraySlice<UInt8> {
        let record = records[place]
        return bytes[record.start..<record.start + Int(record.count)]
    }

    /// Returns the handle of a value, without its bytes.
    func handle(at place: Int) -> AttributeHandle { records[place].handle }
    func time(at place: Int) -> Int64 { records[place].time }
    func link(at place: Int) -> Int { Int(records[place].link) }
    func table(at place: Int) -> Int { Int(records[place].table) }

    mutating func append(_ sent: ObservedServer.Sent) {
        // An ATT PDU is at most as long as the MTU, which has 16 bits.
        let value = sent.value.prefix(Int(UInt16.max))
        records.append(
            Record(
                time: sent.time, start: bytes.count, link: Int32(clamping: sent.link),
                count: UInt16(value.count), handle: sent.handle, table: UInt16(clamping: sent.table)))
        bytes += value
    }

    /// Removes the values that do not belong to these tables.
    mutating func keep(tables: Set<Int>) {
        guard records.contains(where: { !tables.contains(Int($0.table)) }) else { return }
        records.removeAll { !tables.contains(Int($0.table)) }
    }
}
