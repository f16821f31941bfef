package import Mynah
import MynahCore
import MynahLifecycle
package import MynahSupport

// Fields of an app's events as a central.
extension EventFields {
    /// The fields that identify a peripheral.
    static func peripheral(_ peripheral: Peripheral) -> [JSON.Member] {
        [
            .init("peripheral", .string(peripheral.identifier.description)),
            .init("address", .string(peripheral.address.description)),
        ] + (peripheral.look { $0.name }.map { [.init("name", .string($0))] } ?? [])
    }

    static func of(_ characteristic: DiscoveredCharacteristic) -> [JSON.Member] {
        [
            .init("service", .string(characteristic.service.description)),
            .init("characteristic", .string(characteristic.uuid.description)),
        ]
    }

    static func of(_ discovery: Discovery) -> [JSON.Member] {
        [
            .init("rssi", discovery.rssi.map { .integer(Int($0)) } ?? .null),
            .init("services", list(discovery.advertisement.serviceUUIDs)),
            .init("overflowServices", list(discovery.overflowServices)),
            .init("coalesced", .integer(discovery.coalesced)),
            .init("data", .string(Hex.encode(discovery.data))),
            .init("scanResponse", .string(Hex.encode(discovery.scanResponse))),
        ]
    }

    /// The call with which an app asked the system for devices, and the entries of the devices that it
    /// returned.
    static func retrieved(
        _ way: ReconnectWay, asked: [String], found: [Peripheral]
    ) -> [JSON.Member] {
        [
            .init("by", .string(way == .known ? "identifiers" : "connected")),
            .init("asked", .array(asked.map { .string($0) })),
            .init("found", .array(found.map { .string($0.identifier.description) })),
        ]
    }

    static func of(_ end: Disconnection) -> [JSON.Member] {
        [
            .init("local", .bool(end.isLocal)), .init("pending", .bool(end.wasPending)),
            .init("isReconnecting", .bool(end.isReconnecting)),
        ] + (end.error.map { of($0) } ?? [])
    }

    /// Why a connection failed or ended.
    static func of(_ error: RadioError) -> [JSON.Member] {
        [.init("message", .string(error.description)), .init("code", .integer(error.coreBluetoothCode))]
    }

    /// Why a read, a write or a subscription failed: an ATT error, with words if the peripheral did not
    /// answer it.
    static func of(_ error: RequestError) -> [JSON.Member] {
        switch error {
        case .refused(let answered): return [.init("error", code(answered))]
        case .failed(let trouble):
            let kind: ATTError =
                switch trouble.code {
                case .unknownAttribute, .unsupported: .requestNotSupported
                case .pairingFailed, .insufficientSecurity: .insufficientAuthentication
                case .valueTooLong: .invalidAttributeValueLength
                default: .unlikelyError
                }
            return [.init("error", code(kind)), .init("message", .string(trouble.description))]
        }
    }

    /// The services and options of a scan.
    package static func of(_ scan: ScanStatus) -> [JSON.Member] {
        [
            .init("services", list(scan.services))
        ] + solicited(scan.solicited) + [
            .init("allowDuplicates", .bool(scan.allowsDuplicates)),
            .init("intervalMilliseconds", scan.options.map { .number(milliseconds($0.interval)) } ?? .null),
            .init("windowMilliseconds", scan.options.map { .number(milliseconds($0.window)) } ?? .null),
            .init("omitted", omissions(scan.omitted)),
        ]
    }

    private static func solicited(_ services: [BluetoothUUID]) -> [JSON.Member] {
        services.isEmpty ? [] : [.init("solicited", list(services))]
    }

    /// The name of the event for a change of an app's scan, or `nil` if nothing changed.
    static func scanEvent(from old: ScanStatus?, to new: ScanStatus?) -> DeviceEvent.Name? {
        guard old != new else { return nil }
        return switch (old?.isInForce, new?.isInForce) {
        case (_?, nil): .scanStopped
        case (true, true): .scanChanged
        case (_, true): .scanStarted
        case (nil, false), (true, false): .scanPaused
        default: nil
        }
    }

    /// The state of a central manager that the system kept.
    static func of(_ state: RestoredCentralState, restoreIdentifier: String) -> [JSON.Member] {
        [
            .init("role", .string("central")), .init("restoreIdentifier", .string(restoreIdentifier)),
            .init("scanServices", state.scanServices.map { list($0) } ?? .null),
            .init(
                "scanOptions",
                state.scanOptions.map { options in
                    .object(
                        [.init("allowDuplicates", .bool(options.allowsDuplicates))]
                            + solicited(options.solicitedServiceUUIDs))
                } ?? .null),
        ]
    }

    /// The state of a peripheral that the system kept.
    static func restored(_ peripheral: isolated Peripheral) -> [JSON.Member] {
        let subscribed = peripheral.services.flatMap(\.characteristics).filter { $0.delivery != nil }
        return [
            .init("state", .string("\(peripheral.state)")),
            .init("services", list(peripheral.services.map(\.uuid))),
            .init("subscriptions", .array(subscribed.map { .object(of($0)) })),
        ]
    }

    static func list(_ uuids: [BluetoothUUID]) -> JSON {
        .array(uuids.map { .string($0.description) })
    }
}
