import MynahCore

/// Reads captures of HCI packets or of packets on the air.
///
/// The formats are btsnoop, pcap, pcapng and PacketLogger.
package enum CaptureReader {
    /// The problems that were found in a capture.
    package struct Outcome: Sendable {
        /// Warnings for the user, each a sentence without its full stop.
        package var warnings: [String] = []
        /// The number of encrypted packets that could not be decrypted, by peripheral.
        ///
        /// The key is `nil` for a connection that began before the capture.
        var unreadable: [DeviceAddress?: Int] = [:]
    }

    /// Calls `receive` for each packet, in the order of the file.
    ///
    /// If a capture has only packets of the air, they are translated to those that the central's controller
    /// would have sent to its host. `keys` decrypt encrypted links.
    ///
    /// Throws an error if the file has none of these formats, is damaged, or has no packets. No memory is
    /// reserved for a declared length before the bytes are read.
    @discardableResult
    package static func read(
        _ bytes: [UInt8], keys: LongTermKeys = LongTermKeys(), receive: @escaping (CapturedPacket) -> Void
    ) throws(ImportProblem) -> Outcome {
        var records = CaptureRecords(nil, receive)
        try read(bytes, into: &records)
        // A capture of both HCI and the air contains each of the host's packets twice.
        if records.hasOnlyAir {
            records = CaptureRecords(AirTranslator(keys), receive)
            try read(bytes, into: &records)
        }
        return Outcome(warnings: try records.end(), unreadable: records.unreadable)
    }

    private static func read(
        _ bytes: [UInt8], into records: inout CaptureRecords
    ) throws(ImportProblem) {
        switch bytes.prefix(4) {
        case [0x62, 0x74, 0x73, 0x6E]: try BtsnoopReader.read(bytes, into: &records)
        case [0x0A, 0x0D, 0x0D, 0x0A]: try PcapngReader.read(bytes, into: &records)
        case [0xA1, 0xB2, 0xC3, 0xD4], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
            [0x4D, 0x3C, 0xB2, 0xA1]:
            try PcapReader.read(bytes, into: &records)
        default:
            guard let order = PacketLoggerReader.isBigEndian(bytes) else { throw unknown(bytes) }
            try PacketLoggerReader.read(bytes, isBigEndian: order, into: &records)
        }
    }

    private static func unknown(_ bytes: [UInt8]) -> ImportProblem {
        if bytes.isEmpty { return ImportProblem("the file is empty; record or copy it again") }
        if bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            return ImportProblem(
                """
                the file is compressed; unpack it first. In an Android bug report, the log is \
                FS/data/misc/bluetooth/logs/btsnoop_hci.log
                """, at: 0)
        }
        return ImportProblem(
            """
            this is no capture; known are btsnoop, pcap, pcapng, PacketLogger's .pklg, and the XML of a \
            server of nRF Connect
            """, at: 0)
    }
}
