import Mynah
public import MynahCore
public import MynahSupport

/// The fields of the event stream, each defined once.
public enum EventFields {
    /// Marks an event that has waited while its app did not run, and may not hold any more.
    static let queued: [JSON.Member] = [.init("queued", .bool(true))]

    /// The name of a central: its address, if the radio reports it.
    static func name(of central: Central) -> String {
        central.address?.description ?? "central-\(central.id.rawValue)"
    }

    static func central(_ central: Central) -> JSON.Member {
        .init("central", .string(name(of: central)))
    }

    /// A central and the names of an attribute, with room for the fields of the event itself.
    static func of(_ central: Central?, _ names: [JSON.Member]) -> [JSON.Member] {
        var fields: [JSON.Member] = []
        fields.reserveCapacity(8)
        if let central { fields.append(self.central(central)) }
        fields += names
        return fields
    }

    static func code(_ error: ATTError) -> JSON {
        .string("0x" + Hex.encode([error.code]))
    }

    /// The names of an attribute.
    static func of(_ entry: AttributeTable.Entry) -> [JSON.Member] {
        var fields: [JSON.Member] = [
            .init("service", .string(entry.service.description)),
            .init("characteristic", .string(entry.characteristic.description)),
        ]
        if let descriptor = entry.descriptor {
            fields.append(.init("descriptor", .string(descriptor.description)))
        }
        if let path = entry.path { fields.append(.init("path", .string(path))) }
        return fields
    }

    /// The outcome of a read; `id` is its number if a test answered it.
    static func of(
        _ request: ReadRequest, _ value: [UInt8], _ outcome: PendingReply.Outcome, asked id: Int? = nil
    ) -> [JSON.Member] {
        var fields: [JSON.Member] = []
        fields.reserveCapacity(4)
        if let id { fields.append(.init("id", .integer(id))) }
        if request.offset > 0 { fields.append(.init("offset", .integer(request.offset))) }
        switch outcome {
        case .success: fields.append(.init("value", .string(Hex.encode(value))))
        case .failure(let error): fields.append(.init("error", code(error)))
        }
        return fields
    }

    /// The outcome of a part of a write; `id` is its number if a test answered it.
    static func of(
        _ part: WriteRequest.Part, withResponse: Bool, _ outcome: PendingReply.Outcome, asked id: Int? = nil
    ) -> [JSON.Member] {
        var fields: [JSON.Member] = []
        fields.reserveCapacity(4)
        if let id { fields.append(.init("id", .integer(id))) }
        if part.offset > 0 { fields.append(.init("offset", .integer(part.offset))) }
        fields.append(.init("value", .string(Hex.encode(part.value))))
        fields.append(.init("withResponse", .bool(withResponse)))
        if case .failure(let error) = outcome { fields.append(.init("error", code(error))) }
        return fields
    }

    /// Why a request was refused.
    static func of(_ request: RefusedRequest) -> [JSON.Member] {
        [
            .init("by", .string(request.access.rawValue)), .init("error", code(request.error)),
            .init("because", .string(request.reason.rawValue)),
        ]
    }

    /// A launch of an app.
    static func of(_ options: LaunchOptions) -> [JSON.Member] {
        [
            .init("restoreIdentifiers", .array(options.restoreIdentifiers.map { .string($0) })),
            .init("centralRestoreIdentifiers", .array(options.centralRestoreIdentifiers.map { .string($0) })),
            .init("inBackground", .bool(options.isInBackground)),
        ]
    }

    /// The state of an app that the system preserved.
    static func of(_ state: RestoredState, restoreIdentifier: String) -> [JSON.Member] {
        var uuids: [AttributeKey: (service: BluetoothUUID, characteristic: BluetoothUUID)] = [:]
        for service in state.services {
            for characteristic in service.characteristics {
                uuids[characteristic.key] = (service.uuid, characteristic.uuid)
            }
        }
        let subscribers = state.subscribers.compactMap { subscriber -> JSON? in
            guard let uuid = uuids[subscriber.attribute] else { return nil }
            return .object([
                .init("central", subscriber.address.map { .string($0.description) } ?? .null),
                .init("service", .string(uuid.service.description)),
                .init("characteristic", .string(uuid.characteristic.description)),
                .init("live", .bool(subscriber.isLive)),
            ])
        }
        return [
            .init("role", .string("peripheral")), .init("restoreIdentifier", .string(restoreIdentifier)),
            .init("services", .array(state.services.map { .string($0.uuid.description) })),
            .init("advertising", .bool(state.advertisement != nil)),
            .init("subscribers", .array(subscribers)),
        ]
    }

