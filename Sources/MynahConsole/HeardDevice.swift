package import MynahCore
package import MynahEmulator
import MynahProfiles
package import MynahRun
package import MynahSupport

/// A device from which advertising was received.
package struct HeardDevice: Sendable {
    package let address: DeviceAddress
    package private(set) var advertisement = AdvertisementData()
    /// The last advertising data; empty if none was received.
    package private(set) var data: [UInt8] = []
    package private(set) var scanResponse: [UInt8] = []
    package private(set) var rssi: Int8?
    package private(set) var isConnectable = false
    /// The table's row that shows the device, or `nil` if no advertising report was received.
    package private(set) var periodicData: [UInt8]?
    /// The row of a table that shows it, or `nil` if no report was received.
    var row: ScanModel.Row? { report.map { ScanModel.Row($0) } }
    /// The last advertising report, or `nil` if none was received.
    private var report: ScanReport?
    package var isExtended: Bool { report?.isExtended ?? false }
    package private(set) var lastHeard = WallTime(microseconds: 0)
    /// The number of received advertising events, without scan responses.
    package private(set) var count = 0
    /// The times between the last advertising events, in microseconds.
    private var gaps: [Int64] = []
    private var lastEvent: WallTime?

    /// The advertised content of a device, for finding changes.
    private struct Content: Hashable {
        var data: [UInt8]
        var scanResponse: [UInt8]
        var isConnectable: Bool
    }

    /// The last contents that were reported as new.
    ///
    /// Several are stored, because a device may have several advertising sets, and some beacons change their
    /// data all the time.
    private var told: [Content] = []

    private static let gapLimit = 33
    private static let toldLimit = 16

    package init(_ address: DeviceAddress) {
        self.address = address
    }

    /// Whether this device comes before `other`, in the order of addresses and then of advertising sets.
    func isBefore(_ other: HeardDevice) -> Bool {
        guard address == other.address else { return address.isBefore(other.address) }
        return report?.set ?? 0 < other.report?.set ?? 0
    }

    /// Adds a sighting; returns whether its content is new.
    package mutating func note(_ sighting: Sighting, at time: WallTime) -> Bool {
        let report = sighting.report
        guard !report.isPeriodic else { return notePeriodic(report, at: time) }
        let isNews = isNews(sighting)
        data = sighting.data
        scanResponse = sighting.scanResponse
        if report.kind != .scanResponse {
            count += 1
            if let lastEvent {
                gaps.append(max(0, time.microseconds - lastEvent.microseconds))
                if gaps.count > Self.gapLimit { gaps.removeFirst() }
            }
            lastEvent = time
        }
        advertisement = sighting.advertisement
        isConnectable = sighting.isConnectable
        self.report = report
        rssi = report.rssi ?? rssi
        lastHeard = time
        return isNews
    }

    private mutating func notePeriodic(_ report: ScanReport, at time: WallTime) -> Bool {
        defer { periodicData = report.data }
        lastHeard = time
        return periodicData != report.data
    }

    private mutating func isNews(_ sighting: Sighting) -> Bool {
        let isResponse = sighting.report.kind == .scanResponse
        if told.isEmpty, isResponse, sighting.scanResponse.isEmpty { return false }
        var content = Content(
            data: sighting.data, scanResponse: sighting.scanResponse, isConnectable: sighting.isConnectable)
        // An empty scan response is not a change. Bumble's controller repeats the advertising data as a scan
        // response.
        if content.scanResponse.isEmpty || content.scanResponse == content.data {
            content.scanResponse =
                told.last { $0.data == content.data }?.scanResponse ?? told.last?.scanResponse ?? []
        }
        guard !told.contains(content) else { return false }
        told.append(content)
        if told.count > Self.toldLimit { told.removeFirst() }
        return true
    }

    /// The advertising interval in milliseconds, or `nil` if too few events were received.
    ///
    /// The value is the median of the times between events, so that missed events have no effect. The average
    /// random delay of 5 ms is subtracted.
    package var interval: Double? {
        guard gaps.count >= 4 else { return nil }
        let middle = gaps.sorted()[gaps.count / 2]
        return Double(max(0, middle - 5000) / 100) / 10
    }

    /// The advertised name, safe for a terminal, or `nil` if there is none.
    package var name: String? { advertisement.localName.map { PrintableText.of($0) } }

    // MARK: JSON

    package var members: [JSON.Member] {
        var members: [JSON.Member] = [
            .init("address", .string(address.description)),
            .init("addressType", .string(address.kind.rawValue)),
        ]
        if let name = advertisement.localName { members.append(.init("name", .string(name))) }
        if let rssi { members.append(.init("rssi", .integer(Int(rssi)))) }
        members.append(.init("connectable", .bool(isConnectable)))
        if let report, report.isExtended {
            members.append(.init("extended", .bool(true)))
            if let set = report.set { members.append(.init("set", .integer(Int(set)))) }
            if let phy = report.primaryPHY { members.append(.init("primaryPHY", .string(phy.word))) }
            if let interval = report.periodicInterval {
                members.append(.init("periodicIntervalMilliseconds", .number(interval / .milliseconds(1))))
            }
            if let phy = report.secondaryPHY { members.append(.init("secondaryPHY", .string(phy.word))) }
        }
        members.append(.init("services", .array(advertisement.serviceUUIDs.map { .string($0.description) })))
        members += content
        members.append(.init("data", .string(Hex.encode(data))))
        if !scanResponse.isEmpty { members.append(.init("scanResponse", .string(Hex.encode(scanResponse)))) }
        if let periodicData { members.append(.init("periodicData", .string(Hex.encode(periodicData)))) }
        if let interval { members.append(.init("intervalMilliseconds", .number(interval))) }
        return members
    }

    /// The JSON members for fields that only some devices advertise.
    private var content: [JSON.Member] {
        var members: [JSON.Member] = []
        if !advertisement.solicitedServiceUUIDs.isEmpty {
            members.append(
                .init(
                    "solicitedServices",
                    .array(advertisement.solicitedServiceUUIDs.map { .string($0.description) })))
        }
        if !advertisement.manufacturerData.isEmpty {
            members.append(
                .init(
                    "manufacturerData",
                    .array(
                        advertisement.manufacturerData.map {
                            .object([
                                .init("company", .integer(Int($0.company))),
                                .init("data", .string(Hex.encode($0.data))),
                            ])
                        })))
        }
        if !advertisement.serviceData.isEmpty {
            members.append(
                .init(
                    "serviceData",
                    .array(
                        advertisement.serviceData.map {
                            .object([
                                .init("uuid", .string($0.uuid.description)),
                                .init("data", .string(Hex.encode($0.data))),
                            ])
                        })))
        }
        if let flags = advertisement.flags { members.append(.init("flags", .integer(Int(flags)))) }
        if let power = advertisement.txPower { members.append(.init("txPower", .integer(Int(power)))) }
        if let appearance = advertisement.appearance {
            members.append(.init("appearance", .integer(Int(appearance))))
        }
        if let area = advertisement.overflowArea {
            members.append(.init("overflowArea", .string(Hex.encode(area.mask))))
        }
        return members
    }

    // MARK: Text

    /// All advertising data except the name, in words.
    ///
    /// `known` are the services that can be recognized in an overflow area.
    package func description(among known: [BluetoothUUID]) -> String {
        AirWords.joined(
            AirWords.of(advertisement, among: known, naming: false)
                + (isConnectable ? [] : ["not connectable"]) + (extendedWords.map { [$0] } ?? [])
                + periodicWords(among: known))
    }

    /// The periodic advertising data, in words.
    private func periodicWords(among known: [BluetoothUUID]) -> [String] {
        guard let periodicData else { return [] }
        let words = AirWords.of(AdvertisementData(periodicData), among: known, naming: true)
        return ["periodic: " + (words.isEmpty ? Hex.encode(periodicData) : AirWords.joined(words))]
    }

    /// The advertising set, the PHY and the periodic interval of extended advertising, in words.
    private var extendedWords: String? {
        guard let report, report.isExtended else { return nil }
        let set = report.set.map { "set \($0)" }
        let phy = report.secondaryPHY.map { "LE \($0.word)" }
        let periodic = report.periodicInterval.map { "periodic \($0.text)" }
        return (["extended"] + [set, phy, periodic].compactMap { $0 }).joined(separator: " ")
    }
}
