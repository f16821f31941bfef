import MynahCore
import MynahHCI
import MynahSupport

/// Reads the records of a capture, passes on their packets, and counts the ones that it cannot use.
struct CaptureRecords {
    /// How the bytes of a record make a packet.
    enum Encoding: Hashable, Sendable {
        /// H4, with the direction from the record, or from the packet if the record has none.
        case h4
        /// The direction as four bytes, and H4.
        case h4WithDirection
        /// A packet without its type, which the record has.
        case bare
        /// The adapter, the opcode of Linux's Bluetooth monitor, and a packet without its type.
        case linuxMonitor
        /// Packets of the air, below HCI.
        case air(AirPacket.Format)
    }

    /// No packet is longer: four times the longest of HCI.
    static let longestRecord = 0x4_0000

    private let receive: (CapturedPacket) -> Void
    private(set) var packetCount = 0
    /// Translates packets of the air; `nil` if they are only counted.
    private var air: AirTranslator?
    private var airCount = 0
    private var shortenedCount = 0
    private var unknownCount = 0
    /// The link types that do not belong to Bluetooth.
    private var otherLinkTypes: Set<UInt32> = []
    /// The position at which the last record is cut off, or `nil` if it is complete.
    private var cut: Int?
    /// The direction of the data of each link, for captures that do not record it.
    private var directions: [UInt32: Bool] = [:]

    /// Records of HCI, or with an `air` those of a sniffer.
    init(_ air: AirTranslator? = nil, _ receive: @escaping (CapturedPacket) -> Void) {
        self.air = air
        self.receive = receive
    }

    /// How many encrypted packets of the air had no key, by peripheral.
    var unreadable: [DeviceAddress?: Int] { air?.unreadable ?? [:] }

    /// Whether there were only packets of the air, which were not translated.
    var hasOnlyAir: Bool { packetCount == 0 && airCount > 0 && air == nil }

    /// The encoding of a link type of pcap (https://www.tcpdump.org/linktypes.html); `nil` if it is another
    /// medium.
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

    /// The length of a record; throws if no packet has it.
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

    /// A record of one interface; `isFromController` is `nil` if the format does not say.
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

    /// A packet whose type is not in its bytes.
    mutating func add(
        _ body: [UInt8], as type: H4PacketType, source: Int = 0, time: Int64, isFromController: Bool
    ) {
        packetCount += 1
        receive(
            CapturedPacket(
                source: source, time: time, isFromController: isFromController, packet: H4Packet(type, body)))
    }

    /// A record of Linux's Bluetooth monitor (BlueZ, doc/btsnoop.txt).
    mutating func takeMonitor(_ body: [UInt8], opcode: UInt16, source: Int, time: Int64) {
        switch opcode {
        case 2: add(body, as: .command, source: source, time: time, isFromController: false)
        case 3: add(body, as: .event, source: source, time: time, isFromController: true)
        case 4: add(body, as: .aclData, source: source, time: time, isFromController: false)
        case 5: add(body, as: .aclData, source: source, time: time, isFromController: true)
        // Adapters that come and go, audio, and messages of the kernel.
        default: break
        }
    }

    private mutating func takeAir(
        _ bytes: [UInt8], _ format: AirPacket.Format, _ source: Int, _ time: Int64
    ) {
        airCount += 1
        // Others are damaged, or messages of the sniffer.
        guard let packet = AirPacket(bytes, format) else { return }
        guard let packets = air?.take(packet, source: source, time: time) else { return }
        packetCount += 1
        for packet in packets { receive(packet) }
    }

    mutating func takeAnother(linkType: UInt32) { otherLinkTypes.insert(linkType) }

    /// The file ends within the record that begins here.
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

    /// The direction of a packet, by its type and content.
    ///
    /// A host begins a PDU with boundary 00 and a controller with 10 (Core Specification, Vol 4, Part E,
    /// 5.4.2); continuing packets go the same way.
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

    /// The warnings for the user; throws if there was nothing to import.
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
