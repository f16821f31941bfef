import MynahCore

/// The properties in which services with a Record Access Control Point differ.
struct RecordedService: Hashable, Sendable {
    let measurement: BluetoothUUID
    /// The characteristic with the context of a measurement, or `nil` if there is none.
    let context: BluetoothUUID?
    /// The supported operators, which select records.
    let operators: ClosedRange<UInt8>
    /// The length of the shortest measurement, in octets.
    private let shortest: Int

    /// The Glucose Service (1.0.1, 3.4).
    static let glucose = RecordedService(
        measurement: "2A18", context: "2A34", operators: 1...6, shortest: 10)
    /// The Pulse Oximeter Service (1.0.1, 3.5), whose requests always select all records.
    static let pulseOximeter = RecordedService(
        measurement: "2A5E", context: nil, operators: 1...1, shortest: 5)

    /// Makes the record of a measurement, or returns `nil` if the measurement is too short.
    func record(_ measurement: [UInt8], context: [UInt8]?) -> StoredRecord? {
        guard measurement.count >= shortest else { return nil }
        return self == .glucose
            ? StoredRecord(measurement, context: context) : StoredRecord(alone: measurement)
    }
}
