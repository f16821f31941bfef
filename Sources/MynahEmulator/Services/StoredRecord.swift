import MynahCore

/// A measurement that a meter has stored; a glucose measurement may have a context (Glucose Service 1.0.1,
/// 3.1 and 3.2).
struct StoredRecord: Hashable, Sendable {
    /// The sequence number, or the time offset of a continuous monitor.
    let sequenceNumber: UInt16
    /// The user-facing time in seconds since 1970, which is the base time plus the time offset; `nil` if
    /// unknown.
    let time: Int64?
    let measurement: [UInt8]
    /// The measurement's context, or `nil` if the measurement has none.
    let context: [UInt8]?

    /// Makes a record of a measurement only, without a sequence number, a time and a context.
    init(alone measurement: [UInt8]) {
        (sequenceNumber, time, context) = (0, nil, nil)
        self.measurement = measurement
    }

    /// Makes a record of a continuous monitor, which is identified by its time offset in minutes.
    init(_ measurement: [UInt8], timeOffset: UInt16) {
        (sequenceNumber, time, context) = (timeOffset, nil, nil)
        self.measurement = measurement
    }

    /// Parses a measurement, or returns `nil` if it is too short for its sequence number and times.
    init?(_ measurement: [UInt8], context: [UInt8]?) {
        guard measurement.count >= 10, measurement[0] & 1 == 0 || measurement.count >= 12 else { return nil }
        sequenceNumber = UInt16(measurement[1]) | UInt16(measurement[2]) << 8
        let minutes =
            measurement[0] & 1 == 0
            ? 0 : Int16(bitPattern: UInt16(measurement[10]) | UInt16(measurement[11]) << 8)
        time = OctetDate(measurement[3..<10]).map { $0.seconds + Int64(minutes) * 60 }
        self.measurement = measurement
        if measurement[0] & 0x10 != 0, let context, context.count >= 3 {
            // The context has the sequence number of its measurement.
            self.context = [context[0]] + measurement[1...2] + context[3...]
        } else {
            self.context = nil
        }
    }
}
