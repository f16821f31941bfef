import MynahCore

/// The fields of each payload, in the order of their JSON members.
enum PayloadFields {
    // MARK: The run and its radio

    private static let noticeShape = EventShape(EventPayload.notice) {
        if case .notice(let notice) = $0 { notice } else { .init() }
    }

    static let message = [noticeShape.always("message", \.message)]
    static let notice =
        fields(EventShape(noticeShape, \.attribute)) + fields(EventShape(noticeShape, \.peripheral))
        + [noticeShape.optional("code", \.code)] + message + [noticeShape.optional("central", \.central)]

    static let extraneous =
        [noticeShape.optional("central", \.central)] + fields(EventShape(noticeShape, \.attribute))
        + fields(EventShape(noticeShape, \.peripheral)) + [noticeShape.optional("by", \.code)]

    private static let readyShape = EventShape(EventPayload.ready) {
        if case .ready(let ready) = $0 { ready } else { .init() }
    }

    static let ready = [
        readyShape.optional("profile", \.profile), readyShape.optional("phone", \.phone),
        readyShape.optional("radio", \.radio), readyShape.optional("address", \.address),
        readyShape.optional("services", \.services),
        readyShape.optional("control", \.control), readyShape.optional("listening", \.listening),
        readyShape.optional("adapters", \.adapters),
    ]

    private static let hostShape = EventShape(EventPayload.host) {
        if case .host(let host) = $0 { host } else { .init() }
    }

    static let host = [
        hostShape.always("host", \.host), hostShape.optional("address", \.address),
        hostShape.always("place", \.place),
    ]
    static let hostLeft = [
        hostShape.optional("reason", \.reason), hostShape.optional("code", \.code),
        hostShape.optional("message", \.message),
    ]

    private static let scenarioShape = EventShape(EventPayload.scenarioEnd) {
        if case .scenarioEnd(let end) = $0 { end } else { .init() }
    }

    static let scenarioEnd = [
        scenarioShape.always("scenario", \.scenario), scenarioShape.always("result", \.result),
        scenarioShape.always("step", \.step), scenarioShape.always("message", \.message),
    ]

    private static let stateShape = EventShape(EventPayload.state) {
        if case .state(let state) = $0 { state } else { RadioState.unknown }
    }

    static let state = [stateShape.always("state", \.self)]

    private static let radioShape = EventShape(EventPayload.radio) {
        if case .radio(let figures) = $0 { figures } else { .init() }
    }

    static let radio = [
        radioShape.optional("advertisingEvents", \.advertisingEvents),
        radioShape.optional("scanSeconds", \.scanSeconds),
        radioShape.optional("linkSeconds", \.linkSeconds),
        radioShape.optional("packetsSent", \.packetsSent),
        radioShape.optional("packetsReceived", \.packetsReceived),
        radioShape.optional("airtimeMilliseconds", \.airtimeMilliseconds),
        radioShape.optional("estimated", \.isEstimated),
    ]

    private static let advertisingShape = EventShape(EventPayload.advertising) {
        if case .advertising(let report) = $0 { report } else { .silent }
    }

    static let advertisingEnd = [advertisingShape.optional("reason", \.endReason)]

    static let advertising = [
        advertisingShape.always("on", \.isOn), advertisingShape.always("data", \.data),
        advertisingShape.always("scanResponse", \.scanResponse),
        advertisingShape.nullable("intervalMilliseconds", \.shortestInterval),
        advertisingShape.optional("intervalMaximumMilliseconds", \.longerInterval),
        advertisingShape.always("connectable", \.isConnectable),
        advertisingShape.optional("scannable", \.scannableIfNot),
        advertisingShape.optional("primaryPHY", \.primaryPHY),
        advertisingShape.optional("secondaryPHY", \.secondaryPHY),
        advertisingShape.optional("periodicData", \.periodicData),
        advertisingShape.optional("periodicIntervalMilliseconds", \.periodicInterval),
        advertisingShape.optional("periodicIntervalMaximumMilliseconds", \.longerPeriodicInterval),
        advertisingShape.optional("address", \.address), advertisingShape.always("omitted", \.omitted),
        advertisingShape.optional("set", \.setIfNamed), advertisingShape.optional("sets", \.setsIfAny),
    ]

    // MARK: The device's side

    private static let attributeShape = EventShape(EventPayload.attribute) {
        if case .attribute(let use) = $0 { use } else { .init() }
    }

