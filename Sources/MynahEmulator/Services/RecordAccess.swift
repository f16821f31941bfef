import MynahCore

/// The stored records of a glucose meter, and the control point that pages them (Glucose Service 1.0.1, 3.4).
///
/// Each record is the value of a tick. A report sends them one by one, and its response in the end.
struct RecordAccess: ServiceBehavior {
    static let measurement: BluetoothUUID = "2A18"
    static let context: BluetoothUUID = "2A34"
    static let controlPoint: BluetoothUUID = "2A52"

    /// A report that is under way.
    private struct Report {
        var records: ArraySlice<StoredRecord>
        /// When the next record is sent.
        var due: Duration
    }

    private enum Opcode {
        static let numberResponse: UInt8 = 5
        static let response: UInt8 = 6
    }

    let handled = [controlPoint]
    let sent = [measurement, context]
    /// How many records are stored at the start.
    let count: Int
    private(set) var records: [StoredRecord] = []
    private var reports: [Peer.ID: Report] = [:]

    init(count: Int) {
        self.count = count
    }

    func due(_ service: some ServiceState) -> Duration? {
        reports.lazy.filter { !service.isSending(to: $0.key) }.map(\.value.due).min()
    }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        reports = [:]
        records = (0..<UInt64(max(0, count))).compactMap { tick in
            guard let measurement = service.original(of: Self.measurement, at: tick) else { return nil }
            return StoredRecord(measurement, context: service.original(of: Self.context, at: tick))
        }
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        let isAbort = opcode == RecordRequest.Procedure.abort.rawValue
        try service.checkIsConfigured(Self.controlPoint, for: central)
        if reports[central] != nil, !isAbort { throw .procedureAlreadyInProgress }
        if opcode == RecordRequest.Procedure.report.rawValue,
            !service.isSubscribed(central, to: Self.measurement)
        {
            throw .cccdImproperlyConfigured
        }
        do throws(RecordRequest.Refusal) {
            let request = try RecordRequest(value)
            return try carryOut(request, for: central, at: service.now)
        } catch {
            return [respond(opcode, error.response, to: central)]
        }
    }

    private mutating func carryOut(
        _ request: RecordRequest, for central: Peer.ID, at now: Duration
    ) throws(RecordRequest.Refusal) -> [ServiceEffect] {
        let opcode = request.procedure.rawValue
        if request.procedure == .abort {
            guard reports.removeValue(forKey: central) != nil else {
                throw RecordRequest.Refusal(response: .abortUnsuccessful)
            }
            return [respond(opcode, .success, to: central)]
        }
        let places = request.places(in: records)
        if request.procedure == .number {
            let count = UInt16(clamping: places.count)
            let response = [Opcode.numberResponse, 0, UInt8(truncatingIfNeeded: count), UInt8(count >> 8)]
            return [.send(response, of: Self.controlPoint, to: central)]
        }
        guard !places.isEmpty else { throw RecordRequest.Refusal(response: .noRecords) }
        if request.procedure == .delete {
            let deleted = Set(places)
            records = records.indices.filter { !deleted.contains($0) }.map { records[$0] }
            return [respond(opcode, .success, to: central)]
        }
        reports[central] = Report(records: places.map { records[$0] }[...], due: now)
        return []
    }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        let due = reports.filter { $0.value.due <= service.now && !service.isSending(to: $0.key) }.keys
        return due.sorted { $0.rawValue < $1.rawValue }.flatMap { sendNext(to: $0, service) }
    }

    /// Sends one record of a report, and after the last one the response.
    private mutating func sendNext(to central: Peer.ID, _ service: some ServiceState) -> [ServiceEffect] {
        let opcode = RecordRequest.Procedure.report.rawValue
        guard var report = reports[central], let record = report.records.popFirst() else { return [] }
        guard service.isSubscribed(central, to: Self.measurement) else {
            reports[central] = nil
            return [respond(opcode, .procedureNotCompleted, to: central)]
        }
        var effects = [ServiceEffect.send(record.measurement, of: Self.measurement, to: central)]
        if let context = record.context { effects.append(.send(context, of: Self.context, to: central)) }
        if report.records.isEmpty {
            reports[central] = nil
            return effects + [respond(opcode, .success, to: central)]
        }
        report.due = service.now + service.interval(of: Self.measurement)
        reports[central] = report
        return effects
    }

    private func respond(
        _ opcode: UInt8, _ response: RecordRequest.Response, to central: Peer.ID
    ) -> ServiceEffect {
        .send([Opcode.response, 0, opcode, response.rawValue], of: Self.controlPoint, to: central)
    }

    mutating func disconnected(_ central: Peer.ID) {
        reports[central] = nil
    }
}
