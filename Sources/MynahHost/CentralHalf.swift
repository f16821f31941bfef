import MynahCore

/// What a radio keeps for its central's half.
struct CentralHalf {
    /// Which procedure of which link.
    struct RequestID: Hashable {
        var handle: UInt16
        var number: UInt64
    }

    /// How it is to listen; nil: it is not.
    var scan: ScanOptions?
    /// Whether it listens where it is not to, for the addresses of a peripheral that is waited for.
    var isFollowing = false
    /// How the controller listens; nil: it does not.
    var listening: ScanOptions?
    /// What was asked of it about that last.
    var listeningChange: Task<Result<Void, RadioError>, Never>?
    var reports = ReportAssembler()
    /// The private addresses that bonded peripherals were last heard with, by identity.
    var privateAddresses: [DeviceAddress: DeviceAddress] = [:]
    /// Links that are wanted, and who waits for each.
    var wishes = ConnectionQueue()
    var connections: [UInt64: CheckedContinuation<Result<Peer, RadioError>, Never>] = [:]
    /// What the controller was told last about them.
    var initiating: Task<Void, Never>?
    var lastConnection: UInt64 = 0
    var requests: [RequestID: CheckedContinuation<Result<GATTValue, RequestError>, Never>] = [:]
    /// Where a write command found no room.
    var refusals = Refusals()
}
