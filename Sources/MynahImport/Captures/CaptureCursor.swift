import MynahSupport

/// Reads a file from its start, with integers in either byte order.
struct CaptureCursor {
    private let count: Int
    private var reader: ByteReader
    var isBigEndian = false

    init(_ bytes: [UInt8]) {
        count = bytes.count
        reader = ByteReader(bytes)
    }

    /// The number of bytes that have been read.
    var offset: Int { count - reader.remaining }
    var isAtEnd: Bool { reader.isAtEnd }

    mutating func integer<I: FixedWidthInteger & UnsignedInteger>(_: I.Type = I.self) -> I? {
        (reader.readInteger() as I?).map { isBigEndian ? $0.byteSwapped : $0 }
    }

    mutating func bytes(_ count: Int) -> [UInt8]? { reader.readBytes(count) }
}
