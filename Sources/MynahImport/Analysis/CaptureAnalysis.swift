import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// One device, as far as the capture shows it.
struct ObservedDevice {
    /// The identity of a device within a capture.
    enum Key: Hashable {
        case remote(DeviceAddress)
        /// The host whose controller was captured.
        case local(source: Int)
        /// The peer on a link that began before the capture, so that the peer's address is not known.
        case unnamed(source: Int, ConnectionHandle)
    }

    var key: Key
    var server: ObservedServer
    var advertising = ObservedSets()
    /// The IO capability that the device reports during pairing, or `nil` if it has not paired.
    var io: IOCapability?
    /// Whether the key of the device's last pairing has MITM protection.
    var pairsAuthenticated = false
    /// Whether a client sent requests to the device on Enhanced ATT bearers (Core Specification, Vol 3, Part
    /// G, 5.4).
    var usesEnhancedATT = false
    var linkCount = 0
    /// The ATT_MTU that the device offered, or `nil` if no client requested an exchange.
    var offeredMTU: Int?
    /// The first connection parameters that the device requested, and the time from the connection to the
    /// request.
    var wantedParameters: (range: ConnectionParameterRange, delay: Int64)?
    /// The number of later requests with different connection parameters.
    var otherParametersCount = 0

    init(_ key: Key, _ server: ObservedServer = ObservedServer()) {
        self.key = key
        self.server = server
    }
}

/// Finds the devices of a capture: their attributes, values and advertising.
struct CaptureAnalysis {
    private struct LinkKey: Hashable {
        var source: Int
        var handle: ConnectionHandle
    }

    private struct Link {
        /// The number of the link in the capture.
        var number: Int
        var peer: ObservedDevice.Key
        /// The peripheral.
        var device: ObservedDevice.Key
        /// The time at which the link was established, or `nil` if that was before the capture.
        var start: Int64?
        /// The identifier of the pending request for Enhanced ATT channels.
        var enhancedRequest: UInt8?
        /// The last Pairing Request.
        var pairingRequest: [UInt8]?
        var fromHost = L2CAPReassembler()
        var fromController = L2CAPReassembler()
        /// The observer of the requests that the captured host sent.
        ///
        /// `asServer` is the observer of the requests that the host received.
        var asClient: ATTObserver
        var asServer: ATTObserver
    }

    private var links: [LinkKey: Link] = [:]
    private var linkCount = 0
    private var hosts: [Int: HostAdvertising] = [:]
    private var assemblers: [Int: ReportAssembler] = [:]
    private var trains = ReceivedTrains()
    private var found: [ObservedDevice.Key: ObservedDevice] = [:]
    /// The order in which devices were found.
    private var order: [ObservedDevice.Key] = []
    private var warnings: [String] = []
    /// The maximum length of one device's recording, in bytes, or `nil` for a capture file.
    ///
    /// The recording of a capture file is shortened when it is written.
    private let byteLimit: Int?

    /// Makes an empty analysis; `byteLimit` is for a live capture, which may never end.
    init(byteLimit: Int? = nil) {
        self.byteLimit = byteLimit
    }

    /// The devices in the order in which they were found.
    var devices: [ObservedDevice] {
        order.compactMap { key in
            guard var device = found[key] else { return nil }
            device.server = device.server.settled()
            return device
        }
    }

    /// Notes about what was observed of no device, as sentences without a full stop.
    var notes: [String] {
        guard trains.strayCount > 0 else { return [] }
        let reports = trains.strayCount.counting("report")
        return [
            """
            \(reports) of periodic advertising \(trains.strayCount == 1 ? "is" : "are") left out: the \
            capture does not show which device sent \(trains.strayCount == 1 ? "it" : "them")
            """
        ]
    }

    /// Returns the warnings since the last call, as sentences without a full stop.
    mutating func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    mutating func add(_ captured: CapturedPacket) {
        let packet = captured.packet
        switch packet.type {
        case .command:
            if let command = HCICommand(packet.body) { note(command, captured.source, captured.time) }
        case .event:
            if let event = HCIEvent(packet.body) { note(event, captured.source, captured.time) }
        case .aclData: takeData(captured)
        case .synchronousData, .isochronousData: break
        }
    }

    private mutating func change(
        _ key: ObservedDevice.Key, _ body: (inout ObservedDevice) -> Void
    ) {
        if found[key] == nil { order.append(key) }
        body(&found[key, default: ObservedDevice(key, ObservedServer(byteLimit: byteLimit))])
    }

    // MARK: Commands and events

    private mutating func note(_ command: HCICommand, _ source: Int, _ time: Int64) {
        switch command.opcode {
        // A reset ends all links of the host.
        case .reset:
            for key in Array(links.keys) where key.source == source { links[key] = nil }
            hosts[source] = nil
            assemblers[source] = nil
            trains.reset(source)
        case .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
            .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
            .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingParametersV2,
            .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable:
            var host = hosts[source] ?? HostAdvertising()
            var advertising = found[.local(source: source)]?.advertising ?? ObservedSets()
            host.apply(command, at: time, &advertising)
            hosts[source] = host
            if !advertising.isEmpty {
                change(.local(source: source)) { $0.advertising = advertising }
            }
        default: break
        }
    }

