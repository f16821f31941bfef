import MynahCore

/// What a radio keeps for its central's half.
struct CentralHalf {
    /// Someone waits for a link.
    struct Connection {
        enum Progress {
            /// Another one comes first.
            case waiting
            /// The controller was asked.
            case initiating
            /// It was asked to stop; why.
            case cancelling(RadioError)
        }

        var number: UInt64
        var address: DeviceAddress
        var progress = Progress.waiting
        var continuation: CheckedContinuation<Result<Peer, RadioError>, Never>
    }

    /// Which procedure of which link.
    struct RequestID: Hashable {
        var handle: UInt16
        var number: UInt64
    }

    var sink: (any CentralSink)?
    /// Whether the controller has extended scanning.
    var hasExtendedScanning = false
    /// Whether it was given commands of extended scanning or initiating, beside which it refuses the legacy ones of
    /// advertising (Core Specification, Vol 4, Part E, 3.1.1).
    var usesExtendedCommands = false
    /// How it listens; nil: it does not.
    var scan: ScanOptions?
    var reports = ReportAssembler()
    /// The private addresses that bonded peripherals were last heard with, by identity.
    var privateAddresses: [DeviceAddress: DeviceAddress] = [:]
    /// Links that are wanted; a controller makes one at a time, the first of them.
    var connections: [Connection] = []
    var lastConnection: UInt64 = 0
    var requests: [RequestID: CheckedContinuation<Result<GATTValue, RequestError>, Never>] = [:]
    /// A write command found no room.
    var isFull = false
}
