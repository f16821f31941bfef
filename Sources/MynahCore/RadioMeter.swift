/// The time that packets take on LE 1M (Core Specification, Vol 6, Part B, 2.1), in microseconds.
package enum PacketTime {
    /// The time from the end of a packet to the beginning of the next one of the same event (4.1.1).
    static let interFrameSpace = 150
    /// An empty data PDU with preamble, access address, header and CRC, at 8 µs a byte.
    static let emptyPDU = 8 * (1 + 4 + 2 + 3)
    /// The message integrity check of an encrypted PDU with data (Vol 6, Part E, 1).
    static let messageIntegrityCheck = 8 * 4

    /// An advertising event: on each of three channels, the PDU and the T_IFS in which a request may come.
    ///
    /// A host does not know of requests and scan responses.
    static func advertisingEvent(dataLength: Int) -> Int {
        // The advertiser's address is before the data (2.3.1).
        3 * (emptyPDU + 8 * (6 + dataLength) + interFrameSpace)
    }
}

/// Measures one link: data PDUs are counted, and connection events are computed from the interval and the
/// time.
///
/// A state machine without I/O; times are measured from any fixed time. In each connection event, the central
/// and the peripheral each send at least one PDU, which is empty if there is no data (Vol 6, Part B, 4.5.1).
/// The PDUs are assumed to fill as few such pairs as possible. A peripheral is assumed to skip as many events
/// as its latency allows.
package struct LinkMeter: Hashable, Sendable {
    /// Whether data PDUs have a message integrity check.
    package var isEncrypted = false
    /// The largest length of sent data PDUs, in bytes (4.5.10).
    private var sentLength = 27
    private var receivedLength = 27
    /// The time between two connection events that the device attends, or `nil` if it is not known.
    private var interval: Duration?
    /// The time at which the link, or its current interval, began.
    private var since: Duration
    /// The number of connection events before `since`.
    private var events = 0.0
    /// The duration of the link before `since`.
    private var linked = Duration.zero
    private var packetsSent = 0
    private var packetsReceived = 0
    /// The airtime of data PDUs so far, in microseconds.
    private var dataAirtime = 0

    /// Makes the meter of a link that begins.
    package init(interval: Duration? = nil, at now: Duration = .zero) {
        self.interval = Self.known(interval)
        since = now
    }

    /// The interval, or `nil` for an interval of 0, which a controller reports if it does not know it.
    private static func known(_ interval: Duration?) -> Duration? {
        interval.flatMap { $0 > .zero ? $0 : nil }
    }

    /// Notes a new connection interval.
    ///
    /// If the interval is not known, the previous one is kept.
    package mutating func change(interval new: Duration, at now: Duration) {
        guard let new = Self.known(new) else { return }
        (events, linked) = (events(at: now), linked(at: now))
        (interval, since) = (new, now)
    }

    /// Notes new largest lengths of data PDUs.
    package mutating func change(sentLength: Int, receivedLength: Int) {
        (self.sentLength, self.receivedLength) = (max(27, sentLength), max(27, receivedLength))
    }

    /// Counts the bytes of an L2CAP PDU that was sent.
    package mutating func sent(_ count: Int) {
        let packets = (count + sentLength - 1) / sentLength
        packetsSent &+= packets
        add(packets, count)
    }

    /// Counts the bytes of an L2CAP PDU that was received.
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

    /// The use so far; the airtime is not known before a connection interval is.
    package func use(at now: Duration) -> AirUse {
        var use = AirUse()
        use.linked = linked(at: now)
        (use.packetsSent, use.packetsReceived) = (packetsSent, packetsReceived)
        guard interval != nil else { return use }
        let events = events(at: now)
        let pairs = max(events, Double(packetsSent), Double(packetsReceived))
        let empty = 2 * pairs - Double(packetsSent + packetsReceived)
        // Between the two of a pair, and between the pairs of one event.
        let spaces = pairs + (pairs - events)
        use.airtime = .microseconds(
            Double(dataAirtime) + empty * Double(PacketTime.emptyPDU)
                + spaces * Double(PacketTime.interFrameSpace))
        return use
    }
}

/// Measures a controller's advertising and scanning, and collects the use of its links.
///
/// A state machine without I/O; times are measured from any fixed time.
package struct RadioMeter: Sendable {
    /// A controller's advertising and scanning.
    package struct Activity: Hashable, Sendable {
        /// Advertising.
        package struct Advertising: Hashable, Sendable {
            /// The advertising interval, without the random delay.
            package var interval: Duration
            /// The number of bytes of the advertising data.
            package var dataLength: Int

            /// Makes the data of an advertising set.
            package init(interval: Duration, dataLength: Int) {
                self.interval = interval
                self.dataLength = dataLength
            }
        }

        /// The sets that are being advertised, without those whose interval is not known.
        package var advertising: [Advertising] = []
        /// The fraction of the time in which a scan listens: its window divided by its interval.
        package var scanning = 0.0
        /// The fraction of the time in which the radio listens as an initiator.
        package var initiating = 0.0

        /// Makes the data of a radio without activity.
        package init() {}
    }

    /// The mean of the random delay of 0 to 10 ms that is added to each advertising interval (Vol 6, Part B,
    /// 4.4.2.2).
    private static let meanDelay = Duration.milliseconds(5)
    /// The number of ended links that are kept separately, because the end of a link is reported to its app a
    /// little later.
    private static let endedLimit = 64

    private var activity = Activity()
    private var since = Duration.zero
    private var total = RadioUse()
    private var ended: [(link: Peer.ID, use: AirUse)] = []

    /// Makes a meter that has not measured anything yet.
    package init() {}

    /// Sets the activity of the controller for the time from `now` on.
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

    /// The totals, including the use of the current links.
    ///
    /// A peer that connects again may have the identifier of its former link.
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