    private mutating func note(_ event: HCIEvent, _ source: Int, _ time: Int64) {
        var event = event
        // LE Enhanced Connection Complete [v2] is longer (Core Specification, Vol 4, Part E, 7.7.65.10).
        if event.code == HCIEvent.leMeta, event.parameters.first == 0x29 {
            event.parameters[0] = HCIEvent.LESubevent.enhancedConnectionComplete
        }
        let isOfSubevent: Bool
        (event, isOfSubevent) = ReceivedTrains.firstVersion(of: event)
        switch HCIEventContent(event) {
        case .connectionComplete(let status, let connection) where status == .success:
            if connection.role == .peripheral { hosts[source]?.legacyEnded() }
            addConnection(connection, source, time)
        case .disconnectionComplete(let status, let handle, _) where status == .success:
            links[LinkKey(source: source, handle: handle)] = nil
        case .encryptionChange(let status, let handle, let isOn) where status == .success:
            links[LinkKey(source: source, handle: handle)]?.asClient.isEncrypted = isOn
            links[LinkKey(source: source, handle: handle)]?.asServer.isEncrypted = isOn
            guard isOn, let link = links[LinkKey(source: source, handle: handle)] else { return }
            change(link.device) { $0.server.encryptLink(link.number) }
        case .advertisingSetTerminated(_, let set, _): hosts[source]?.ended(set)
        case .advertisingReports(let reports):
            for report in reports {
                // A fragmented report is complete with its last fragment.
                let whole = assemblers[source, default: ReportAssembler()].add(report)
                if let whole { note(whole, isComplete: report.progress == .complete, time) }
            }
        case .periodicSyncEstablished(let status, let sync) where status == .success:
            trains.begin(sync, source)
            change(.remote(sync.address)) {
                $0.advertising[.extended(identifier: sync.identifier)].noteTrain(sync)
            }
        case .periodicSyncLost(let handle): trains.end(handle, source)
        case .periodicReport(let report):
            guard let (sync, outcome) = trains.add(report, isOfSubevent: isOfSubevent, source) else { return }
            change(.remote(sync.address)) { device in
                let key = ObservedSets.Key.extended(identifier: sync.identifier)
                switch outcome {
                case .data(let data): device.advertising[key].train?.addData(data, at: time)
                case .incomplete: device.advertising[key].train?.incompleteCount += 1
                case .subevent: device.advertising[key].train?.subeventCount += 1
                }
            }
        default: break
        }
    }

    private mutating func note(_ report: ScanReport, isComplete: Bool, _ time: Int64) {
        guard report.kind != .directed else {
            // Directed advertising alone makes no device.
            found[.remote(report.address)]?.advertising.directedCount += 1
            return
        }
        let key: ObservedSets.Key = report.isExtended ? .extended(identifier: report.set) : .legacy
        change(.remote(report.address)) { device in
            if let interval = report.periodicInterval.map({ UInt16($0 / .microseconds(1250)) }) {
                device.advertising[key].noteTrain(interval...interval)
            }
            device.advertising[key].identifier = report.set
            if report.kind != .scanResponse {
                device.advertising[key].note(report.kind, Self.extended(report))
            }
            if !isComplete {
                device.advertising[key].incompleteCount += 1
            } else if report.kind == .scanResponse {
                device.advertising[key].addScanResponse(report.data, at: time)
            } else {
                device.advertising[key].hear(report.data, at: time)
            }
        }
    }

    private static func extended(_ report: ScanReport) -> Advertisement.Extended? {
        guard report.isExtended else { return nil }
        var extended = Advertisement.Extended()
        extended.secondaryPHY = report.secondaryPHY ?? .le1M
        extended.isPrimaryCoded = report.primaryPHY == .coded
        return extended
    }

    private mutating func addConnection(_ connection: LEConnection, _ source: Int, _ time: Int64) {
        let peer = ObservedDevice.Key.remote(connection.peer)
        let device: ObservedDevice.Key = connection.role == .central ? peer : .local(source: source)
        let key = LinkKey(source: source, handle: connection.handle)
        let link = open(key, peer, device)
        links[key]?.start = time
        change(device) { device in
            device.linkCount += 1
            device.server.beginLink(link, at: time)
        }
    }

    @discardableResult
    private mutating func open(
        _ key: LinkKey, _ peer: ObservedDevice.Key, _ device: ObservedDevice.Key
    ) -> Int {
        linkCount += 1
        links[key] = Link(
            number: linkCount, peer: peer, device: device, asClient: ATTObserver(link: linkCount),
            asServer: ATTObserver(link: linkCount))
        return linkCount
    }

    // MARK: Data

