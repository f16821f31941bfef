/// The airtime of packets on LE 1M (Core Specification, Vol 6, Part B, 2.1), in microseconds.
package enum PacketTime {
    /// The time between two packets of one event, T_IFS (Vol 6, Part B, 4.1.1).
    static let interFrameSpace = 150
    /// The airtime of an empty data PDU with preamble, access address, header and CRC, at 8 µs a byte.
    static let emptyPDU = 8 * (1 + 4 + 2 + 3)
    /// The airtime of the message integrity check of an encrypted data PDU (Vol 6, Part E, 1).
    static let messageIntegrityCheck = 8 * 4

    /// Returns the airtime of an advertising event.
    ///
    /// On each of three channels, this is the PDU and one T_IFS. Scan requests and scan responses are not
    /// included, because the host does not learn of them.
    static func advertisingEvent(dataLength: Int) -> Int {
        // The advertiser's address is before the data (2.3.1).
        3 * (emptyPDU + 8 * (6 + dataLength) + interFrameSpace)
    }
}

/// The use of one link: data PDUs are counted, and connection events are computed.
///
/// The number of connection events follows from the interval and the time. This is a state machine without
/// I/O; times are measured from any fixed time. In each connection event, the central and the peripheral
/// each send at least one PDU, which is empty if there is no data (Vol 6, Part B, 4.5.1). The PDUs are
/// assumed to need as few pairs of packets as possible. A peripheral is assumed to skip as many events as
/// its latency allows.
package struct LinkMeter: Hashable, Sendable {
    /// `true` if data PDUs have a message integrity check.
    package var isEncrypted = false
    /// The longest data PDU that is sent, in bytes (Vol 6, Part B, 4.5.10).
    private var sentLength = 27
    private var receivedLength = 27
    /// The time between two connection events in which the device takes part, or `nil` if it is not known.
    private var interval: Duration?
    /// The start of the link, or of its current interval.
    private var since: Duration
    /// The number of connection events before `since`.
    private var events = 0.0
    /// The duration of the link before `since`.
    private var linked = Duration.zero
    private var packetsSent = 0
    private var packetsReceived = 0
    /// The airtime of data PDUs so far, in microseconds.
    private var dataAirtime = 0

    /// Makes the meter of a new link.
    package init(interval: Duration? = nil, at now: Duration = .zero) {
        self.interval = Self.known(interval)
        since = now
    }

    /// Returns the interval, or `nil` if it is 0, which a controller reports for an unknown interval.
    private static func known(_ interval: Duration?) -> Duration? {
        interval.flatMap { $0 > .zero ? $0 : nil }
    }

    /// Sets a new connection interval; an unknown interval is ignored.
    package mutating func change(interval new: Duration, at now: Duration) {
        guard let new = Self.known(new) else { return }
        (events, linked) = (events(at: now), linked(at: now))
        (interval, since) = (new, now)
    }

    /// Sets the longest data PDUs that are sent and received, in bytes.
    package mutating func change(sentLength: Int, receivedLength: Int) {
        (self.sentLength, self.receivedLength) = (max(27, sentLength), max(27, receivedLength))
    }

    /// Counts the data PDUs of a sent L2CAP PDU, whose length is `count` bytes.
    package mutating func sent(_ count: Int) {
        let packets = (count + sentLength - 1) / sentLength
        packetsSent &+= packets
        add(packets, count)
    }

    /// Counts the data PDUs of a received L2CAP PDU, whose length is `count` bytes.
    package mutating func received(_ count: Int) {
        let packets = (count + receivedLength - 1) / receivedLength
        packetsReceived &+= packets
        add(packets, count)
    }

    private mutating func add(_ packets: Int, _ count: Int) {
        let each = PacketTime.emptyPDU + (isEncrypted ? PacketTime.messageIntegrityCheck : 0)
        dataAirtime &+= packets &* each &+ 8 &* count
    }

    private func events(at now: Duration) -> Double {
        interval.map { events + (now - since) / $0 } ?? events
    }

    private func linked(at now: Duration) -> Duration { linked + now - since }

    /// Returns the use so far; without a known connection interval, the airtime is missing.
    package func use(at now: Duration) -> AirUse {
        var use = AirUse()
        use.linked = linked(at: now)
        (use.packetsSent, use.packetsReceived) = (packetsSent, packetsReceived)
        guard interval != nil else { return use }
        let events = events(at: now)
        let pairs = max(events, Double(packetsSent), Double(packetsReceived))
        let empty = 2 * pairs - Double(packetsSent + packetsReceived)
        // There is a T_IFS between the two packets of a pair, and between the pairs of one event.
        let spaces = pairs + (pairs - events)
        use.airtime = .microseconds(
            Double(dataAirtime) + empty * Double(PacketTime.emptyPDU)
                + spaces * Double(PacketTime.interFrameSpace))
        return use
    }
}

