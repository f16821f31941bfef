package import Mynah
package import MynahCore
import MynahLifecycle
package import MynahProfiles
import MynahSupport

// Payloads for the reports of a phone, its apps and its radio.

extension EventCentral {
    package init(_ central: Central) {
        self.init(central.address, central.id)
    }
}

extension EventAttribute {
    init(_ entry: AttributeTable.Entry) {
        self.init(
            service: entry.service, characteristic: entry.characteristic, descriptor: entry.descriptor,
            path: entry.path, layout: entry.layout)
    }

    package init(_ characteristic: DiscoveredCharacteristic) {
        self.init(
            service: characteristic.service, characteristic: characteristic.uuid, path: characteristic.path)
    }
}

extension EventPeripheral {
    init(_ peripheral: Peripheral, alias: String?) {
        self.init(
            identifier: peripheral.identifier.uuid, address: peripheral.address,
            name: peripheral.look { $0.name }, alias: alias)
    }
}

extension EventPayload.AttributeUse {
    /// Sets the result of a read; `id` is the request's number if a test answered the request.
    mutating func set(
        _ read: ReadRequest, _ value: [UInt8], _ outcome: PendingReply.Outcome, asked id: Int?
    ) {
        self.id = id
        offset = read.offset > 0 ? read.offset : nil
        switch outcome {
        case .success: self.value = value
        case .failure(let error): self.error = error
        }
    }

    /// Sets a part of a write; `id` is the request's number if a test answers the request.
    mutating func set(_ part: WriteRequest.Part, asked id: Int?) {
        self.id = id
        offset = part.offset > 0 ? part.offset : nil
        value = part.value
    }

    /// Sets the reason that a request was refused.
    mutating func set(_ refused: RefusedRequest) {
        access = refused.access
        error = refused.error
        reason = refused.reason.rawValue
    }
}

extension EventPayload.RemoteUse {
    /// Sets the reason that a read, a write or a subscription failed.
    ///
    /// This is an ATT error, or a message if the peripheral did not answer.
    package mutating func set(_ failure: RequestError?) {
        switch failure {
        case .refused(let answered)?: error = answered
        case .failed(let trouble)?:
            error =
                switch trouble.code {
                case .unknownAttribute, .unsupported: .requestNotSupported
                case .pairingFailed, .insufficientSecurity: .insufficientAuthentication
                case .valueTooLong: .invalidAttributeValueLength
                default: .unlikelyError
                }
            message = trouble.description
        case nil: break
        }
    }
}

extension EventPayload.PeripheralLink {
    /// Makes the payload for a connection that failed.
    init(_ peripheral: EventPeripheral, _ error: RadioError?) {
        self.init(peripheral)
        message = error?.description
        code = error?.coreBluetoothCode
    }

    /// Makes the payload for a link that ended.
    init(_ peripheral: EventPeripheral, _ end: Disconnection) {
        self.init(peripheral, end.error)
        isLocal = end.isLocal
        wasPending = end.wasPending
        isReconnecting = end.isReconnecting
    }
}

extension EventPayload.Discovery {
    package init(_ discovery: Mynah.Discovery, _ peripheral: EventPeripheral) {
        self.init()
        self.peripheral = peripheral
        rssi = discovery.rssi.map { Int($0) }
        services = discovery.advertisement.serviceUUIDs
        overflowServices = discovery.overflowServices
        coalesced = discovery.coalesced
        data = discovery.data
        scanResponse = discovery.scanResponse
    }
}

extension EventPayload.Scan {
    /// Makes the payload with the services and options of a scan.
    package init(_ scan: ScanStatus) {
        self.init()
        services = scan.services
        solicited = scan.solicited.isEmpty ? nil : scan.solicited
        allowsDuplicates = scan.allowsDuplicates
        interval = scan.options?.interval
        window = scan.options?.window
        omitted = scan.omitted
    }
}

