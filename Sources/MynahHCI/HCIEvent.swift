import MynahCore
import MynahSupport

/// An event of a controller, as bytes (Core Specification, Vol 4, Part E, 5.4.4).
package struct HCIEvent: Hashable, Sendable {
    package var code: UInt8
    /// The event's parameters, at most 255 bytes.
    package var parameters: [UInt8]

    package init(_ code: UInt8, _ parameters: [UInt8]) {
        self.code = code
        self.parameters = parameters
    }

    /// Parses a packet's body; returns `nil` if its length is not the one in its header.
    package init?(_ body: [UInt8]) {
        var reader = ByteReader(body)
        guard let code = reader.readUInt8(), let length = reader.readUInt8(),
            let parameters = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        self.init(code, parameters)
    }

    /// Parses the body of a Number Of Completed Packets event.
    ///
    /// Returns `nil` for any other event, and if the length is wrong.
    package static func completedPackets(_ body: [UInt8]) -> [HCIEventContent.CompletedPackets]? {
        var reader = ByteReader(body)
        guard reader.readUInt8() == numberOfCompletedPackets, let length = reader.readUInt8(),
            reader.remaining == Int(length)
        else { return nil }
        return HCIEventContent.completedPackets(&reader)
    }

    /// The event as a packet.
    ///
    /// A program must not use more than 255 bytes of parameters; further bytes are cut off.
    package var packet: H4Packet {
        let count = min(parameters.count, 255)
        var body: [UInt8] = []
        body.reserveCapacity(2 + count)
        body.append(code)
        body.append(UInt8(count))
        body.append(contentsOf: parameters.prefix(count))
        return H4Packet(.event, body)
    }

    package static let disconnectionComplete: UInt8 = 0x05
    package static let encryptionChange: UInt8 = 0x08
    package static let readRemoteVersionInformationComplete: UInt8 = 0x0C
    package static let commandComplete: UInt8 = 0x0E
    package static let commandStatus: UInt8 = 0x0F
    package static let hardwareError: UInt8 = 0x10
    package static let numberOfCompletedPackets: UInt8 = 0x13
    package static let dataBufferOverflow: UInt8 = 0x1A
    package static let encryptionKeyRefreshComplete: UInt8 = 0x30
    package static let leMeta: UInt8 = 0x3E

    /// The subevent codes, which are the first parameter of an LE event (7.7.65).
    package enum LESubevent {
        package static let connectionComplete: UInt8 = 0x01
        package static let advertisingReport: UInt8 = 0x02
        package static let connectionUpdateComplete: UInt8 = 0x03
        package static let readRemoteFeaturesComplete: UInt8 = 0x04
        package static let longTermKeyRequest: UInt8 = 0x05
        package static let remoteConnectionParameterRequest: UInt8 = 0x06
        package static let dataLengthChange: UInt8 = 0x07
        package static let enhancedConnectionComplete: UInt8 = 0x0A
        package static let phyUpdateComplete: UInt8 = 0x0C
        package static let extendedAdvertisingReport: UInt8 = 0x0D
        package static let periodicSyncEstablished: UInt8 = 0x0E
        package static let periodicReport: UInt8 = 0x0F
        package static let periodicSyncLost: UInt8 = 0x10
        package static let scanTimeout: UInt8 = 0x11
        package static let advertisingSetTerminated: UInt8 = 0x12
        package static let scanRequestReceived: UInt8 = 0x13
    }
}

