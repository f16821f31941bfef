package import MynahCore
package import MynahEmulator
package import MynahSupport

/// What is known of a device from its advertising.
package struct HeardDevice: Sendable {
    package let address: DeviceAddress
    package private(set) var advertisement = AdvertisementData()
    /// Its advertising data as it was heard last; empty if it was not.
    package private(set) var data: [UInt8] = []
    package private(set) var scanResponse: [UInt8] = []
    package private(set) var rssi: Int8?
    package private(set) var isConnectable = false
    package private(set) var isExtended = false
    package private(set) var lastHeard = WallTime(microseconds: 0)
    /// How many advertising events were heard, scan responses not counted.
    package private(set) var count = 0
    /// The times between the last events, in microseconds.
    private var gaps: [Int64] = []
    private var lastEvent: WallTime?

    /// What a device says.
    private struct Content: Hashable {
        var data: [UInt8]
        var scanResponse: [UInt8]
        var isConnectable: Bool
    }

    /// As it was last reported as news; `nil` if it never was.
    private var told: Content?

    private static let gapLimit = 33

    package init(_ address: DeviceAddress) {
        self.address = address
    }

    /// Takes what was heard, and returns whether it is news.
    package mutating func take(_ sighting: Sighting, at time: WallTime) -> Bool {
        let report = sighting.report
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
        isExtended = report.isExtended
        rssi = report.rssi ?? rssi
        lastHeard = time
        return isNews
    }

    private mutating func isNews(_ sighting: Sighting) -> Bool {
        let isResponse = sighting.report.kind == .scanResponse
        if told == nil, isResponse, sighting.scanResponse.isEmpty { return false }
        var content = Content(
            data: sighting.data, scanResponse: sighting.scanResponse, isConnectable: sighting.isConnectable)
        // An empty scan response says nothing. Bumble's controller sends the advertising data once more as
        // one.
        if content.scanResponse.isEmpty || content.scanResponse == content.data {
            content.scanResponse = told?.scanResponse ?? []
        }
        guard content != told else { return false }
        told = content
        return true
    }

    /// The time between two events, in milliseconds: the middle of those that were heard, so that one which
    /// was missed does not count, without the 5 ms of random delay that each has on the average; nil: too few
    /// were heard.
    package var interval: Double? {
        guard gaps.count >= 4 else { return nil }
        let middle = gaps.sorted()[gaps.count / 2]
        return Double(max(0, middle - 5000) / 100) / 10
    }

    /// The name, as a terminal may be shown it.
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
        if isExtended { members.append(.init("extended", .bool(true))) }
        members.append(.init("services", .array(advertisement.serviceUUIDs.map { .string($0.description) })))
        members += content
        members.append(.init("data", .string(Hex.encode(data))))
        if !scanResponse.isEmpty { members.append(.init("scanResponse", .string(Hex.encode(scanResponse)))) }
        if let interval { members.append(.init("intervalMilliseconds", .number(interval))) }
        return members
    }

    /// What only some devices say.
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

    /// Everything it says besides its name, in words; `known`: services whose bits are looked for in an
    /// overflow area.
    package func description(among known: [BluetoothUUID]) -> String {
        var words: [String] = []
        if !advertisement.serviceUUIDs.isEmpty {
            words.append(
                advertisement.serviceUUIDs.map { AssignedNumbers.name(of: $0) ?? $0.description }
                    .joined(separator: ", "))
        }
        for structure in advertisement.structures where Self.isTold(structure) {
            words.append(ADNames.describe(structure, among: known))
            let rest = structure.data.dropFirst(Self.headerLength(structure))
            if OverflowArea(structure) == nil, !rest.isEmpty {
                words[words.count - 1] += " " + Hex.encode(rest)
            }
        }
        if let flags = advertisement.flags { words.append("flags " + Hex.encode([flags])) }
        if let power = advertisement.txPower { words.append("\(power) dBm") }
        if !isConnectable { words.append("not connectable") }
        return PrintableText.of(words.joined(separator: "  "))
    }

    /// Company data, service data and what is looked for stand for themselves; the rest has a column or word
    /// of its own.
    private static func isTold(_ structure: ADStructure) -> Bool {
        switch structure.type.rawValue {
        case 0xFF, 0x16, 0x20, 0x21: true
        case 0x14, 0x15, 0x1F, 0x19: true
        default: false
        }
    }

    /// How many bytes stand before the data, and are told in words.
    private static func headerLength(_ structure: ADStructure) -> Int {
        switch structure.type.rawValue {
        case 0xFF, 0x16: 2
        case 0x20: 4
        case 0x21: 16
        default: structure.data.count
        }
    }
}