    static let attribute =
        [attributeShape.optional("central", \.central)] + fields(EventShape(attributeShape, \.attribute))
    static let cause = [attributeShape.optional("by", \.reason)]
    static let delivery = [attributeShape.optional("delivery", \.delivery)]
    static let sent =
        value + [attributeShape.optional("tick", \.tick), attributeShape.optional("length", \.length)]
    static let asked = [
        attributeShape.optional("id", \.id), attributeShape.optional("by", \.access), offset,
    ]
    static let answer = [attributeShape.optional("id", \.id), offset]
    static let withResponse = [attributeShape.optional("withResponse", \.withResponse)]
    static let value = [attributeShape.optional("value", \.value)]
    static let error = [attributeShape.optional("error", \.error)]
    static let refusal =
        [attributeShape.optional("by", \.access)] + error + [attributeShape.optional("because", \.reason)]
    static let unanswered = [attributeShape.optional("id", \.id)] + refusal
    private static let offset = attributeShape.optional("offset", \.offset)

    private static let centralShape = EventShape(EventPayload.central) {
        if case .central(let link) = $0 { link } else { .init() }
    }

    static let central = [centralShape.optional("central", \.central)]
    static let centralName = central + [centralShape.optional("name", \.name)]
    static let mtu = central + [centralShape.optional("mtu", \.mtu)]

    private static let pairingShape = EventShape(EventPayload.pairing) {
        if case .pairing(let pairing) = $0 { pairing } else { .init() }
    }

    static let paired =
        [pairingShape.optional("central", \.central)] + fields(EventShape(pairingShape, \.peripheral))
    static let passkey =
        paired + [
            pairingShape.optional("step", \.stepName), pairingShape.optional("passkey", \.passkey),
            pairingShape.optional("entered", \.isEntered),
        ]

    private static let parametersShape = EventShape(EventPayload.parameters) {
        if case .parameters(let parameters) = $0 { parameters } else { .init() }
    }

    private static let peers =
        [parametersShape.optional("central", \.central)]
        + fields(EventShape(parametersShape, \.peripheral))
    private static let shortestInterval = [parametersShape.always("intervalMilliseconds", \.interval)]
    private static let latencyAndTimeout = [
        parametersShape.always("latency", \.latency),
        parametersShape.always("supervisionTimeoutMilliseconds", \.supervisionTimeout),
    ]
    static let parameters = peers + shortestInterval + latencyAndTimeout
    static let parameterRequest =
        peers + [parametersShape.optional("by", \.procedure)] + shortestInterval
        + [parametersShape.optional("intervalMaximumMilliseconds", \.longestInterval)] + latencyAndTimeout
        + [
            parametersShape.optional("accepted", \.isAccepted), parametersShape.optional("rule", \.rule),
            parametersShape.optional("message", \.message),
        ]

    private static let channelShape = EventShape(EventPayload.channel) {
        if case .channel(let use) = $0 { use } else { .init() }
    }

    static let channel =
        [channelShape.optional("central", \.central)] + fields(EventShape(channelShape, \.peripheral))
        + [channelShape.always("psm", \.psm)]
    static let channelValue = channel + [channelShape.optional("value", \.value)]

    private static let faultShape = EventShape(EventPayload.fault) {
        if case .fault(let fault) = $0 { fault } else { .init() }
    }

    static let fault = [
        faultShape.always("fault", \.fault), faultShape.always("on", \.trigger),
        faultShape.optional("central", \.central),
    ]

    // MARK: The phone's side

    private static let scanShape = EventShape(EventPayload.scan) {
        if case .scan(let scan) = $0 { scan } else { .init() }
    }

    static let scan = [
        scanShape.always("services", \.services), scanShape.optional("solicited", \.solicited),
        scanShape.always("allowDuplicates", \.allowsDuplicates),
        scanShape.nullable("intervalMilliseconds", \.interval),
        scanShape.nullable("windowMilliseconds", \.window), scanShape.always("omitted", \.omitted),
    ]

    private static let discoveryShape = EventShape(EventPayload.discovery) {
        if case .discovery(let discovery) = $0 { discovery } else { .init() }
    }

    static let discovery =
        fields(EventShape(discoveryShape, \.peripheral)) + [
            discoveryShape.nullable("rssi", \.rssi), discoveryShape.always("services", \.services),
            discoveryShape.always("overflowServices", \.overflowServices),
            discoveryShape.always("coalesced", \.coalesced), discoveryShape.always("data", \.data),
            discoveryShape.always("scanResponse", \.scanResponse),
        ]

    private static let retrievalShape = EventShape(EventPayload.retrieval) {
        if case .retrieval(let retrieval) = $0 { retrieval } else { .init() }
    }

    static let retrieval = [
        retrievalShape.always("as", \.alias), retrievalShape.always("by", \.way),
        retrievalShape.always("asked", \.asked), retrievalShape.always("found", \.found),
    ]

