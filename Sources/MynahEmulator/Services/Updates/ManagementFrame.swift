import MynahCore

/// The header of a frame of the Simple Management Protocol (Zephyr, SMP Protocol Specification).
struct ManagementHeader: Hashable, Sendable {
    /// The length of a header, in bytes.
    static let length = 8

    /// The newest supported version: 0 is the original protocol, and 1 has error codes by group.
    static let newestVersion: UInt8 = 1

    enum Operation {
        static let read: UInt8 = 0
        static let write: UInt8 = 2
    }

    var version: UInt8 = 0
    var operation: UInt8
    var dataLength = 0
    var group: UInt16
    var sequence: UInt8 = 0
    var command: UInt8

    init(version: UInt8 = 0, operation: UInt8, group: UInt16, sequence: UInt8 = 0, command: UInt8) {
        (self.version, self.operation) = (version, operation)
        (self.group, self.sequence, self.command) = (group, sequence, command)
    }

    /// Parses a header, whose integers are big-endian; returns `nil` if the bytes are too few.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= Self.length else { return nil }
        let octets = Array(bytes.prefix(Self.length))
        self.init(
            version: octets[0] >> 3 & 3, operation: octets[0] & 7,
            group: UInt16(octets[4]) << 8 | UInt16(octets[5]), sequence: octets[6], command: octets[7])
        dataLength = Int(octets[2]) << 8 | Int(octets[3])
    }

    /// Returns a frame with this header and `data`, which must have at most 65,535 bytes.
    func frame(_ data: [UInt8]) -> [UInt8] {
        let length = UInt16(clamping: data.count)
        return [
            version << 3 | operation, 0, UInt8(length >> 8), UInt8(length & 0xFF), UInt8(group >> 8),
            UInt8(group & 0xFF), sequence, command,
        ] + data
    }

    var response: ManagementHeader {
        var header = self
        header.version = min(version, Self.newestVersion)
        header.operation = operation == Operation.read ? 1 : 3
        return header
    }
}

/// Assembles the requests of one central, each of which may consist of several writes.
struct ManagementRequests: Hashable, Sendable {
    enum Request: Hashable {
        case complete(ManagementHeader, [UInt8])
        /// A request that is longer than the buffer, and whose data is skipped.
        case tooLong(ManagementHeader)
    }

    /// The length of the longest request including its header.
    ///
    /// This is `buf_size` in MCUmgr's parameters, as in the samples of the nRF Connect SDK.
    static let longest = 2475

    private var bytes: [UInt8] = []
    /// The number of bytes of a skipped request that are still to come.
    private var skipped = 0

    /// Adds written bytes, and returns the requests that are now complete.
    mutating func add(_ written: [UInt8]) -> [Request] {
        let ignored = min(skipped, written.count)
        skipped -= ignored
        bytes += written[ignored...]
        var requests: [Request] = []
        while let header = ManagementHeader(bytes) {
            let length = ManagementHeader.length + header.dataLength
            if length > Self.longest {
                requests.append(.tooLong(header))
                skipped = max(0, length - bytes.count)
            } else if bytes.count < length {
                break
            } else {
                requests.append(.complete(header, Array(bytes[ManagementHeader.length..<length])))
            }
            bytes.removeFirst(min(length, bytes.count))
        }
        return requests
    }
}

/// The error of a request, which each version of the protocol encodes differently.
enum ManagementError: Error, Hashable {
    /// An error of the protocol itself (`mcumgr_err_t`).
    enum Status: UInt64 {
        case unknown = 1
        case noMemory = 2
        case invalid = 3
        case noEntry = 5
        case badState = 6
        case notSupported = 8
        case tooNew = 13
    }

    /// An error of the OS group (`os_mgmt_err_code_t`).
    enum System: UInt64 {
        case invalidFormat = 2
        case queryHasNoAnswer = 3

        /// The error code for clients of the original protocol.
        var status: Status {
            switch self {
            case .invalidFormat: .invalid
            case .queryHasNoAnswer: .noEntry
            }
        }
    }

    /// An error of the image group (`img_mgmt_err_code_t`).
    enum Image: UInt64 {
        case hashNotFound = 8
        case noFreeSlot = 9
        case invalidSlot = 14
        case invalidOffset = 20
        case invalidLength = 21
        case invalidHeader = 22
        case invalidMagic = 23
        case invalidHash = 24
        case currentIsNewer = 27
        case alreadyPending = 28
        case tooLarge = 30
        case overrun = 31
        case testOfActiveDenied = 33

        /// The error code for clients of the original protocol.
        var status: Status {
            switch self {
            case .invalidSlot, .invalidOffset, .invalidLength, .invalidHeader, .invalidHash: .invalid
            case .noFreeSlot, .currentIsNewer, .alreadyPending: .badState
            case .hashNotFound, .invalidMagic, .tooLarge, .overrun, .testOfActiveDenied: .unknown
            }
        }
    }

    case status(Status)
    case system(System)
    case image(Image)

    /// Returns the data of the response with the error.
    func map(version: UInt8) -> CBOR {
        let status: Status
        switch self {
        case .status(let code): status = code
        case .system(let code):
            guard version == 0 else { return Self.error(group: 0, code.rawValue) }
            status = code.status
        case .image(let code):
            guard version == 0 else { return Self.error(group: 1, code.rawValue) }
            status = code.status
        }
        return .map([.init("rc", .unsigned(status.rawValue))])
    }

    private static func error(group: UInt64, _ code: UInt64) -> CBOR {
        .map([.init("err", .map([.init("group", .unsigned(group)), .init("rc", .unsigned(code))]))])
    }
}
