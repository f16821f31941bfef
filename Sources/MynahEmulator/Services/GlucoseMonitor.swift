import MynahCore
import MynahSupport
import MynahValues

/// A continuous glucose monitor (Continuous Glucose Monitoring Service 1.0.2): a session with a measurement
/// at each tick, the record access control point, and the specific operations control point.
///
/// Each measurement is the profile's value for a tick, in which this behavior sets the size, the time offset,
/// the alerts and the E2E-CRC. At the start, the session has run for as many measurements as the monitor has
/// records.
struct GlucoseMonitor: ServiceBehavior {
    static let measurement: BluetoothUUID = "2AA7"
    static let feature: BluetoothUUID = "2AA8"
    static let status: BluetoothUUID = "2AA9"
    static let sessionStart: BluetoothUUID = "2AAA"
    static let runTime: BluetoothUUID = "2AAB"
    static let operations: BluetoothUUID = "2AAC"

    /// The maximum number of stored records.
    ///
    /// If the monitor has more records at its start, that number is the maximum.
    static let most = 1000

    /// A session, running or stopped.
    private struct Session {
        var began: Duration
        /// The time at which the session was stopped, or `nil` while it runs.
        var stopped: Duration?
        /// The number of measurements of the session.
        var taken = 0
        /// The time of the last measurement that was sent, or `nil` if none was.
        var sent: Duration?
        /// The warning octet of the last measurement.
        var warning: UInt8 = 0

        /// The time offset in minutes.
        func offset(at now: Duration) -> UInt16 {
            UInt16(clamping: ((stopped ?? now) - began).components.seconds / 60)
        }
    }

    let handled = [feature, status, sessionStart, runTime, RecordAccess.controlPoint, operations]
    let changed = [feature, status, sessionStart, runTime]
    let sent = [measurement]
    /// The number of records that are stored at the start.
    let count: Int
    private var access = RecordAccess(.continuousGlucose, count: 0)
    private var session = Session(began: .zero)
    /// The number of sessions that were started.
    private var sessions = 0
    /// The number of measurements of all sessions.
    private var ticks: UInt64 = 0
    /// The nine octets of the session start time that a central has set, or `nil` if none has.
    private var start: [UInt8]?
    private var settings = MonitorSettings()

    init(count: Int) {
        self.count = count
    }

    /// The stored records.
    var records: [StoredRecord] { access.records }

    // MARK: Time

    func due(_ service: some ServiceState) -> Duration? {
        let next = [access.due(service), measurementDue(service), end(service)].compactMap { $0 }
        return next.min()
    }

    /// The time of the next measurement, or `nil` if the session is stopped.
    private func measurementDue(_ service: some ServiceState) -> Duration? {
        guard session.stopped == nil else { return nil }
        return session.began + service.interval(of: Self.measurement) * Int64(session.taken)
    }