    private static let linkShape = EventShape(EventPayload.link) {
        if case .link(let link) = $0 { link } else { .init() }
    }

    static let link = fields(EventShape(linkShape, \.peripheral))
    static let local = [linkShape.optional("local", \.isLocal)]
    static let waits = [
        linkShape.optional("pending", \.wasPending), linkShape.optional("isReconnecting", \.isReconnecting),
    ]
    static let failure = [
        linkShape.optional("message", \.message), linkShape.optional("code", \.code),
        linkShape.optional("reason", \.reason),
    ]
    static let heldBy = [linkShape.optional("heldBy", \.heldBy)]
    static let alert = [
        linkShape.optional("central", \.central), linkShape.optional("by", \.cause),
        linkShape.optional("app", \.app),
    ]

    private static let remoteShape = EventShape(EventPayload.remote) {
        if case .remote(let use) = $0 { use } else { .init() }
    }

    static let remote = fields(EventShape(remoteShape, \.peripheral))
    static let remoteService = [remoteShape.optional("service", \.attribute.service)]
    static let remoteAttribute =
        remote + remoteService + [
            remoteShape.optional("characteristic", \.attribute.characteristic),
            remoteShape.optional("descriptor", \.attribute.descriptor),
            remoteShape.optional("path", \.attribute.path),
        ]
    static let remoteValue = remoteAttribute + [remoteShape.optional("value", \.value)]
    static let remoteResponse = [remoteShape.optional("withResponse", \.withResponse)]
    static let isOn = [remoteShape.optional("on", \.isOn)]
    static let uuids = [remoteShape.optional("uuids", \.uuids)]
    static let remoteError = [
        remoteShape.optional("error", \.error), remoteShape.optional("message", \.message),
    ]

    /// Makes the fields that identify a peripheral.
    private static func fields(_ peripheral: EventShape<EventPeripheral>) -> [EventField] {
        [
            peripheral.optional("peripheral", \.identifier), peripheral.optional("address", \.address),
            peripheral.optional("name", \.name), peripheral.optional("as", \.alias),
        ]
    }

    /// Makes the fields that identify an attribute.
    private static func fields(_ attribute: EventShape<EventAttribute>) -> [EventField] {
        [
            attribute.optional("service", \.service),
            attribute.optional("characteristic", \.characteristic),
            attribute.optional("descriptor", \.descriptor), attribute.optional("path", \.path),
        ]
    }

    // MARK: Apps

    private static let appShape = EventShape(EventPayload.app) {
        if case .app(let step) = $0 { step } else { .init() }
    }

    static let launch = [
        appShape.optional("restoreIdentifiers", \.restoreIdentifiers),
        appShape.optional("centralRestoreIdentifiers", \.centralRestoreIdentifiers),
        appShape.optional("inBackground", \.isInBackground),
    ]
    static let authorization = [appShape.optional("authorization", \.authorization)]
    /// The field `by`: the action of the user that changed the phone.
    static let byUser = [appShape.optional("by", \.reason)]
    static let termination = [appShape.optional("reason", \.reason)]

    private static let restorationShape = EventShape(EventPayload.restoration) {
        if case .restoration(let restoration) = $0 { restoration } else { .init() }
    }

    static let restoration = [
        restorationShape.always("role", \.role),
        restorationShape.always("restoreIdentifier", \.restoreIdentifier),
        restorationShape.optional("services", \.services),
        restorationShape.optional("advertising", \.isAdvertising),
        restorationShape.optional("subscribers", \.subscribers),
        restorationShape.optional("scanServices", \.scanServices),
        restorationShape.optional("scanOptions", \.scanOptions),
        restorationShape.optional("peripherals", \.peripherals),
    ]
}

// MARK: - The command connect

extension PayloadFields {
    private static let connectionShape = EventShape(EventPayload.connection) {
        if case .connection(let connection) = $0 { connection } else { .init() }
    }

    static let connected = [
        connectionShape.optional("peripheral", \.address),
        connectionShape.optional("addressType", \.addressKind), connectionShape.optional("name", \.name),
    ]
    static let connectionMessage = [connectionShape.optional("message", \.message)]
    static let connectionError = connectionMessage + [connectionShape.optional("code", \.code)]
    static let connectionMTU = [connectionShape.optional("mtu", \.mtu)]
    static let rssi = [connectionShape.optional("rssi", \.rssi)]
    static let handles = [
        connectionShape.optional("start", \.start), connectionShape.optional("end", \.end),
    ]
    static let fromHandle = [
        connectionShape.optional("handle", \.handle), connectionShape.optional("value", \.value),
    ]
    static let services = [connectionShape.optional("services", \.services)]
}

