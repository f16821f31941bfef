import MynahCore
import MynahSupport

extension AdvertisementChange {
    /// The changed fields in the form of a profile.
    var members: [JSON.Member] {
        var members = data.members
        if let set { members.insert(.init("set", .string(set)), at: 0) }
        if let flags { members.append(.init("flags", flags.map { .integer(Int($0)) } ?? .string("none"))) }
        if let isConnectable { members.append(.init("connectable", .bool(isConnectable))) }
        if let isScannable { members.append(.init("scannable", .bool(isScannable))) }
        if let interval {
            members.append(.init("interval", interval.json))
        }
        let response = scanResponse.members
        if !response.isEmpty { members.append(.init("scanResponse", .object(response))) }
        if let extended { members.append(.init("extended", extended?.json ?? .bool(false))) }
        return members
    }
}

extension AdvertisementChange.ContentsChange {
    fileprivate var members: [JSON.Member] {
        var members: [JSON.Member] = []
        if let localName { members.append(.init("localName", .string(localName))) }
        if let serviceUUIDs {
            let complete = Self.uuids(serviceUUIDs)
            let incomplete = Self.uuids(incompleteServiceUUIDs ?? [])
            let lists = JSON.object([.init("complete", complete), .init("incomplete", incomplete)])
            members.append(
                .init("serviceUUIDs", incompleteServiceUUIDs?.isEmpty ?? true ? complete : lists))
        }
        if let solicitedServiceUUIDs {
            members.append(.init("solicitedServiceUUIDs", Self.uuids(solicitedServiceUUIDs)))
        }
        if let manufacturerData {
            let list = manufacturerData.map {
                ("company", "0x" + Hex.encode([UInt8($0.company >> 8), UInt8($0.company & 0xFF)]), $0.data)
            }
            members.append(.init("manufacturerData", Self.values(list)))
        }
        if let serviceData {
            let list = serviceData.map { ("service", $0.uuid.description, $0.data) }
            members.append(.init("serviceData", Self.values(list)))
        }
        if let appearance {
            members.append(.init("appearance", appearance.map { .integer(Int($0)) } ?? .bool(false)))
        }
        if let txPower {
            members.append(
                .init(
                    "txPower",
                    txPower.map { $0.level.map { .integer(Int($0)) } ?? .bool(true) } ?? .bool(false)))
        }
        if let raw {
            let list = raw.map {
                JSON.object([
                    .init("0x" + Hex.encode([$0.type.rawValue]), .string(Hex.encode($0.data)))
                ])
            }
            members.append(.init("raw", .array(list)))
        }
        return members
    }

    private static func uuids(_ uuids: [BluetoothUUID]) -> JSON {
        .array(uuids.map { .string($0.description) })
    }

    /// Makes a mapping, or a list of mappings if a key occurs several times.
    private static func values(_ list: [(name: String, key: String, data: [UInt8])]) -> JSON {
        guard Set(list.map(\.key)).count < list.count else {
            return .object(list.map { .init($0.key, .string(Hex.encode($0.data))) })
        }
        return .array(
            list.map {
                .object([.init($0.name, .string($0.key)), .init("value", .string(Hex.encode($0.data)))])
            })
    }
}

extension ClosedRange<Duration> {
    /// The JSON of one duration, or of the shortest and the longest one.
    fileprivate var json: JSON {
        guard lowerBound != upperBound else { return .string(lowerBound.text) }
        return .object([.init("min", .string(lowerBound.text)), .init("max", .string(upperBound.text))])
    }
}

extension Advertisement.Extended {
    /// The PHYs as the words that a profile uses for them.
    var json: JSON {
        .object([
            .init("data", .string(AdvertisingPHYName(secondaryPHY).rawValue)),
            .init("primary", .string((isPrimaryCoded ? PrimaryPHYName.coded : .le1M).rawValue)),
        ])
    }
}
