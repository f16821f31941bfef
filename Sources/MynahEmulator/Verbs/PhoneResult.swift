package import Mynah
package import MynahCore
package import MynahProfiles
package import MynahSupport
import MynahValues

/// The result of a request to a phone.
package enum PhoneResult: Sendable {
    case done
    case heard([HeardPeripheral])
    case connected(ConnectedPeripheral)
    case services([DiscoveredService])
    /// The value that was read.
    case read(AttributePath.Target, [UInt8])
    case written(AttributePath.Target, [UInt8], withResponse: Bool)
    case subscription(Bool, AttributePath.Target)
    case mtu(Int)
    case rssi(Int8)
    case parameters(ConnectionParameterRange)

    /// The members of the result's JSON form.
    package var members: [JSON.Member] {
        switch self {
        case .done: []
        case .heard(let peripherals): [.init("peripherals", .array(peripherals.map(\.json)))]
        case .connected(let peripheral): peripheral.members
        case .services(let services): [.init("services", .array(services.map(\.json)))]
        case .read(let target, let value), .written(let target, let value, _):
            target.members + JSON.members(of: value, target.layout)
        case .subscription(let isOn, let target): target.members + [.init("on", .bool(isOn))]
        case .mtu(let mtu): [.init("mtu", .integer(mtu))]
        case .rssi(let rssi): [.init("rssi", .integer(Int(rssi)))]
        case .parameters(let range):
            [
                .init("intervalMilliseconds", .number(range.shortestInterval.milliseconds)),
                .init("latency", .integer(Int(range.latency))),
                .init("supervisionTimeoutMilliseconds", .number(range.supervisionTimeout.milliseconds)),
            ]
        }
    }
}

/// A peripheral whose advertising a phone has received.
package struct HeardPeripheral: Sendable {
    package var address: DeviceAddress
    package var name: String?
    /// The received signal strength, in dBm.
    package var rssi: Int?
    package var services: [BluetoothUUID]
    package var isConnectable: Bool
    package var data: [UInt8]
    package var scanResponse: [UInt8]

    package init(_ discovery: Discovery) {
        address = discovery.report.address
        name = discovery.advertisement.localName
        rssi = discovery.rssi.map { Int($0) }
        services = discovery.advertisement.serviceUUIDs
        isConnectable = discovery.isConnectable
        data = discovery.data
        scanResponse = discovery.scanResponse
    }

    var json: JSON {
        .object(
            [.init("address", .string("\(address)"))]
                + (name.map { [.init("name", .string($0))] } ?? [])
                + [
                    .init("rssi", rssi.map { .integer($0) } ?? .null),
                    .init("connectable", .bool(isConnectable)),
                    .init("services", .array(services.map { .string($0.description) })),
                    .init("data", .string(Hex.encode(data))),
                    .init("scanResponse", .string(Hex.encode(scanResponse))),
                ])
    }
}

/// A peripheral that a phone is connected to.
package struct ConnectedPeripheral: Sendable {
    package var address: DeviceAddress
    package var name: String?
    package var mtu: Int
    package var isPaired: Bool
    package var services: [DiscoveredService]

    package init(_ peripheral: Peripheral) async {
        address = peripheral.address
        name = await peripheral.name
        mtu = await peripheral.mtu
        isPaired = await peripheral.isPaired
        services = await peripheral.services
    }

    /// The members of the peripheral's JSON form.
    package var members: [JSON.Member] {
        [.init("address", .string("\(address)"))] + (name.map { [.init("name", .string($0))] } ?? [])
            + [
                .init("mtu", .integer(mtu)), .init("paired", .bool(isPaired)),
                .init("services", .array(services.map(\.json))),
            ]
    }
}

/// The reason that a phone did not carry out a request.
package enum PhoneFailure: Error, Hashable, Sendable {
    /// The request is wrong in any state.
    case invalid(String)
    /// The peripheral has no such attribute.
    case notFound(String)
    /// The peripheral refused the request, or the radio failed.
    case request(RequestError)

    /// The failure, as a sentence without its full stop.
    package var message: String {
        switch self {
        case .invalid(let message), .notFound(let message): message
        case .request(let error): error.description
        }
    }

    /// The JSON members about the error: an ATT error, or the radio's error code and the controller's reason.
    ///
    /// An error or a reason is followed by its name.
    package var members: [JSON.Member] {
        var members: [JSON.Member] = []
        var name: String?
        switch self {
        case .invalid, .notFound: break
        case .request(.refused(let error)):
            members.append(.init("error", .string(error.codeText)))
            name = error.name
        case .request(.failed(let error)):
            members.append(.init("code", .string(error.code.rawValue)))
            if let reason = error.reason {
                members.append(.init("reason", .string(Self.text(of: reason))))
                name = ControllerErrorNames.name(of: reason)
            }
        }
        if let name { members.append(.init("name", .string(name))) }
        return members
    }

    /// The reason of a controller in hexadecimal, such as `0x13`.
    package static func text(of reason: UInt8) -> String { "0x" + Hex.encode([reason]) }

    /// The failure of a request that took longer than its limit.
    package static func overdue(_ limit: Duration) -> PhoneFailure {
        .request(.failed(RadioError(.timedOut, "the request was not carried out within \(limit.text)")))
    }
}

extension AttributePath.Target {
    /// The attribute as events describe it.
    package var attribute: EventAttribute {
        switch self {
        case .characteristic(let characteristic): EventAttribute(characteristic)
        case .descriptor(let descriptor, let characteristic):
            EventAttribute(
                service: characteristic.service, characteristic: characteristic.uuid,
                descriptor: descriptor.uuid,
                path: characteristic.path(of: descriptor))
        }
    }

    /// The layout of the attribute's values, or `nil` if none is known.
    var layout: ValueLayout? {
        if case .characteristic(let characteristic) = self {
            KnownLayouts.layout(of: characteristic.uuid)
        } else {
            nil
        }
    }

    fileprivate var members: [JSON.Member] {
        let attribute = attribute
        let uuids = [
            ("service", attribute.service), ("characteristic", attribute.characteristic),
            ("descriptor", attribute.descriptor),
        ]
        return uuids.compactMap { key, uuid in uuid.map { JSON.Member(key, .string($0.description)) } }
    }
}

extension DiscoveredService {
    /// The service with its characteristics and descriptors, as a JSON object.
    package var json: JSON {
        var members: [JSON.Member] = [
            .init("uuid", .string(uuid.description)), .init("primary", .bool(isPrimary)),
            .init("handle", .handle(id)),
        ]
        if !includedServices.isEmpty {
            members.append(
                .init("includes", .array(includedServices.map { .string($0.uuid.description) })))
        }
        members.append(.init("characteristics", .array(characteristics.map(\.json))))
        return .object(members)
    }
}

extension DiscoveredCharacteristic {
    fileprivate var json: JSON {
        .object([
            .init("uuid", .string(uuid.description)), .init("handle", .handle(id)),
            .init("properties", .array(properties.names.map { .string($0) })),
            .init(
                "descriptors",
                .array(
                    (descriptors ?? []).map {
                        .object([
                            .init("uuid", .string($0.uuid.description)), .init("handle", .handle($0.handle)),
                        ])
                    })),
        ])
    }
}
