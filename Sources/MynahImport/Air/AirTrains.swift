import MynahCore
import MynahHCI
import MynahSupport

/// Follows the periodic advertising trains that a sniffer heard (Core Specification, Vol 6, Part B,
/// 4.4.2.12).
struct AirTrains {
    /// The SyncInfo field, with which a scanner finds a train (2.3.4.6).
    struct SyncInfo: Hashable {
        /// The interval, in units of 1.25 ms.
        var interval: UInt16
        var accessAddress: UInt32

        /// Parses the field, or returns `nil` if its end is missing.
        init?(_ reader: inout ByteReader) {
            // The offset, and then the channel map and the clock accuracy, are not needed.
            guard reader.readBytes(2) != nil, let interval = reader.readUInt16(), reader.readBytes(5) != nil,
                let access = reader.readUInt32(), reader.readBytes(5) != nil
            else { return nil }
            (self.interval, accessAddress) = (interval, access)
        }
    }

    private struct Train {
        var handle: UInt16
        /// The interval, in microseconds.
        var interval: Int64
        /// The time at which an event began whose data is not complete, or `nil` if there is none.
        var began: Int64?
    }

    private var trains: [AirTranslator.Access: Train] = [:]
    private var nextHandle: UInt16 = 0

    /// The maximum number of trains that are followed; only a forged capture has more.
    private static let limit = 1000
    /// The Sync_Handle of events whose train is not known; a controller has no such handle.
    private static let unknown: UInt16 = 0x0FFF
    /// The longest data in one LE Periodic Advertising Report, in bytes (Vol 4, Part E, 7.7.65.15).
    private static let longestData = 247

    /// Whether packets with this access address are events of a train.
    func contains(_ access: AirTranslator.Access) -> Bool { trains[access] != nil }

    /// Adds a train that an advertisement announced; returns the event of a controller that synchronizes to
    /// it, or `nil` if the train is known.
    mutating func add(
        _ info: SyncInfo, of address: DeviceAddress, _ identifier: UInt8, _ phy: AdvertisingPHY, source: Int
    ) -> HCIEvent? {
        let access = AirTranslator.Access(source: source, accessAddress: info.accessAddress)
        guard trains[access] == nil else { return nil }
        if trains.count >= Self.limit { trains = [:] }
        let handle = nextHandle
        // The highest handle is 0x0EFF.
        nextHandle = (nextHandle + 1) % 0x0F00
        trains[access] = Train(handle: handle, interval: Int64(info.interval) * 1250)
        var writer = ByteWriter()
        writer.write([HCIEvent.LESubevent.periodicSyncEstablished, 0])
        writer.write(handle)
        writer.write([identifier, address.kindCode])
        writer.write(address)
        writer.write(phy.rawValue)
        writer.write(info.interval)
        writer.write(0 as UInt8)
        return HCIEvent(HCIEvent.leMeta, writer.bytes)
    }

    /// Returns the reports of a controller that receives AUX_SYNC_IND or AUX_CHAIN_IND (2.3.3.5 and 2.3.3.6).
    ///
    /// The two have the same format. A PDU continues an event if it is nearer to its beginning than the next
    /// event can be.
    mutating func take(_ packet: AirPacket, source: Int, at time: Int64) -> [HCIEvent] {
        var reader = ByteReader(Array(packet.pdu[2...]))
        guard packet.pdu[0] & 0x0F == 7, let first = reader.readUInt8(),
            let header = reader.readBytes(Int(first & 0x3F))
        else { return [] }
        let hasMore = header.first.map { $0 & 0x10 != 0 } ?? false
        let data = reader.readRest()
        let access = AirTranslator.Access(source: source, accessAddress: packet.accessAddress)
        guard var train = trains[access] else {
            return [Self.report(Self.unknown, .complete, [])]
        }
        var events: [HCIEvent] = []
        if let began = train.began, time &- began > train.interval * 3 / 4 {
            events.append(Self.report(train.handle, .truncated, []))
            train.began = nil
        }
        train.began = hasMore ? train.began ?? time : nil
        trains[access] = train
        var rest = data[...]
        repeat {
            let piece = rest.prefix(Self.longestData)
            rest = rest.dropFirst(piece.count)
            events.append(Self.report(train.handle, hasMore || !rest.isEmpty ? .more : .complete, piece))
        } while !rest.isEmpty
        return events
    }

    private static func report(
        _ handle: UInt16, _ progress: LEAdvertisingReport.Progress, _ data: ArraySlice<UInt8>
    ) -> HCIEvent {
        var writer = ByteWriter()
        writer.write(HCIEvent.LESubevent.periodicReport)
        writer.write(handle)
        // The power and the RSSI are not known, and there is no Constant Tone Extension.
        writer.write([0x7F, 0x7F, 0xFF, progress.rawValue, UInt8(data.count)])
        writer.write(data)
        return HCIEvent(HCIEvent.leMeta, writer.bytes)
    }
}
