import MynahCore

/// The properties in which services with a Record Access Control Point differ.
struct RecordedService: Hashable, Sendable {
    let measurement: BluetoothUUID
    /// The characteristic with the context of a measurement, or `nil` if there is none.
    let context: BluetoothUUID?
    /// The supported operators, which select records.
    let operators: ClosedRange<UInt8>
    /// The supported filter types of an operand: 1 is the sequence number, or the time offset of a continuous
    /// monitor; 2 is the user-facing time.
    var filters: ClosedRange<UInt8> = 1...2
    /// The time between two records of a report, or `nil` to use the tick interval of the measurement.
    var pace: Duration?
    /// The length of the shortest measurement, in octets.
    private let shortest: Int
    /// The error for a request of a central that has not subscribed to the response or to the records.
    let unconfigured: ATTError
    /// The error for a request while another one is carried out.
    let busy: ATTError

    /// The Glucose Service (1.0.1, 3.4).
    ///
    /// This service is older than the common profile and service error codes, 0xFD and 0xFE (Core
    /// Specification Supplement, Part B, 1.2), and defines application errors of its own for the same two
    /// conditions (1.6). The `ble_gls.c` of the nRF5 SDK 17 has the same codes.
    static let glucose = RecordedService(
        measurement: "2A18", context: "2A34", operators: 1...6, shortest: 10,
        unconfigured: ATTError(code: 0x81), busy: ATTError(code: 0x80))
    /// The Pulse Oximeter Service (1.0.1, 3.5), whose requests are for all records.
    ///
    /// This service refers to the common profile and service error codes.
    static let pulseOximeter = RecordedService(
        measurement: "2A5E", context: nil, operators: 1...1, shortest: 5,
        unconfigured: .cccdImproperlyConfigured, busy: .procedureAlreadyInProgress)

    /// The Continuous Glucose Monitoring Service (1.0.2, 3.7), whose records are selected by their time
    /// offset.
    ///
    /// This service refers to the common profile and service error codes.
    static let continuousGlucose = RecordedService(
        measurement: "2AA7", context: nil, operators: 1...6, filters: 1...1, pace: .milliseconds(50),
        shortest: 6, unconfigured: .cccdImproperlyConfigured, busy: .procedureAlreadyInProgress)

    /// Makes the record of a measurement, or returns `nil` if the measurement is too short.
    func record(_ measurement: [UInt8], context: [UInt8]?) -> StoredRecord? {
        guard measurement.count >= shortest else { return nil }
        return self == .glucose
            ? StoredRecord(measurement, context: context) : StoredRecord(alone: measurement)
    }
}
