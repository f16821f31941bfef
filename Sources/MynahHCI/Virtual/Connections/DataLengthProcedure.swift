import MynahSupport

/// The data length update procedure of a connection (Core Specification, Vol 6, Part B, 5.1.9).
struct DataLengthProcedure: Sendable {
    /// The smallest data length: bytes in a PDU, and the time of a PDU in microseconds.
    static let shortest = (octets: UInt16(27), time: UInt16(328))
    /// The largest numbers of bytes and microseconds of a packet.
    static let longest = (octets: UInt16(251), time: UInt16(17040))

    /// The lengths that this side can receive and wants to send.
    private var own: DataLengths
    /// The lengths that are used in both directions.
    private var used = DataLengths(
        receivedOctets: Self.shortest.octets, receivedTime: Self.shortest.time,
        sentOctets: Self.shortest.octets, sentTime: Self.shortest.time)
    /// The largest number of bytes in a PDU of the peer.
    var receivedOctets: UInt16 { used.receivedOctets }

    init(sentOctets: UInt16, sentTime: UInt16) {
        own = DataLengths(
            receivedOctets: Self.longest.octets, receivedTime: Self.longest.time, sentOctets: sentOctets,
            sentTime: sentTime)
    }

    /// Whether the specification allows these lengths.
    static func isValid(octets: UInt16, time: UInt16) -> Bool {
        (shortest.octets...longest.octets).contains(octets) && (shortest.time...longest.time).contains(time)
    }

    /// Begins the procedure for a new connection, if this side wants PDUs longer than `shortest`.
    func begin(_ actions: inout [ConnectionAction]) {
        if own.sentOctets > Self.shortest.octets { actions.append(.begin(.lengthRequest(own))) }
    }

    /// Begins the procedure with the lengths that the host wants.
    mutating func begin(octets: UInt16, time: UInt16, _ actions: inout [ConnectionAction]) {
        own.sentOctets = octets
        own.sentTime = time
        actions.append(.begin(.lengthRequest(own)))
    }

    /// Handles the lengths that the peer can receive and wants to send.
    ///
    /// A request is answered, and a change of a length or a time is reported (Vol 4, Part E, 7.7.65.7).
    mutating func receive(
        _ lengths: DataLengths, isRequest: Bool, _ endpoints: ConnectionEndpoints,
        _ actions: inout [ConnectionAction]
    ) {
        if isRequest { actions.append(.send(.lengthResponse(own))) }
        let next = DataLengths(
            receivedOctets: max(Self.shortest.octets, min(own.receivedOctets, lengths.sentOctets)),
            receivedTime: max(Self.shortest.time, min(own.receivedTime, lengths.sentTime)),
            sentOctets: max(Self.shortest.octets, min(own.sentOctets, lengths.receivedOctets)),
            sentTime: max(Self.shortest.time, min(own.sentTime, lengths.receivedTime)))
        guard next != used else { return }
        used = next
        var writer = ByteWriter()
        writer.write(endpoints.handle)
        for value in [used.sentOctets, used.sentTime, used.receivedOctets, used.receivedTime] {
            writer.write(value)
        }
        actions.append(.reportLE(HCIEvent.LESubevent.dataLengthChange, writer.bytes))
    }
}
