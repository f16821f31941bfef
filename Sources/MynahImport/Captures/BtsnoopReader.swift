import MynahHCI

/// Reads btsnoop files as Android and btmon write them (RFC 1761 with Bluetooth's data links; BlueZ,
/// doc/btsnoop.txt).
enum BtsnoopReader {
    /// The microseconds from the year 0 to the year 1970.
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    static func read(_ bytes: [UInt8], into records: inout CaptureRecords) throws(ImportProblem) {
        var cursor = CaptureCursor(bytes)
        cursor.isBigEndian = true
        guard let magic = cursor.bytes(8), magic == Array("btsnoop\0".utf8) else {
            throw ImportProblem("a btsnoop file begins with \"btsnoop\" and a zero; copy it again", at: 0)
        }
        guard let version: UInt32 = cursor.integer(), let link: UInt32 = cursor.integer() else {
            throw ImportProblem("the file ends within the header of btsnoop; copy it again", at: 8)
        }
        guard version == 1 else {
            throw ImportProblem("version \(version) of btsnoop is not known, only version 1", at: 8)
        }
        guard [1001, 1002, 2001].contains(link) else {
            throw ImportProblem(
                """
                data link \(link) of btsnoop is not imported; known are 1001 (HCI), 1002 (H4) and 2001 \
                (btmon)
                """, at: 12)
        }
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let original: UInt32 = cursor.integer(), let included: UInt32 = cursor.integer(),
                let flags: UInt32 = cursor.integer(), cursor.bytes(4) != nil,
                let time: UInt64 = cursor.integer()
            else { return records.endEarly(at: start) }
            let length = try CaptureRecords.length(included, at: start + 4)
            guard let body = cursor.bytes(length) else { return records.endEarly(at: start) }
            let moment = Int64(bitPattern: time) &- epoch
            let isShortened = original > included
            switch link {
            case 2001 where !isShortened:
                records.takeMonitor(
                    body, opcode: UInt16(truncatingIfNeeded: flags), source: Int(flags >> 16), time: moment)
            case 1001 where !isShortened:
                let isFromController = flags & 1 == 1
                let type: H4PacketType =
                    flags & 2 == 0 ? .aclData : isFromController ? .event : .command
                records.add(body, as: type, time: moment, isFromController: isFromController)
            default:
                records.add(
                    body, .h4, time: moment, isFromController: flags & 1 == 1, isShortened: isShortened)
            }
        }
    }
}
