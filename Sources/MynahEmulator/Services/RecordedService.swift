import MynahCore

/// A service with stored records and a Record Access Control Point, as its specification has them.
struct RecordedService: Hashable, Sendable {
    let measurement: BluetoothUUID
    /// The characteristic with the context of a measurement, or `nil` if it has none.
    let context: BluetoothUUID?
    /// The operators that select records; another one is not supported.
    let operators: ClosedRange<UInt8>
    /// The fewest octets that a measurement has.
    private let shortest: Int

    /// Glucose Service 1.0.1, 3.4.
    static let glucose = RecordedService(
        measurement: "2A18", context: "2A34", operators: 1...6, shortest: 10)
    /// Pulse Oximeter Service 1.0.1, 3.5: a request is for all records.
    static let pulseOximeter = RecordedService(
        measurement: "2A5E", context: nil, operators: 1...1, shortest: 5)

    /// The record of a measurement, or `nil` if the measurement is too short to be one.
    func record(_ measurement: [UInt8], context: [UInt8]?) -> StoredRecord? {
        guard measurement.count >= shortest else { return nil }
        return self == .glucose
            ? StoredRecord(measurement, context: context) : StoredRecord(alone: measurement)
    }
}