/// A decoded event, with the parameters that a host uses.
package enum HCIEventContent: Hashable, Sendable {
    case commandComplete(HCIOpcode, credits: Int, [UInt8])
    case commandStatus(HCIOpcode, credits: Int, HCIStatus)
    case disconnectionComplete(HCIStatus, handle: ConnectionHandle, reason: HCIStatus)
    case encryptionChange(HCIStatus, handle: ConnectionHandle, isOn: Bool)
    case encryptionKeyRefreshComplete(HCIStatus, handle: ConnectionHandle)
    /// Number Of Completed Packets, for each link.
    case completedPackets([CompletedPackets])
    case hardwareError(UInt8)
    case connectionComplete(HCIStatus, LEConnection)
    case connectionUpdateComplete(HCIStatus, handle: ConnectionHandle, LEConnection.Parameters)
    /// Remote Connection Parameter Request: the peer requests other connection parameters.
    case remoteParameterRequest(
        handle: ConnectionHandle, minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16)
    case longTermKeyRequest(handle: ConnectionHandle, random: [UInt8], diversifier: UInt16)
    case dataLengthChange(handle: ConnectionHandle, sent: Int, received: Int)
    /// Advertising Report or Extended Advertising Report.
    case advertisingReports([LEAdvertisingReport])
    case advertisingSetTerminated(HCIStatus, set: UInt8, handle: ConnectionHandle)
    case periodicSyncEstablished(HCIStatus, LEPeriodicSync)
    case periodicReport(LEPeriodicReport)
    case periodicSyncLost(handle: UInt16)
    case readRemoteFeaturesComplete(HCIStatus, handle: ConnectionHandle)
    /// An event that the host does not use.
    case other(UInt8)

    /// The number of completed packets of one link in a Number Of Completed Packets event.
    package struct CompletedPackets: Hashable, Sendable {
        /// The link.
        package var handle: ConnectionHandle
        /// The number of completed packets.
        package var count: Int

        /// Makes a number of completed packets of a link.
        package init(handle: ConnectionHandle, count: Int) {
            self.handle = handle
            self.count = count
        }
    }

    /// Decodes an event; returns `nil` if it is too short, or if a parameter is out of range.
    package init?(_ event: HCIEvent) {
        var reader = ByteReader(event.parameters)
        guard let content = Self.parse(event.code, &reader) else { return nil }
        self = content
    }

    private static func parse(_ code: UInt8, _ reader: inout ByteReader) -> HCIEventContent? {
        switch code {
        case HCIEvent.commandComplete:
            guard let credits = reader.readUInt8(), let opcode = reader.readUInt16() else { return nil }
            return .commandComplete(HCIOpcode(opcode), credits: Int(credits), reader.readRest())
        case HCIEvent.commandStatus:
            guard let status = reader.readUInt8(), let credits = reader.readUInt8(),
                let opcode = reader.readUInt16()
            else { return nil }
            return .commandStatus(HCIOpcode(opcode), credits: Int(credits), HCIStatus(status))
        case HCIEvent.disconnectionComplete:
            guard let status = reader.readUInt8(), let handle = reader.readConnectionHandle(),
                let reason = reader.readUInt8()
            else { return nil }
            return .disconnectionComplete(
                HCIStatus(status), handle: handle, reason: HCIStatus(reason))
        case HCIEvent.encryptionChange:
            guard let status = reader.readUInt8(), let handle = reader.readConnectionHandle(),
                let on = reader.readUInt8()
            else { return nil }
            return .encryptionChange(HCIStatus(status), handle: handle, isOn: on != 0)
        case HCIEvent.encryptionKeyRefreshComplete:
            guard let status = reader.readUInt8(), let handle = reader.readConnectionHandle() else {
                return nil
            }
            return .encryptionKeyRefreshComplete(HCIStatus(status), handle: handle)
        case HCIEvent.hardwareError:
            return reader.readUInt8().map { .hardwareError($0) }
        case HCIEvent.numberOfCompletedPackets:
            return completedPackets(&reader).map { .completedPackets($0) }
        case HCIEvent.leMeta:
            guard let subevent = reader.readUInt8() else { return nil }
            return parseLE(subevent, &reader)
        default:
            return .other(code)
        }
    }

    fileprivate static func completedPackets(_ reader: inout ByteReader) -> [CompletedPackets]? {
        guard let count = reader.readUInt8() else { return nil }
        var links: [CompletedPackets] = []
        for _ in 0..<count {
            guard let handle = reader.readConnectionHandle(), let done = reader.readUInt16() else {
                return nil
            }
            links.append(CompletedPackets(handle: handle, count: Int(done)))
        }
        return links
    }

    private static func parseLE(_ subevent: UInt8, _ reader: inout ByteReader) -> HCIEventContent? {
        switch subevent {
        case HCIEvent.LESubevent.connectionComplete, HCIEvent.LESubevent.enhancedConnectionComplete:
            guard let status = reader.readUInt8(),
                let link = LEConnection(
                    &reader, isEnhanced: subevent == HCIEvent.LESubevent.enhancedConnectionComplete)
            else { return nil }
            return .connectionComplete(HCIStatus(status), link)
        case HCIEvent.LESubevent.connectionUpdateComplete:
            guard let status = reader.readUInt8(), let handle = reader.readConnectionHandle(),
                let parameters = LEConnection.Parameters(&reader)
            else { return nil }
            return .connectionUpdateComplete(HCIStatus(status), handle: handle, parameters)
        case HCIEvent.LESubevent.remoteConnectionParameterRequest:
            guard let handle = reader.readConnectionHandle(), let minimum = reader.readUInt16(),
                let maximum = reader.readUInt16(), let latency = reader.readUInt16(),
                let timeout = reader.readUInt16()
            else { return nil }
            return .remoteParameterRequest(
                handle: handle, minimum: minimum, maximum: maximum, latency: latency, timeout: timeout
            )
        case HCIEvent.LESubevent.longTermKeyRequest:
            guard let handle = reader.readConnectionHandle(), let random = reader.readBytes(8),
                let diversifier = reader.readUInt16()
            else { return nil }
            return .longTermKeyRequest(handle: handle, random: random, diversifier: diversifier)
        case HCIEvent.LESubevent.dataLengthChange:
            guard let handle = reader.readConnectionHandle(), let sent = reader.readUInt16(),
                reader.readUInt16() != nil,
                let received = reader.readUInt16()
            else { return nil }
            return .dataLengthChange(handle: handle, sent: Int(sent), received: Int(received))
        case HCIEvent.LESubevent.advertisingReport:
            return LEAdvertisingReport.legacy(&reader).map { .advertisingReports($0) }
        case HCIEvent.LESubevent.extendedAdvertisingReport:
            return LEAdvertisingReport.extended(&reader).map { .advertisingReports($0) }
        case HCIEvent.LESubevent.advertisingSetTerminated:
            guard let status = reader.readUInt8(), let set = reader.readUInt8(),
                let handle = reader.readConnectionHandle()
            else { return nil }
            return .advertisingSetTerminated(HCIStatus(status), set: set, handle: handle)
        case HCIEvent.LESubevent.periodicSyncEstablished:
            guard let status = reader.readUInt8(), let sync = LEPeriodicSync(&reader) else { return nil }
            return .periodicSyncEstablished(HCIStatus(status), sync)
        case HCIEvent.LESubevent.periodicReport:
            return LEPeriodicReport(&reader).map { .periodicReport($0) }
        case HCIEvent.LESubevent.periodicSyncLost:
            return reader.readUInt16().map { .periodicSyncLost(handle: $0) }
        case HCIEvent.LESubevent.readRemoteFeaturesComplete:
            guard let status = reader.readUInt8(), let handle = reader.readConnectionHandle() else {
                return nil
            }
            return .readRemoteFeaturesComplete(HCIStatus(status), handle: handle)
        default:
            return .other(subevent)
        }
    }
}
