/// The airtime of packets (Core Specification, Vol 6, Part B, 2.1 and 2.2), in microseconds.
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

    /// The longest payload of an advertising PDU, in bytes (2.3.4).
    private static let longestPayload = 255
    /// The lengths of fields of the extended header, with the byte of its flags (2.3.4).
    private enum FieldLength {
        static let flags = 1
        static let address = 6
        static let dataInfo = 2
        static let pointer = 3
        static let syncInfo = 18
    }

    /// Returns the airtime of an event of extended advertising.
    ///
    /// This is ADV_EXT_IND on each of three channels, then AUX_ADV_IND and its chain, and one T_IFS if
    /// others may answer.
    static func extendedEvent(
        dataLength: Int, _ phys: Advertisement.Extended, isAnswered: Bool, hasTrain: Bool
    ) -> Int {
        let announcement = 1 + FieldLength.flags + FieldLength.dataInfo + FieldLength.pointer
        let header =
            FieldLength.flags + FieldLength.address + FieldLength.dataInfo
            + (hasTrain ? FieldLength.syncInfo : 0)
        return 3 * advertisingPDU(announcement, phys.isPrimaryCoded ? .coded : .le1M)
            + chain(
                dataLength, header: header, next: FieldLength.flags + FieldLength.dataInfo, phys.secondaryPHY)
            + (isAnswered ? interFrameSpace : 0)
    }

    /// Returns the airtime of a periodic advertising event: AUX_SYNC_IND and its chain, which nobody answers.
    static func periodicEvent(dataLength: Int, _ phy: AdvertisingPHY) -> Int {
        chain(dataLength, header: FieldLength.flags, next: FieldLength.flags, phy)
    }

    /// Returns the airtime of PDUs for data that may need several of them.
    ///
    /// `header` is the length of the first PDU's extended header, and `next` that of the others, without a
    /// pointer to another PDU.
    private static func chain(_ dataLength: Int, header: Int, next: Int, _ phy: AdvertisingPHY) -> Int {
        var (rest, header, airtime) = (dataLength, header, 0)
        while true {
            let room = longestPayload - 1 - header
            guard rest > room else { return airtime + advertisingPDU(1 + header + rest, phy) }
            airtime += advertisingPDU(longestPayload, phy)
            rest -= room - FieldLength.pointer
            header = next
        }
    }

    /// Returns the airtime of an advertising PDU with a payload of `length` bytes.
    private static func advertisingPDU(_ length: Int, _ phy: AdvertisingPHY) -> Int {
        switch phy {
        case .le1M: emptyPDU + 8 * length
        // The preamble has two bytes, and a byte takes 4 µs (2.1).
        case .le2M: 4 * (2 + 4 + 2 + length + 3)
        // The preamble, the access address, CI and TERM1; then a byte takes 64 µs with S=8, and TERM2 (2.2).
        case .coded: 80 + 256 + 16 + 24 + 64 * (2 + length + 3) + 24
        }
    }
}

/// Measures the use of one link: data PDUs are counted, and connection events are computed.
///
/// The number of connection events follows from the interval and the time. This is a state machine without
/// I/O; times are measured from any fixed time. In each connection event, the central and the peripheral each
/// send at least one PDU, which is empty if there is no data (Vol 6, Part B, 4.5.1). The PDUs are assumed to
/// need as few pairs of packets as possible. A peripheral is assumed to skip as many events as its latency
/// allows.
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

    /// Returns the use so far; the airtime is zero if the connection interval is not known.
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

/// Measures the use of a controller's advertising and scanning, and collects the use of its links.
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
            /// The PHYs of extended advertising, or `nil` for legacy advertising.
            package var extended: Advertisement.Extended?
            /// Whether centrals or scanners can answer the PDU with the data of an extended set.
            package var isAnswered = false
            /// The periodic advertising of the set, or `nil` if it has none.
            package var train: Train?

            /// Makes an advertising set, by default of legacy advertising.
            package init(interval: Duration, dataLength: Int) {
                self.interval = interval
                self.dataLength = dataLength
            }

            /// The airtime of an advertising event, in microseconds.
            fileprivate var airtime: Int {
                guard let extended else { return PacketTime.advertisingEvent(dataLength: dataLength) }
                return PacketTime.extendedEvent(
                    dataLength: dataLength, extended, isAnswered: isAnswered, hasTrain: train != nil)
            }
        }

        /// A periodic advertising train.
        package struct Train: Hashable, Sendable {
            /// The interval, which has no random delay.
            package var interval: Duration
            /// The length of the periodic advertising data, in bytes.
            package var dataLength: Int

            /// Makes a train.
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
    /// The number of ended links whose use is still reported for each link (`RadioUse.links`).
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
            use.advertising.advertisingEvents += events
            use.advertising.airtime += .microseconds(events * Double(advertising.airtime))
            guard let train = advertising.train, let phys = advertising.extended else { continue }
            let each = PacketTime.periodicEvent(dataLength: train.dataLength, phys.secondaryPHY)
            use.advertising.airtime += .microseconds(elapsed / train.interval * Double(each))
        }
        use.scanning.scanning += elapsed * min(1, activity.scanning)
        use.initiating.scanning += elapsed * min(1, activity.initiating)
        return use
    }
}
