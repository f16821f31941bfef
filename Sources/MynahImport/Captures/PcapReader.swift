/// Reads pcap files (IETF draft-ietf-opsawg-pcap).
enum PcapReader {
    static func read(_ bytes: [UInt8], into records: inout CaptureRecords) throws(ImportProblem) {
        var cursor = CaptureCursor(bytes)
        let magic: UInt32? = cursor.integer()
        let swapped = magic.map(\.byteSwapped)
        cursor.isBigEndian = swapped == 0xA1B2_C3D4 || swapped == 0xA1B2_3C4D
        let isNano = magic == 0xA1B2_3C4D || swapped == 0xA1B2_3C4D
        guard cursor.bytes(16) != nil, let network: UInt32 = cursor.integer() else {
            throw ImportProblem("the file ends within the header of pcap; copy it again", at: 4)
        }
        // The upper bits describe frame check sequences.
        let link = network & 0xFFFF
        guard let encoding = CaptureRecords.encoding(ofLinkType: link) else {
            return records.takeAnother(linkType: link)
        }
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let seconds: UInt32 = cursor.integer(), let fraction: UInt32 = cursor.integer(),
                let included: UInt32 = cursor.integer(), let original: UInt32 = cursor.integer()
            else { return records.endEarly(at: start) }
            let length = try CaptureRecords.length(included, at: start + 8)
            guard let body = cursor.bytes(length) else { return records.endEarly(at: start) }
            records.add(
                body, encoding,
                time: Int64(seconds) * 1_000_000 + Int64(fraction) / (isNano ? 1000 : 1),
                isShortened: original > included)
        }
    }
}
