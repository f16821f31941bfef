import MynahSupport

/// A message between two processes of an air, which follows their greetings.
enum AirMessage: Hashable, Sendable {
    /// A PDU from one of the sender's stations.
    case frame(AirFrame)
    /// Whether the sender wants to receive advertising from now on, because one of its stations scans.
    case wantsAdvertising(Bool)

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 49)
        switch self {
        case .frame(let frame):
            writer.write(0 as UInt8)
            frame.write(&writer)
        case .wantsAdvertising(let isWanted): writer.write([1, isWanted ? 1 : 0])
        }
        return writer.bytes
    }

    /// Parses a message; returns `nil` if the bytes are not a valid message.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        switch reader.readUInt8() {
        case 0:
            guard let frame = AirFrame(&reader) else { return nil }
            self = .frame(frame)
        case 1:
            guard let flag = reader.readUInt8(), flag <= 1 else { return nil }
            self = .wantsAdvertising(flag == 1)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}