extension EventPayload.AppStep {
    init(_ options: LaunchOptions) {
        self.init()
        restoreIdentifiers = options.restoreIdentifiers
        centralRestoreIdentifiers = options.centralRestoreIdentifiers
        isInBackground = options.isInBackground
    }
}

extension EventPayload.RadioFigures {
    init(_ use: AirUse, _ metered: MeteredUse) {
        self.init()
        func rounded(_ time: Duration, _ digits: Double) -> Double? {
            let number = (time.milliseconds * digits).rounded() / 1000
            return number == 0 ? nil : number
        }
        let events = Int(use.advertisingEvents)
        advertisingEvents = events == 0 ? nil : events
        scanSeconds = rounded(use.scanning, 1)
        linkSeconds = rounded(use.linked, 1)
        packetsSent = use.packetsSent == 0 ? nil : use.packetsSent
        packetsReceived = use.packetsReceived == 0 ? nil : use.packetsReceived
        // If the radio does not count the packets of links, the airtime of a link is unknown.
        if metered.knowsPackets || use.linked == .zero { airtimeMilliseconds = rounded(use.airtime, 1000) }
        isEstimated = metered.isEstimated ? true : nil
    }
}

extension EventPayload.Restoration {
    /// Makes the payload with the restored state of an app's peripheral manager.
    init(_ state: RestoredState, restoreIdentifier: String) {
        self.init()
        role = "peripheral"
        self.restoreIdentifier = restoreIdentifier
        services = state.services.map(\.uuid)
        isAdvertising = state.advertisement != nil
        var uuids: [AttributeKey: EventAttribute] = [:]
        for service in state.services {
            for characteristic in service.characteristics {
                uuids[characteristic.key] = EventAttribute(
                    service: service.uuid, characteristic: characteristic.uuid)
            }
        }
        subscribers = .array(
            state.subscribers.compactMap { subscriber in
                guard let names = uuids[subscriber.attribute]?.names else { return nil }
                let central = JSON.Member(
                    "central", subscriber.address.map { .string($0.description) } ?? .null)
                return .object([central] + names + [.init("live", .bool(subscriber.isLive))])
            })
    }

    /// Makes the payload with the restored state of a central manager.
    ///
    /// `device` converts a peripheral to its description in events.
    init(
        _ state: RestoredCentralState, restoreIdentifier: String,
        _ device: (Peripheral) -> EventPeripheral
    ) {
        self.init()
        role = "central"
        self.restoreIdentifier = restoreIdentifier
        scanServices = state.scanServices.map { .uuids($0) } ?? .null
        scanOptions =
            state.scanOptions.map { options in
                let solicited = options.solicitedServiceUUIDs
                return .object(
                    [.init("allowDuplicates", .bool(options.allowsDuplicates))]
                        + (solicited.isEmpty ? [] : [.init("solicited", .uuids(solicited))]))
            } ?? .null
        peripherals = .array(
            state.peripherals.map { peripheral in
                let names = EventPayload.link(.init(device(peripheral))).members(of: .peripheralConnecting)
                return .object(names + peripheral.look { Self.restored($0) })
            })
    }

    private static func restored(_ peripheral: isolated Peripheral) -> [JSON.Member] {
        let subscribed = peripheral.services.flatMap(\.characteristics).filter { $0.delivery != nil }
        return [
            .init("state", .string("\(peripheral.state)")),
            .init("services", .uuids(peripheral.services.map(\.uuid))),
            .init("subscriptions", .array(subscribed.map { .object(EventAttribute($0).names) })),
        ]
    }
}

extension EventAttribute {
    /// The JSON members for the characteristic and its service.
    fileprivate var names: [JSON.Member] {
        EventPayload.attribute(.init(self)).members(of: .confirmed)
    }
}

extension JSON {
    fileprivate static func uuids(_ list: [BluetoothUUID]) -> JSON {
        .array(list.map { .string($0.description) })
    }
}
