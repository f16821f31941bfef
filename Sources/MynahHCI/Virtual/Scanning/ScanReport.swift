import MynahCore
import MynahSupport

/// A received advertisement or scan response, to be reported to the host.
struct ScanReport: Sendable {
    var advertisement: AirAdvertisement
    var identity: Identity
    /// The RSSI, in dBm.
    var rssi: Int8

    init(_ advertisement: AirAdvertisement, _ identity: Identity, rssi: Int8) {
        self.advertisement = advertisement
        self.identity = identity
        self.rssi = rssi
    }

    /// The largest number of data bytes in an LE Extended Advertising Report with one report.
    private static let longestPiece = 229

    /// Adds an LE Advertising Report (Core Specification, Vol 4, Part E, 7.7.65.2).
    func reportLegacy(isResponse: Bool, to outbox: inout ControllerOutbox) {
        var writer = ByteWriter(capacity: 12 + advertisement.data.count)
        writer.write(1 as UInt8)
        writer.write(kind(isResponse: isResponse).rawValue)
        writer.write(identity.kindCode)
        writer.write(identity.address)
        writer.write(UInt8(advertisement.data.count))
        writer.write(advertisement.data)
        writer.write(UInt8(bitPattern: rssi))
        outbox.reportLE(HCIEvent.LESubevent.advertisingReport, writer.bytes)
    }

    private func kind(isResponse: Bool) -> LEAdvertisingReport.Kind {
        let properties = advertisement.properties
        if isResponse { return .scanResponse }
        if properties.contains(.directed) { return .directed }
        if properties.contains(.connectable) { return .connectable }
        return properties.contains(.scannable) ? .scannable : .nonConnectable
    }

    /// Adds LE Extended Advertising Reports, as many as the length of the data requires (7.7.65.13).
    func reportExtended(isResponse: Bool, to outbox: inout ControllerOutbox) {
        let isLegacy = advertisement.properties.contains(.legacy)
        var rest = advertisement.data[...]
        repeat {
            let piece = rest.prefix(Self.longestPiece)
            rest = rest.dropFirst(piece.count)
            var writer = ByteWriter(capacity: 32 + piece.count)
            writer.write(1 as UInt8)
            var type = UInt16(advertisement.properties.rawValue)
            if isResponse { type |= 0x08 }
            // More data follows.
            if !rest.isEmpty { type |= 0b01 << 5 }
            writer.write(type)
            writer.write(identity.kindCode)
            writer.write(identity.address)
            writer.write(UInt8(advertisement.isPrimaryCoded ? 3 : 1))
            writer.write(isLegacy ? 0 : advertisement.secondaryPHY)
            writer.write(advertisement.identifier ?? 0xFF)
            writer.write(isLegacy ? 0x7F : UInt8(bitPattern: advertisement.power))
            writer.write(UInt8(bitPattern: rssi))
            writer.write(advertisement.sync?.interval ?? 0)
            if let target = advertisement.target {
                writer.writeWithKind(target)
            } else {
                writer.write(repeatElement(0, count: 7))
            }
            writer.write(UInt8(piece.count))
            writer.write(piece)
            outbox.reportLE(HCIEvent.LESubevent.extendedAdvertisingReport, writer.bytes)
        } while !rest.isEmpty
    }
}
