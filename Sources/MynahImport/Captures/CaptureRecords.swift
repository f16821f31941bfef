import MynahCore
import MynahHCI
import MynahSupport

/// Reads the records of a capture, passes their packets on, and counts unusable records.
struct CaptureRecords {
    /// The encoding of the packet in a record.
    enum Encoding: Hashable, Sendable {
        /// An H4 packet, whose direction is in the record or is derived from the packet.
        case h4
        /// The direction in four bytes, followed by an H4 packet.
        case h4WithDirection
        /// A packet without its type, which is in the header of the record.
        case bare
        /// The adapter, the opcode of Linux's Bluetooth monitor, and a packet without its type.
        case linuxMonitor
        /// A packet from the air, below HCI.
        case air(AirPacket.Format)
    }

    /// The most bytes of a record: four times the longest HCI packet.
    static let longestRecord = 0x4_0000

    private let receive: (CapturedPacket) -> Void
    private(set) var packetCount = 0
    /// The translator of packets from the air, or `nil` to only count them.
    private var air: AirTranslator?
    private var airCount = 0
    private var shortenedCount = 0
    private var unknownCount = 0
    /// The link types in the file that are not Bluetooth's.
    private var otherLinkTypes: Set<UInt32> = []
    /// The offset of an incomplete record at the end of the file, or `nil` if there is none.
    private var cut: Int?
    /// The direction of each link's data, for captures that do not record it.
    private var directions: [UInt32: Bool] = [:]

    /// Makes a reader of HCI records, or of a sniffer's records if there is a translator.
    init(_ air: AirTranslator? = nil, _ receive: @escaping (CapturedPacket) -> Void) {
        self.air = air
        self.receive = receive
    }

    /// The number of encrypted packets from the air that could not be decrypted, by peripheral.
    var unreadable: [DeviceAddress?: Int] { air?.unreadable ?? [:] }

    /// Whether the capture has only packets from the air, which were not translated.
    var hasOnlyAir: Bool { packetCount == 0 && airCount > 0 && air == nil }

    /// Returns the encoding for a pcap link type (https://www.tcpdump.org/linktypes.html).
    ///
    /// Returns `nil` if the link type is not Bluetooth's.
    static func encoding(ofLinkType type: UInt32) -> Encoding? {
        switch type {
        case 187: .h4
        case 201: .h4WithDirection
        case 251: .air(.bare)
        case 254: .linuxMonitor
        case 256: .air(.withPseudoHeader)
        case 272: .air(.nordic)
        default: nil
        }
    }

    /// Returns the length of a record; throws an error if it is longer than any packet.
    static func length(_ length: UInt32, at offset: Int) throws(ImportProblem) -> Int {
        guard length <= longestRecord else {
            throw ImportProblem(
                """
                a packet says that it has \(length) bytes, and no HCI packet has over 65540; the file is \
                damaged: record or copy it again
                """, at: offset)
        }
        return Int(length)
    }

    // MARK: Records

    /// Adds a record of one interface; `isFromController` is `nil` if the format does not record the
    /// direction.
    mutating func add(
        _ bytes: [UInt8], _ encoding: Encoding, source: Int = 0, time: Int64, isFromController: Bool? = nil,
        isShortened: Bool = false
    ) {
        if isShortened { return shortenedCount += 1 }
        switch encoding {
        case .h4: takeH4(bytes[...], source, time, isFromController)
        case .h4WithDirection:
            guard bytes.count > 4 else { return unknownCount += 1 }
            takeH4(bytes[4...], source, time, bytes[3] & 1 == 1)
        case .linuxMonitor:
            guard bytes.count >= 4 else { return unknownCount += 1 }
            let adapter = Int(bytes[0]) << 8 | Int(bytes[1])
            takeMonitor(
                Array(bytes[4...]), opcode: UInt16(bytes[2]) << 8 | UInt16(bytes[3]),
                source: source << 16 | adapter, time: time)
        case .air(let format): takeAir(bytes, format, source, time)
        case .bare: unknownCount += 1
        }
    }

    /// Adds a packet whose type is not in its bytes.
    mutating func add(
        _ body: [UInt8], as type: H4PacketType, source: Int = 0, time: Int64, isFromController: Bool
    ) {
        packetCount += 1
        receive(
            CapturedPacket(
                source: source, time: time, isFromController: isFromController, packet: H4Packet(type, body)))
    }

