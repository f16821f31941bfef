import MynahCore

/// The stored records of a meter, with the control point that reports, counts and deletes them.
///
/// Each record is the value at one tick. A report sends its records one by one, and then the response.
struct RecordAccess: ServiceBehavior {
    static let controlPoint: BluetoothUUID = "2A52"

    /// A report whose records are being sent.
    private struct Report {
        var records: ArraySlice<StoredRecord>
        /// The time at which the next record is sent.
        var due: Duration
    }

    private enum Opcode {
        static let numberResponse: UInt8 = 5
        static let response: UInt8 = 6
    }

    let handled = [controlPoint]
    let service: RecordedService
    /// The number of records that are stored at the device's start.
    let count: Int
    private(set) var records: [StoredRecord] = []
    private var reports: [Peer.ID: Report] = [:]

    init(_ service: RecordedService = .glucose, count: Int) {
        self.service = service
        self.count = count
    }

    var sent: [BluetoothUUID] { [service.measurement] + (service.context.map { [$0] } ?? []) }

    func due(_ state: some ServiceState) -> Duration? {
        reports.lazy.filter { !state.isSending(to: $0.key) }.map(\.value.due).min()
    }

    mutating func begin(_ state: some ServiceState) -> [ServiceEffect] {
        reports = [:]
        records = (0..<UInt64(max(0, count))).compactMap { tick in
            guard let measurement = state.original(of: service.measurement, at: tick) else { return nil }
            let context = service.context.flatMap { state.original(of: $0, at: tick) }
            return service.record(measurement, context: context)
        }
        return []
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ state: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard let opcode = value.first else { throw .invalidAttributeValueLength }
        let isAbort = opcode == RecordRequest.Procedure.abort.rawValue
        try state.checkIsConfigured(Self.controlPoint, for: central)
        if reports[central] != nil, !isAbort { throw .procedureAlreadyInProgress }
        if opcode == RecordRequest.Procedure.report.rawValue,
            !state.isSubscribed(central, to: service.measurement)
        {
            throw .cccdImproperlyConfigured
        }
        do throws(RecordRequest.Refusal) {
            let request = try RecordRequest(value, of: service)
            return try carryOut(request, for: central, at: state.now)
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

    mutating func tick(_ state: some ServiceState) -> [ServiceEffect] {
        let due = reports.filter { $0.value.due <= state.now && !state.isSending(to: $0.key) }.keys
        return due.sorted { $0.rawValue < $1.rawValue }.flatMap { sendNext(to: $0, state) }
    }

    /// Sends the next record of a report, or the response after the last record.
    private mutating func sendNext(to central: Peer.ID, _ state: some ServiceState) -> [ServiceEffect] {
        let opcode = RecordRequest.Procedure.report.rawValue
        guard var report = reports[central], let record = report.records.popFirst() else { return [] }
        guard state.isSubscribed(central, to: service.measurement) else {
            reports[central] = nil
            return [respond(opcode, .procedureNotCompleted, to: central)]
        }
        var effects = [ServiceEffect.send(record.measurement, of: service.measurement, to: central)]
        if let context = record.context, let place = service.context {
            effects.append(.send(context, of: place, to: central))
        }
        if report.records.isEmpty {
            reports[central] = nil
            return effects + [respond(opcode, .success, to: central)]
        }
        report.due = state.now + state.interval(of: service.measurement)
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