/// The use of a controller's advertising and scanning, and the collected use of its links.
///
/// This is a state machine without I/O; times are measured from any fixed time.
package struct RadioMeter: Sendable {
    /// A controller's advertising and scanning.
    package struct Activity: Hashable, Sendable {
        /// An advertising set.
        package struct Advertising: Hashable, Sendable {
            /// The advertising interval, without the random delay.
            package var interval: Duration
            /// The length of the advertising data, in bytes.
            package var dataLength: Int

            /// Makes an advertising set.
            package init(interval: Duration, dataLength: Int) {
                self.interval = interval
                self.dataLength = dataLength
            }
        }

        /// The sets that are being advertised, except those whose interval is not known.
        package var advertising: [Advertising] = []
        /// The fraction of time in which the scanner listens: the scan window divided by the scan interval.
        package var scanning = 0.0
        /// The fraction of the time in which the radio listens as an initiator.
        package var initiating = 0.0

        /// Makes the activity of a radio that does nothing.
        package init() {}
    }

    /// The mean of the random delay of 0 to 10 ms that is added to each advertising interval (Vol 6, Part B,
    /// 4.4.2.2).
    private static let meanDelay = Duration.milliseconds(5)
    /// The number of ended links whose use is kept separately.
    ///
    /// The end of a link is reported to its app a little later than it is counted here.
    private static let endedLimit = 64

    private var activity = Activity()
    private var since = Duration.zero
    private var total = RadioUse()
    private var ended: [(link: Peer.ID, use: AirUse)] = []

    /// Makes a meter with no use.
    package init() {}

    /// Sets the activity of the controller from `now` on.
    package mutating func setActivity(_ new: Activity, at now: Duration) {
        guard new != activity else { return }
        total = beside(at: now)
        (activity, since) = (new, now)
    }

    /// Adds the total use of a link that has ended.
    package mutating func ended(_ link: Peer.ID, _ use: AirUse) {
        if ended.count == Self.endedLimit { total.formerLinks = total.formerLinks + ended.removeFirst().use }
        ended.append((link, use))
    }

    /// Returns the totals, including the use of the given current links.
    ///
    /// A peer that connects again may have the same identifier as before.
    package func use(of links: [(link: Peer.ID, use: AirUse)], at now: Duration) -> RadioUse {
        var use = beside(at: now)
        for (link, own) in ended + links {
            use.links[link] = use.links[link, default: AirUse()] + own
        }
        return use
    }

    private func beside(at now: Duration) -> RadioUse {
        var use = total
        let elapsed = now - since
        for advertising in activity.advertising {
            let events = elapsed / (advertising.interval + Self.meanDelay)
            let each = PacketTime.advertisingEvent(dataLength: advertising.dataLength)
            use.advertising.advertisingEvents += events
            use.advertising.airtime += .microseconds(events * Double(each))
        }
        use.scanning.scanning += elapsed * min(1, activity.scanning)
        use.initiating.scanning += elapsed * min(1, activity.initiating)
        return use
    }
}