    /// The time at which the session ends because its run time has elapsed, or `nil` if the session is
    /// stopped or its run time is not known.
    private func end(_ service: some ServiceState) -> Duration? {
        guard session.stopped == nil, let hours = service.value(of: Self.runTime)?.prefix(2), hours.count == 2
        else { return nil }
        let count = hours.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return session.began + .seconds(3600 * count)
    }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        self = GlucoseMonitor(count: count)
        sessions = 1
        session.began = service.now - service.interval(of: Self.measurement) * Int64(max(0, count - 1))
        for _ in 0..<max(0, count) { _ = measure(service) }
        return []
    }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        var effects: [ServiceEffect] = []
        // While an app is suspended, it misses measurements; only the newest of them are kept.
        let interval = service.interval(of: Self.measurement)
        let due = Int(clamping: TickSchedule.number(at: service.now - session.began, every: interval)) + 1
        if session.stopped == nil {
            let missed = max(0, due - session.taken - Self.most)
            session.taken += missed
            ticks += UInt64(missed)
        }
        while let time = measurementDue(service), time <= service.now, end(service).map({ time < $0 }) ?? true
        {
            guard let value = measure(service) else { break }
            effects = send(value, takenAt: time, service)
        }
        if let end = end(service), end <= service.now { session.stopped = end }
        return effects + access.tick(service)
    }

    // MARK: Measurements

    /// Stores the next measurement and returns it; returns `nil` if the profile has none.
    private mutating func measure(_ service: some ServiceState) -> [UInt8]? {
        let time = session.began + service.interval(of: Self.measurement) * Int64(session.taken)
        defer {
            session.taken += 1
            ticks += 1
        }
        guard var value = service.original(of: Self.measurement, at: ticks), value.count >= 6 else {
            return nil
        }
        let offset = session.offset(at: time)
        value.replaceSubrange(4..<6, with: offset.octets)
        let fields = service.layout(of: Self.measurement)?.decode(value) ?? []
        session.warning = settings.warning(
            concentration: fields.number("concentration"), trend: fields.number("trend"))
        if session.warning != 0 { value = value.warned(session.warning) }
        value[0] = UInt8(clamping: value.count + (hasCRC(service) ? 2 : 0))
        value = protected(value, service)
        access.store(StoredRecord(value, timeOffset: offset), most: max(Self.most, count))
        return value
    }

    /// Sends a measurement to the subscribers, if the communication interval has elapsed.
    ///
    /// A central that is receiving stored records gets no measurement.
    private mutating func send(
        _ value: [UInt8], takenAt time: Duration, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard settings.sends(at: time, after: session.sent) else { return [] }
        session.sent = time
        return service.targets(of: Self.measurement).filter { !access.isReporting(to: $0) }
            .map { .send(value, of: Self.measurement, to: $0) }
    }

    // MARK: E2E-CRC

    private func features(_ service: some ServiceState) -> UInt32 {
        let octets = (service.value(of: Self.feature) ?? []).prefix(3)
        return octets.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    private func hasCRC(_ service: some ServiceState) -> Bool { features(service) >> 12 & 1 != 0 }

    /// Returns a value with its CRC if the CGM Feature has E2E-CRC, and without a CRC otherwise.
    private func protected(_ value: [UInt8], _ service: some ServiceState) -> [UInt8] {
        hasCRC(service) ? value + CRC16.of(value).octets : value
    }

    /// Returns a written value without its CRC; throws the ATT error for a missing or wrong CRC.
    ///
    /// `length` is the length of a value without a CRC, or `nil` if that length is not known.
    private func unprotected(
        _ value: [UInt8], length: Int?, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8] {
        guard hasCRC(service) else { return value }
        // 1.6: Missing CRC, and Invalid CRC.
        guard value.count > 2, value.count != length else { throw ATTError(code: 0x80) }
        let (bytes, crc) = (Array(value.dropLast(2)), Array(value.suffix(2)))
        guard crc == CRC16.of(bytes).octets else { throw ATTError(code: 0x81) }
        return bytes
    }

    // MARK: Reads

    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]? {
        let kept = service.value(of: characteristic) ?? []
        switch characteristic {
        case Self.feature:
            guard kept.count == 4 else { return nil }
            // Without E2E-CRC the field has all its bits set (3.2).
            return kept + (hasCRC(service) ? CRC16.of(kept).octets : [0xFF, 0xFF])
        case Self.status: return protected(statusValue(kept, service), service)
        case Self.sessionStart: return protected(start ?? Self.startOctets(kept), service)
        case Self.runTime: return protected(Array(kept.prefix(2)), service)
        default: return nil
        }
    }

    private func statusValue(_ kept: [UInt8], _ service: some ServiceState) -> [UInt8] {
        var octets = Array(kept.dropFirst(2).prefix(3))
        while octets.count < 3 { octets.append(0) }
        if session.stopped != nil { octets[0] |= 1 }
        // Time synchronization between sensor and collector required.
        if start == nil, Self.startOctets(service.value(of: Self.sessionStart) ?? []).allSatisfy({ $0 == 0 })
        {
            octets[1] |= 1
        }
        octets[2] |= session.warning
        return session.offset(at: service.now).octets + octets
    }

    private static func startOctets(_ value: [UInt8]) -> [UInt8] {
        Array((value + [UInt8](repeating: 0, count: 9)).prefix(9))
    }

    // MARK: Writes

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        switch characteristic {
        case RecordAccess.controlPoint:
            return try access.write(value, to: characteristic, by: central, service)
        case Self.sessionStart:
            try setStart(value, service)
            return []
        case Self.operations:
            try service.checkIsConfigured(Self.operations, for: central)
            guard let opcode = value.first else { throw .invalidAttributeValueLength }
            let length = MonitorOperation(rawValue: opcode).map { 1 + $0.operandLength }
            let request = try unprotected(value, length: length, service)
            let response = answer(opcode, Array(request.dropFirst()), service)
            return [.send(protected(response, service), of: Self.operations, to: central)]
        default: throw .writeNotPermitted
        }
    }

    /// Sets the session start time: a central writes its current time, from which the elapsed time is
    /// subtracted.
    private mutating func setStart(_ value: [UInt8], _ service: some ServiceState) throws(ATTError) {
        let bytes = try unprotected(value, length: 9, service)
        guard bytes.count == 9 else { throw .invalidAttributeValueLength }
        let zone = Int8(bitPattern: bytes[7])
        guard let now = OctetDate(bytes[..<7]), zone == -128 || -48...56 ~= zone,
            [0, 2, 4, 8, 255].contains(bytes[8])
        else { throw .outOfRange }
        let elapsed = Int64(session.offset(at: service.now)) * 60
        start = OctetDate(seconds: now.seconds - elapsed).bytes + bytes[7...]
    }

    /// Carries out an operation, and returns the response without its CRC.
    private mutating func answer(
        _ opcode: UInt8, _ operand: [UInt8], _ service: some ServiceState
    ) -> [UInt8] {
        func refused(_ result: MonitorOperation.Result) -> [UInt8] {
            [MonitorOperation.response, opcode, result.rawValue]
        }
        guard let operation = MonitorOperation(rawValue: opcode),
            operation.feature.map({ features(service) >> $0 & 1 != 0 }) ?? true
        else { return refused(.notSupported) }
        guard operand.count == operation.operandLength else { return refused(.invalidOperand) }
        switch operation {
        case .startSession:
            let hasMany = features(service) >> 14 & 1 != 0
            guard session.stopped != nil, hasMany || sessions == 0 else { return refused(.notCompleted) }
            // The time offsets of the records are those of the last session.
            access.clear()
            (session, start, settings) = (Session(began: service.now), nil, MonitorSettings())
            sessions += 1
            return refused(.success)
        case .stopSession:
            guard session.stopped == nil else { return refused(.notCompleted) }
            session.stopped = service.now
            return refused(.success)
        case .setCalibration where session.stopped != nil: return refused(.notCompleted)
        default:
            let (result, response) = settings.carryOut(operation, operand)
            guard let response else { return refused(result) }
            return [operation.rawValue + 1] + response
        }
    }

    mutating func disconnected(_ central: Peer.ID) { access.disconnected(central) }
}

extension [UInt8] {
    /// A measurement with alerts in its warning octet, which is added if the measurement has none.
    fileprivate func warned(_ warning: UInt8) -> [UInt8] {
        var value = self
        // The status, the calibration and temperature, and the warning octets follow the time offset.
        let index = 6 + (value[1] & 0x80 == 0 ? 0 : 1) + (value[1] & 0x40 == 0 ? 0 : 1)
        if value[1] & 0x20 == 0 {
            value[1] |= 0x20
            value.insert(warning, at: Swift.min(index, value.count))
        } else if value.indices.contains(index) {
            value[index] |= warning
        }
        return value
    }
}

extension [NamedField] {
    /// The number of a field, or `nil` if the value does not have the field.
    fileprivate func number(_ name: String) -> Double? { first { $0.name == name }?.value.number }
}

extension UInt16 {
    /// The bytes of the number, little-endian.
    var octets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}
