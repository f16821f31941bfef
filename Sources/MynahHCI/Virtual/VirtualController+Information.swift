import MynahCore
import MynahSupport

extension VirtualController {
    /// Bluetooth 5.2 (Assigned Numbers, 2.1), or 4.2 where it is not extended.
    private var version: UInt8 { configuration.isExtended ? 0x0B : 0x08 }
    /// Nobody's company identifier.
    private static let company: UInt16 = 0xFFFF

    var versionPDU: (version: UInt8, company: UInt16, subversion: UInt16) { (version, Self.company, 1) }

    /// What it can do (Core Specification, Vol 6, Part B, 4.6).
    var features: UInt64 {
        // Encryption, connection parameters request, extended reject, peripheral-initiated features exchange, data length.
        var bits: UInt64 = 0b10_1111
        if configuration.cipher != nil { bits |= 1 << 6 }
        // LE 2M, LE Coded, extended advertising.
        if configuration.isExtended { bits |= 1 << 8 | 1 << 11 | 1 << 12 }
        return bits
    }

    /// Which of those it tells the other side.
    var featuresForPeer: UInt64 { features & ~(1 << 6) }

    private var supportedCommands: [UInt8] {
        var mask = [UInt8](repeating: 0, count: 64)
        for row in CommandRow.all.values where row.octet < mask.count && isKnown(row) {
            mask[row.octet] |= 1 << UInt8(row.bit)
        }
        return mask
    }

    /// What belongs to no other part; nil: it is another's.
    mutating func performGeneral(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Answer? {
        var writer = ByteWriter()
        switch opcode {
        case .reset:
            reset()
        case .setEventMask:
            guard let mask = reader.readUInt64() else { return nil }
            eventMask = mask
        case .leSetEventMask:
            guard let mask = reader.readUInt64() else { return nil }
            leEventMask = mask
        case .setEventMaskPage2, .writeLEHostSupport:
            break
        case .readLocalVersionInformation:
            writer.write(version)
            writer.write(1 as UInt16)
            writer.write(version)
            writer.write(Self.company)
            writer.write(1 as UInt16)
        case .readLocalSupportedCommands: writer.write(supportedCommands)
        case .readLocalSupportedFeatures:
            // BR/EDR Not Supported, and LE Supported (Controller) (Vol 2, Part C, 3.3).
            writer.write(1 << 37 | 1 << 38 as UInt64)
        case .readBDADDR: writer.write(configuration.address)
        case .leReadBufferSize:
            writer.write(UInt16(configuration.packetLength))
            writer.write(UInt8(configuration.packetCount))
        case .leReadLocalSupportedFeatures: writer.write(features)
        case .leSetRandomAddress: return setRandomAddress(&reader)
        case .leReadAdvertisingChannelTxPower: writer.write(0 as UInt8)
        case .leReadTransmitPower:
            writer.write(UInt8(bitPattern: -20))
            writer.write(8 as UInt8)
        case .leReadFilterAcceptListSize, .leReadResolvingListSize:
            writer.write(UInt8(configuration.listLength))
        case .leReadSupportedStates:
            // Whatever has a number, at once with whatever else (Vol 6, Part B, 1.1.1).
            writer.write(0x0000_03FF_FFFF_FFFF as UInt64)
        case .leRand: writer.write(random.next())
        case .leEncrypt: return encrypt(&reader)
        case .leReadSuggestedDefaultDataLength:
            writer.write(suggestedOctets)
            writer.write(suggestedTime)
        case .leWriteSuggestedDefaultDataLength:
            guard let octets = reader.readUInt16(), let time = reader.readUInt16(),
                (27...251).contains(octets), (328...17040).contains(time)
            else { return .now(.invalidCommandParameters) }
            (suggestedOctets, suggestedTime) = (octets, time)
        case .leReadMaximumDataLength:
            for value in [251, 17040, 251, 17040] as [UInt16] { writer.write(value) }
        case .leSetDefaultPHY:
            guard let all = reader.readUInt8(), let sending = reader.readUInt8(),
                let receiving = reader.readUInt8(), let phys = phys(all, sending, receiving)
            else { return .now(.invalidCommandParameters) }
            defaultPHYs = phys
        case .leSetHostChannelClassification: break
        case .leReadMaximumAdvertisingDataLength: writer.write(UInt16(AirPDU.longestData))
        case .leReadNumberOfSupportedAdvertisingSets: writer.write(UInt8(configuration.setCount))
        default: return nil
        }
        return .now(.success, writer.bytes)
    }

    /// What a host would take, where a bit says that it does not care; nil: something that cannot be (7.8.48).
    func phys(_ all: UInt8, _ sending: UInt8, _ receiving: UInt8) -> (sending: UInt8, receiving: UInt8)? {
        let sending = all & 1 != 0 ? 7 : sending
        let receiving = all & 2 != 0 ? 7 : receiving
        guard (1...7).contains(sending), (1...7).contains(receiving) else { return nil }
        return (sending, receiving)
    }

    private mutating func reset() {
        // Links end without a word, as when the controller lost its power; the others notice by themselves.
        var fresh = VirtualController(configuration, seed: 0)
        fresh.random = random
        fresh.outputs = outputs
        fresh.now = now
        self = fresh
    }

    private mutating func setRandomAddress(_ reader: inout ByteReader) -> Answer {
        guard let address = reader.readAddress(kind: 1) else { return .now(.invalidCommandParameters) }
        let isInUse =
            scan.isOn || initiation != nil || (style != .extended && sets.values.contains { $0.isOn })
        guard !isInUse else { return .disallowed }
        randomAddress = address
        return .done
    }

    private func encrypt(_ reader: inout ByteReader) -> Answer {
        // Here the lowest byte comes first, and FIPS 197 begins with the highest.
        guard let cipher = configuration.cipher, let key = reader.readBytes(16),
            let block = reader.readBytes(16),
            let found = cipher(key.reversed(), block.reversed()), found.count == 16
        else { return .now(.invalidCommandParameters) }
        return .now(.success, found.reversed())
    }
}
