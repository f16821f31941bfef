import MynahHCI
import MynahSupport

/// Reads files of Apple's PacketLogger.
///
/// Each record has a length, a time in seconds and microseconds, a type, and a packet without its type.
enum PacketLoggerReader {
    private static let headerLength = 9
    private static let knownTypes: Set<UInt8> = [
        0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE,
        0xFF,
    ]

    /// Returns whether the byte order is big-endian, or `nil` if the file is not in PacketLogger's format.
    ///
    /// The format has no magic number, so the first record is examined.
    static func isBigEndian(_ bytes: [UInt8]) -> Bool? {
        for isBigEndian in [true, false] {
            var cursor = CaptureCursor(bytes)
            cursor.isBigEndian = isBigEndian
            guard let length: UInt32 = cursor.integer(), cursor.bytes(4) != nil,
                let microseconds: UInt32 = cursor.integer(), let type = cursor.bytes(1)?.first
            else { return nil }
            if (headerLength...0xFFFF).contains(Int(length)), microseconds < 1_000_000,
                knownTypes.contains(type)
            {
                return isBigEndian
            }
        }
        return nil
    }

    static func read(
        _ bytes: [UInt8], isBigEndian: Bool, into records: inout CaptureRecords
    ) throws(ImportProblem) {
        var cursor = CaptureCursor(bytes)
        cursor.isBigEndian = isBigEndian
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let length: UInt32 = cursor.integer() else { return records.endEarly(at: start) }
            let count = try CaptureRecords.length(length, at: start)
            guard count >= headerLength else {
                throw ImportProblem(
                    """
                    a record says that it has \(count.counting("byte")), and each has at least 9; the file \
                    is damaged: record or copy it again
                    """, at: start)
            }
            guard let seconds: UInt32 = cursor.integer(), let microseconds: UInt32 = cursor.integer(),
                let type = cursor.bytes(1)?.first, let body = cursor.bytes(count - headerLength)
            else { return records.endEarly(at: start) }
            let time = Int64(seconds) * 1_000_000 + Int64(microseconds)
            switch type {
            case 0x00: records.add(body, as: .command, time: time, isFromController: false)
            case 0x01: records.add(body, as: .event, time: time, isFromController: true)
            case 0x02: records.add(body, as: .aclData, time: time, isFromController: false)
            case 0x03: records.add(body, as: .aclData, time: time, isFromController: true)
            // Audio, and messages of PacketLogger itself, are skipped.
            default: break
            }
        }
    }
}
