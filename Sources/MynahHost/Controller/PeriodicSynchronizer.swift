import MynahCore
import MynahHCI
import MynahSupport

/// Synchronizes a controller to the periodic advertising trains that a scan finds, one after the other.
///
/// This state machine does no I/O. Its driver asks `next()` for a step, carries it out, and reports the
/// answer with `finished`, one step at a time.
struct PeriodicSynchronizer {
    /// Identifies a periodic advertising train by the advertiser's address and the Advertising SID.
    struct Train: Hashable {
        /// The advertiser's address as the controller reports it.
        var address: DeviceAddress
        var set: UInt8
    }

    /// One command to the controller.
    enum Step: Hashable {
        case create(Train)
        case cancel
        case terminate(handle: UInt16)
    }

    /// The largest number of trains that wait for their turn.
    private static let queueLimit = 64
    /// The number of advertisements of other trains after which the host stops waiting for the pending train.
    private static let patience = 256

    /// Whether the scan synchronizes to periodic advertising.
    private(set) var isWanted = false
    private var queue: [Train] = []
    /// The train that the controller looks for, or `nil` if there is none.
    private var pending: Train?
    private var isCancelling = false
    /// The number of advertisements of other trains since the controller began to look for the pending train.
    private var others = 0
    private var trains = SortedMap<UInt16, Train>()
    /// The data of incomplete reports, by the train's handle.
    private var pieces: [UInt16: [UInt8]] = [:]
    private var underWay: Step?

    /// Sets whether the scan synchronizes to periodic advertising; if not, existing synchronizations are
    /// ended.
    mutating func want(_ isWanted: Bool) {
        self.isWanted = isWanted
        if !isWanted { queue = [] }
    }

    /// Handles an advertisement that contains the information about a train.
    mutating func heard(_ train: Train) {
        guard isWanted, !trains.indices.contains(where: { trains[at: $0] == train }) else { return }
        if let pending, pending != train { others += 1 }
        guard pending != train, !queue.contains(train), queue.count < Self.queueLimit else { return }
        queue.append(train)
    }

    /// Handles the reset or the loss of the controller.
    mutating func ended() {
        let isWanted = isWanted
        self = PeriodicSynchronizer()
        self.isWanted = isWanted
    }

    // MARK: Steps

    /// The next step, or `nil` if there is nothing to do or a step waits for its answer.
    mutating func next() -> Step? {
        guard underWay == nil, let step = step() else { return nil }
        underWay = step
        return step
    }

    private func step() -> Step? {
        if pending != nil {
            let isOver = !isWanted || others > Self.patience
            return isOver && !isCancelling ? .cancel : nil
        }
        if !isWanted { return trains.keys.first.map { .terminate(handle: $0) } }
        return queue.first.map { .create($0) }
    }

    /// Handles the answer to the current step.
    mutating func finished(_ outcome: CommandOutcome) {
        guard let step = underWay else { return }
        underWay = nil
        switch step {
        case .create(let train):
            queue.removeAll { $0 == train }
            if outcome == .done { (pending, others) = (train, 0) }
        case .cancel: isCancelling = outcome == .done
        case .terminate(let handle): trains[handle] = nil
        }
    }

    // MARK: Events

    /// Handles an event about a train; ignores other events.
    mutating func handle(_ event: HCIEventContent) {
        switch event {
        case .periodicSyncEstablished(let status, let sync): established(status, sync)
        case .periodicSyncLost(let handle): lost(handle)
        default: break
        }
    }

    /// Handles the end of the search for a train, which was found, not found or cancelled.
    private mutating func established(_ status: HCIStatus, _ sync: LEPeriodicSync) {
        let train = pending ?? Train(address: sync.address, set: sync.set)
        (pending, isCancelling) = (nil, false)
        if status == .success { trains[sync.handle] = train }
    }

    /// Handles the loss of a train.
    private mutating func lost(_ handle: UInt16) {
        trains[handle] = nil
        pieces[handle] = nil
    }

    /// Joins the pieces of a report; returns the train and its data if the report is complete.
    mutating func received(_ report: LEPeriodicReport) -> (train: Train, data: [UInt8])? {
        guard let train = trains[report.handle] else { return nil }
        let data = (pieces.removeValue(forKey: report.handle) ?? []) + report.data
        guard report.progress == .more, data.count < ReportAssembler.limit else {
            return (train, Array(data.prefix(ReportAssembler.limit)))
        }
        pieces[report.handle] = data
        return nil
    }
}

extension PeriodicSynchronizer.Step {
    /// The step's purpose, as in "refused synchronizing to periodic advertising".
    var purpose: String {
        switch self {
        case .create: "synchronizing to periodic advertising"
        case .cancel: "cancelling the synchronization to periodic advertising"
        case .terminate: "ending the synchronization to periodic advertising"
        }
    }
}

extension HCICommand {
    /// The command that carries out a step (Core Specification, Vol 4, Part E, 7.8.67 to 7.8.69).
    init(_ step: PeriodicSynchronizer.Step) {
        switch step {
        case .create(let train):
            var writer = ByteWriter(capacity: 14)
            // Not by the periodic advertiser list; report the data.
            writer.write([0, train.set] as [UInt8])
            writer.writeWithKind(train.address)
            // No event may be skipped, and the train is lost after 5 s.
            writer.write(0 as UInt16)
            writer.write(500 as UInt16)
            writer.write(0 as UInt8)
            self.init(.lePeriodicAdvertisingCreateSync, writer.bytes)
        case .cancel: self.init(.lePeriodicAdvertisingCreateSyncCancel)
        case .terminate(let handle):
            self.init(.lePeriodicAdvertisingTerminateSync, [UInt8(handle & 0xFF), UInt8(handle >> 8)])
        }
    }
}
