import MynahSupport

/// Rules that keep a host on a socket from using up the time of the thread that serves all hosts.
///
/// A host sends one command, and waits for its answer (Core Specification, Vol 4, Part E, 4.4). It sends no
/// more data packets than the controller has room for (4.1.1). The limits are far above what the rules allow,
/// so that only a host that does not wait at all exceeds them.
struct HostRules: Sendable {
    /// The breach of a rule.
    enum Breach: Hashable, Sendable {
        /// The host sent more than `commandLimit` commands without waiting for an answer.
        case commands
        /// The host sent more than `dataLimit` data packets without waiting for a free buffer.
        case data
        /// The host sent an event, which only controllers send.
        case event

        /// The description of the breach, which follows the host's name in a message.
        var text: String {
            switch self {
            case .commands: "sent more than \(HostRules.commandLimit) commands without waiting for an answer"
            case .data: "sent more than \(HostRules.dataLimit) data packets without waiting for a free buffer"
            case .event: "sent an event, which only controllers send"
            }
        }

        /// The error code in the report.
        var reason: HCIStatus {
            switch self {
            case .commands, .data: .memoryCapacityExceeded
            case .event: .invalidCommandParameters
            }
        }
    }

    /// The maximum number of commands that a host may send without waiting for an answer.
    static let commandLimit = 64
    /// The maximum number of data packets that a host may send without waiting for a free buffer.
    static let dataLimit = 256

    private var commands = 0
    private var data = 0

    /// Checks the packets of one read; returns a broken rule, or `nil` if there is none.
    ///
    /// `isLast` is `true` if no more bytes were waiting. The host may then have waited for its answers, so
    /// the count of commands begins again.
    mutating func check(_ packets: [H4Packet], isLast: Bool) -> Breach? {
        for packet in packets {
            switch packet.type {
            case .command:
                commands += 1
                if commands > Self.commandLimit { return .commands }
            case .aclData, .synchronousData, .isochronousData:
                data += 1
                if data > Self.dataLimit { return .data }
            case .event: return .event
            }
        }
        if isLast { commands = 0 }
        return nil
    }

    /// Records a packet to the host; the packet may permit the host to send more data.
    mutating func note(_ packet: H4Packet) {
        guard data > 0, packet.type == .event, let code = packet.body.first else { return }
        switch code {
        case HCIEvent.numberOfCompletedPackets, HCIEvent.disconnectionComplete: data = 0
        case HCIEvent.leMeta:
            let opened = [
                HCIEvent.LESubevent.connectionComplete, HCIEvent.LESubevent.enhancedConnectionComplete,
            ]
            if packet.body.count > 2, opened.contains(packet.body[2]) { data = 0 }
        default: break
        }
    }
}
