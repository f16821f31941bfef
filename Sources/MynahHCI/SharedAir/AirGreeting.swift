import MynahSupport

/// The first message of each side: that it speaks our language, in which version, and who it is.
struct AirGreeting: Hashable, Sendable {
    /// Why a first message is none.
    enum Trouble: Error, Hashable {
        case nonsense
        case foreignVersion(UInt16)
    }

    /// What changes with each change of what follows.
    static let version: UInt16 = 1
    private static let mark = Array("mynah air".utf8)

    var node: UInt64

    init(node: UInt64) {
        self.node = node
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 19)
        writer.write(Self.mark)
        writer.write(Self.version)
        writer.write(node)
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(Trouble) {
        var reader = ByteReader(bytes)
        guard reader.readBytes(Self.mark.count) == Self.mark, let version = reader.readUInt16() else {
            throw .nonsense
        }
        // Of another version nothing is known but its number.
        guard version == Self.version else { throw .foreignVersion(version) }
        guard let node = reader.readUInt64(), reader.isAtEnd else { throw .nonsense }
        self.node = node
    }
}