    /// Adds a record of Linux's Bluetooth monitor (BlueZ, doc/btsnoop.txt).
    mutating func takeMonitor(_ body: [UInt8], opcode: UInt16, source: Int, time: Int64) {
        switch opcode {
        case 2: add(body, as: .command, source: source, time: time, isFromController: false)
        case 3: add(body, as: .event, source: source, time: time, isFromController: true)
        case 4: add(body, as: .aclData, source: source, time: time, isFromController: false)
        case 5: add(body, as: .aclData, source: source, time: time, isFromController: true)
        // Changes of adapters, audio, and kernel messages are skipped.
        default: break
        }
    }

    private mutating func takeAir(
        _ bytes: [UInt8], _ format: AirPacket.Format, _ source: Int, _ time: Int64
    ) {
        airCount += 1
        // All other records are damaged, or are messages of the sniffer.
        guard let packet = AirPacket(bytes, format) else { return }
        guard let packets = air?.take(packet, source: source, time: time) else { return }
        packetCount += 1
        for packet in packets { receive(packet) }
    }

    mutating func takeAnother(linkType: UInt32) { otherLinkTypes.insert(linkType) }

    /// Records that the file ends within the record at this offset.
    mutating func endEarly(at offset: Int) { cut = offset }

    private mutating func takeH4(
        _ bytes: ArraySlice<UInt8>, _ source: Int, _ time: Int64, _ isFromController: Bool?
    ) {
        guard let first = bytes.first, let type = H4PacketType(rawValue: first) else {
            return unknownCount += 1
        }
        let body = Array(bytes.dropFirst())
        let direction = isFromController ?? self.direction(of: type, body, source)
        add(body, as: type, source: source, time: time, isFromController: direction)
    }

    /// Returns whether the controller sent a packet, according to its type and content.
    ///
    /// A host begins a PDU with the boundary flag 00, and a controller with 10 (Core Specification, Vol 4,
    /// Part E, 5.4.2). Continuing packets have the direction of the first packet.
    private mutating func direction(of type: H4PacketType, _ body: [UInt8], _ source: Int) -> Bool {
        guard type == .aclData else { return type == .event }
        guard let (handle, boundary, _) = ACLPacket.parts(of: body) else { return false }
        let key = UInt32(truncatingIfNeeded: source) << 16 | UInt32(handle.rawValue)
        switch boundary {
        case .first: directions[key] = false
        case .firstFlushable, .complete: directions[key] = true
        case .continuing: break
        }
        return directions[key] ?? false
    }

    // MARK: The end

    /// Returns the warnings for the user; throws an error if there was nothing to import.
    func end() throws(ImportProblem) -> [String] {
        guard packetCount > 0 else { throw nothing }
        var warnings: [String] = []
        if let cut {
            warnings.append(
                "the file ends within the packet at byte \(cut); what comes before it is imported")
        }
        if shortenedCount > 0 {
            warnings.append(
                """
                \(shortenedCount.counting("packet")) recorded in part \
                \(shortenedCount == 1 ? "is" : "are") left out; on Android, set the \
                Bluetooth HCI snoop log to Enabled, not Filtered
                """)
        }
        if unknownCount > 0 {
            warnings.append(
                unknownCount.counting(
                    "packet is no HCI packet and is", "packets are not HCI packets and are") + " left out")
        }
        return warnings
    }

    private var nothing: ImportProblem {
        let remedy =
            """
            record HCI: Android's Bluetooth HCI snoop log, Apple's PacketLogger, btmon -w, or mynah with \
            --capture
            """
        if let cut {
            return ImportProblem("the file ends within its first packet; copy it again", at: cut)
        }
        if shortenedCount > 0 {
            return ImportProblem(
                """
                every packet was recorded in part; on Android, set the Bluetooth HCI snoop log to \
                Enabled, not Filtered, and record again
                """)
        }
        if airCount > 0 {
            return ImportProblem(
                "every packet that the sniffer heard is damaged; record again, nearer to the device")
        }
        if let type = otherLinkTypes.min() {
            return ImportProblem("it has no Bluetooth HCI packets (link type \(type)); \(remedy)")
        }
        return ImportProblem("it has no packets; \(remedy)")
    }
}