    private mutating func takeData(_ captured: CapturedPacket) {
        guard let (handle, boundary, data) = ACLPacket.parts(of: captured.packet.body) else { return }
        let key = LinkKey(source: captured.source, handle: handle)
        if links[key] == nil {
            let unnamed = ObservedDevice.Key.unnamed(source: captured.source, handle)
            open(key, unnamed, unnamed)
        }
        guard var link = links[key] else { return }
        // Removed so that the link is not held twice, and its buffers are not copied.
        links[key] = nil
        defer { links[key] = link }
        let frame =
            captured.isFromController
            ? link.fromController.add(data, boundary) : link.fromHost.add(data, boundary)
        guard let frame, let first = frame.payload.first else { return }
        switch frame.channel {
        case L2CAPFrame.Channel.attribute:
            // A client's PDU has an even opcode, and a server's an odd one.
            let isFromClient = first & 1 == 0
            let isLocalServer = isFromClient == captured.isFromController
            let device = isLocalServer ? .local(source: captured.source) : link.peer
            var limits: ArraySlice<ObservedServer.Limit> = []
            change(device) { device in
                let time = captured.time
                let known = device.server.limits.count
                defer { limits = device.server.limits[known...] }
                switch (isLocalServer, isFromClient) {
                case (false, true): link.asClient.client(frame.payload, at: time, &device.server)
                case (false, false): link.asClient.server(frame.payload, at: time, &device.server)
                case (true, true): link.asServer.client(frame.payload, at: time, &device.server)
                case (true, false): link.asServer.server(frame.payload, at: time, &device.server)
                }
                let client = isLocalServer ? link.asServer : link.asClient
                device.offeredMTU = client.offeredMTU ?? device.offeredMTU
            }
            warnings += limits.map(\.text)
            let mtu = isLocalServer ? link.asServer.mtu : link.asClient.mtu
            (link.asClient.mtu, link.asServer.mtu) = (mtu, mtu)
        case L2CAPFrame.Channel.signalling: takeSignal(frame.payload, captured.time, &link)
        case L2CAPFrame.Channel.securityManager:
            takePairing(
                frame.payload, captured.isFromController ? link.peer : .local(source: captured.source),
                &link)
        default: break
        }
    }

    /// Handles L2CAP signals about Enhanced ATT and connection parameters.
    ///
    /// L2CAP Credit Based Connection Request opens channels to the SPSM of Enhanced ATT. Its response has
    /// the result after three fields for the channels (Core Specification, Vol 3, Part A, 4.25 and 4.26).
    ///
    /// Only the peripheral sends a Connection Parameter Update Request (4.20).
    private mutating func takeSignal(_ pdu: [UInt8], _ time: Int64, _ link: inout Link) {
        guard pdu.count >= 12 else { return }
        switch pdu[0] {
        case 0x12:
            let numbers = stride(from: 4, to: 12, by: 2).map { UInt16(pdu[$0]) | UInt16(pdu[$0 + 1]) << 8 }
            let range = ConnectionParameterRange(
                minimum: numbers[0], maximum: numbers[1], latency: numbers[2], timeout: numbers[3])
            guard range.isValid else { return }
            let delay = max(0, time - (link.start ?? time))
            change(link.device) { device in
                if device.wantedParameters == nil {
                    device.wantedParameters = (range, delay)
                } else if device.wantedParameters?.range != range {
                    device.otherParametersCount += 1
                }
            }
        case 0x17 where pdu[4] == 0x27 && pdu[5] == 0x00: link.enhancedRequest = pdu[1]
        case 0x18 where pdu[1] == link.enhancedRequest:
            link.enhancedRequest = nil
            if pdu[10] == 0x00, pdu[11] == 0x00 { change(link.device) { $0.usesEnhancedATT = true } }
        default: break
        }
    }

    /// Handles a Pairing Request of the central or a Pairing Response of the peripheral (Core Specification,
    /// Vol 3, Part H, 3.5.1 and 3.5.2).
    private mutating func takePairing(_ pdu: [UInt8], _ sender: ObservedDevice.Key, _ link: inout Link) {
        guard pdu.count == 7 else { return }
        if pdu[0] == 0x01 { link.pairingRequest = pdu }
        guard pdu[0] == 0x02 else { return }
        let isAuthenticated = Self.isAuthenticated(link.pairingRequest, pdu)
        change(sender) { device in
            device.io = IOCapability(code: pdu[1])
            device.pairsAuthenticated = isAuthenticated
        }
    }

    /// Whether a pairing has MITM protection, according to its request and response (2.3.5.1).
    ///
    /// If the capture lacks the request, only the device's response is used.
    private static func isAuthenticated(_ request: [UInt8]?, _ response: [UInt8]) -> Bool {
        guard let request else { return response[3] & 0x04 != 0 }
        guard (request[3] | response[3]) & 0x04 != 0, let initiator = IOCapability(code: request[1]),
            let responder = IOCapability(code: response[1])
        else { return false }
        return PairingMethod.of(
            initiator: initiator, responder: responder,
            isSecureConnections: request[3] & response[3] & 0x08 != 0
        ).isAuthenticated
    }
}
