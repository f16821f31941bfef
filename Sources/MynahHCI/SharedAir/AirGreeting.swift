import MynahSupport

/// The first message of each process: the protocol, its version, and the random number of the sender.
struct AirGreeting: Hashable, Sendable {
    /// The reason that a first message is not a valid greeting.
    enum Trouble: Error, Hashable {
        case nonsense
        case foreignVersion(UInt16)
    }

    /// The version of the messages, which increases with every change.
    ///
    /// Processes with different versions refuse each other.
    static let version: UInt16 = 4
    private static let mark = Array("mynah air".utf8)

    var node: UInt64
    /// `true` if the sender wants to receive advertising, until a later message changes that.
    var wantsAdvertising: Bool

    init(node: UInt64, wantsAdvertising: Bool) {
        self.node = node
        self.wantsAdvertising = wantsAdvertising
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 20)
        writer.write(Self.mark)
        writer.write(Self.version)
        writer.write(node)
        writer.write(UInt8(wantsAdvertising ? 1 : 0))
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(Trouble) {
        var reader = ByteReader(bytes)
        guard reader.readBytes(Self.mark.count) == Self.mark, let version = reader.readUInt16() else {
            throw .nonsense
        }
        // The rest of a message with another version cannot be interpreted.
        guard version == Self.version else { throw .foreignVersion(version) }
        guard let node = reader.readUInt64(), let flag = reader.readUInt8(), flag <= 1, reader.isAtEnd
        else { throw .nonsense }
        self.node = node
        wantsAdvertising = flag == 1
    }
}