// MARK: - Fields that are parts of a value

extension AdvertisingReport {
    /// The reason why the radio does not advertise although it was asked to, or `nil` if there is none.
    fileprivate var endReason: String? {
        get { isOn ? nil : omitted.first { $0.item == Omission.centrals }?.reason }
        set { omitted = newValue.map { [Omission(item: Omission.centrals, reason: $0)] } ?? [] }
    }

    fileprivate var shortestInterval: Duration? {
        get { interval?.lowerBound }
        set { interval = newValue.map { $0...max($0, longerInterval ?? $0) } }
    }

    /// The value `false` if the advertising is not scannable, and `nil` otherwise.
    fileprivate var scannableIfNot: Bool? {
        get { isScannable ? nil : false }
        set { isScannable = newValue ?? true }
    }

    /// The primary PHY of extended advertising, or `nil` for legacy advertising.
    fileprivate var primaryPHY: String? {
        get { extended.map { ($0.isPrimaryCoded ? PrimaryPHYName.coded : .le1M).rawValue } }
        set {
            guard let name = newValue.flatMap({ PrimaryPHYName(rawValue: $0) }) else { return }
            var extended = extended ?? Advertisement.Extended()
            extended.isPrimaryCoded = name == .coded
            self.extended = extended
        }
    }

    /// The secondary PHY of extended advertising, or `nil` for legacy advertising.
    fileprivate var secondaryPHY: String? {
        get { extended.map { AdvertisingPHYName($0.secondaryPHY).rawValue } }
        set {
            guard let name = newValue.flatMap({ AdvertisingPHYName(rawValue: $0) }) else { return }
            var extended = extended ?? Advertisement.Extended()
            extended.secondaryPHY = name.phy
            self.extended = extended
        }
    }

    /// The periodic advertising data, or `nil` if the set has no periodic advertising.
    fileprivate var periodicData: [UInt8]? {
        get { periodic?.data }
        set { periodic = newValue.map { Periodic(data: $0, interval: .zero ... .zero) } }
    }

    /// The shortest interval of periodic advertising.
    fileprivate var periodicInterval: Duration? {
        get { periodic?.interval.lowerBound }
        set { if let newValue { periodic?.interval = newValue...newValue } }
    }

    /// The longest interval of periodic advertising, unless it equals the shortest.
    fileprivate var longerPeriodicInterval: Duration? {
        get {
            periodic.flatMap {
                $0.interval.lowerBound == $0.interval.upperBound ? nil : $0.interval.upperBound
            }
        }
        set {
            guard let newValue, let shortest = periodicInterval else { return }
            periodic?.interval = shortest...max(shortest, newValue)
        }
    }

    /// The set's name, or `nil` if it is the default name.
    fileprivate var setIfNamed: String? {
        get { set == Self.silent.set ? nil : set }
        set { if let newValue { set = newValue } }
    }

    /// The advertising sets besides the first one, or `nil` if there are none.
    fileprivate var setsIfAny: [AdvertisingReport]? {
        get { otherSets.isEmpty ? nil : otherSets }
        set { otherSets = newValue ?? [] }
    }

    /// The longest interval, or `nil` if it equals the shortest one.
    fileprivate var longerInterval: Duration? {
        get { interval.flatMap { $0.lowerBound == $0.upperBound ? nil : $0.upperBound } }
        set {
            guard let shortest = interval?.lowerBound else { return }
            interval = shortest...max(shortest, newValue ?? shortest)
        }
    }
}

extension EventPayload.Pairing {
    fileprivate var stepName: String? {
        get {
            switch step {
            case .display?: "display"
            case .compare?: "compare"
            case .enter?: "enter"
            case .agree?: "agree"
            case nil: nil
            }
        }
        set {
            switch newValue {
            case "display": step = .display(0)
            case "compare": step = .compare(0)
            case "enter": step = .enter
            case "agree": step = .agree
            default: step = nil
            }
        }
    }

    /// The passkey or number to show, in six digits (Core Specification, Vol 3, Part H, 2.3.5.3).
    package var passkey: String? {
        get {
            switch step {
            case .display(let number)?, .compare(let number)?:
                String(repeating: "0", count: max(0, 6 - String(number).count)) + String(number)
            default: nil
            }
        }
        set {
            guard let number = newValue.flatMap({ UInt32($0) }) else { return }
            switch step {
            case .display?: step = .display(number)
            case .compare?: step = .compare(number)
            default: break
            }
        }
    }
}