    /// The data on the air, as in the output of `show` and in the advertising events.
    public static func of(_ report: AdvertisingReport) -> [JSON.Member] {
        var fields: [JSON.Member] = [
            .init("on", .bool(report.isOn)), .init("data", .string(Hex.encode(report.data))),
            .init("scanResponse", .string(Hex.encode(report.scanResponse))),
        ]
        if let interval = report.interval {
            let (low, high) = (milliseconds(interval.lowerBound), milliseconds(interval.upperBound))
            if low == high {
                fields.append(.init("intervalMilliseconds", .number(low)))
            } else {
                fields.append(.init("intervalMilliseconds", .number(low)))
                fields.append(.init("intervalMaximumMilliseconds", .number(high)))
            }
        } else {
            fields.append(.init("intervalMilliseconds", .null))
        }
        fields.append(.init("connectable", .bool(report.isConnectable)))
        if let address = report.address { fields.append(.init("address", .string(address.description))) }
        fields.append(
            .init(
                "omitted",
                omissions(report.omitted)))
        return fields
    }

    static func omissions(_ omitted: [AdvertisingReport.Omission]) -> JSON {
        .array(
            omitted.map { .object([.init("item", .string($0.item)), .init("reason", .string($0.reason))]) })
    }

    static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }

    /// The use of the radio, without fields that are zero.
    static func of(_ use: AirUse, _ metered: MeteredUse) -> [JSON.Member] {
        // Without the packets of a link its airtime is not known.
        let knowsAirtime = metered.knowsPackets || use.linked == .zero
        let fields: [(String, JSON, isZero: Bool)] = [
            ("advertisingEvents", .integer(Int(use.advertisingEvents)), use.advertisingEvents < 1),
            ("scanSeconds", .number(milliseconds(use.scanning).rounded() / 1000), use.scanning < half),
            ("linkSeconds", .number(milliseconds(use.linked).rounded() / 1000), use.linked < half),
            ("packetsSent", .integer(use.packetsSent), use.packetsSent == 0),
            ("packetsReceived", .integer(use.packetsReceived), use.packetsReceived == 0),
            (
                "airtimeMilliseconds", .number((milliseconds(use.airtime) * 1000).rounded() / 1000),
                !knowsAirtime || use.airtime < .nanoseconds(500)
            ),
        ]
        return fields.filter { !$0.isZero }.map { .init($0.0, $0.1) }
            + (metered.isEstimated ? [.init("estimated", .bool(true))] : [])
    }

    // Shorter times round to no millisecond.
    private static var half: Duration { .microseconds(500) }

    static func of(_ event: PhoneEvent) -> (DeviceEvent.Name, [JSON.Member])? {
        switch event {
        case .stateChanged(let state): (.stateChanged, [.init("state", .string(state.rawValue))])
        case .lost(let error): (.radioLost, [.init("message", .string(error.description))])
        case .recovered: (.radioRecovered, [])
        case .connected(let central):
            (
                .centralConnected,
                [self.central(central)] + (central.name.map { [.init("name", .string($0))] } ?? [])
            )
        case .disconnected(let central): (.centralDisconnected, [self.central(central)])
        case .mtuChanged(let central):
            (.mtuChanged, [self.central(central), .init("mtu", .integer(central.mtu ?? GATT.defaultMTU))])
        case .paired(let central): (.paired, [self.central(central)])
        case .warning(let warning):
            (.warning, [.init("code", .string(warning.code)), .init("message", .string(warning.message))])
        case .advertisingChanged, .centralChanged, .capabilitiesChanged, .pairing, .peripheralPairing,
            .answeredRead, .refused:
            nil
        case .linkKept(_, let apps): (.linkKept, [.init("heldBy", .array(apps.map { .string($0) }))])
        case .linkEnded: (.linkEnded, [.init("heldBy", .array([]))])
        case .alert(let alert, let step):
            (
                step == .shown ? .alertShown : step == .opened ? .alertOpened : .alertDismissed,
                [
                    .init("by", .string(alert.cause.rawValue)), .init("app", .string(alert.app)),
                ]
            )
        }
    }

    static func of(_ step: PairingStep, isKnown: Bool) -> [JSON.Member] {
        switch step {
        case .display(let number):
            [.init("step", .string("display")), .init("passkey", .string(digits(number)))]
        case .compare(let number):
            [.init("step", .string("compare")), .init("passkey", .string(digits(number)))]
        case .enter: [.init("step", .string("enter")), .init("entered", .bool(isKnown))]
        case .agree: [.init("step", .string("agree"))]
        }
    }

    // A passkey has six digits (Core Specification, Vol 3, Part H, 2.3.5.3).
    private static func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
