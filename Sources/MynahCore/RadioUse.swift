/// A use of the air, in the quantities that determine the energy that it takes.
package struct AirUse: Hashable, Sendable {
    /// The number of advertising events; a fraction belongs to an event that is not due yet.
    package var advertisingEvents = 0.0
    /// The time in which the receiver listened for advertising.
    package var scanning = Duration.zero
    /// The total duration of links.
    package var linked = Duration.zero
    /// The number of data PDUs sent on links, without empty ones.
    package var packetsSent = 0
    /// The number of data PDUs received on links, without empty ones.
    package var packetsReceived = 0
    /// The airtime of packets, including the T_IFS between them.
    package var airtime = Duration.zero

    /// Makes figures that are all zero.
    package init() {}

    /// Two uses together.
    package static func + (left: AirUse, right: AirUse) -> AirUse {
        var sum = left
        sum.advertisingEvents += right.advertisingEvents
        sum.scanning += right.scanning
        sum.linked += right.linked
        sum.packetsSent += right.packetsSent
        sum.packetsReceived += right.packetsReceived
        sum.airtime += right.airtime
        return sum
    }

    /// The difference of two totals.
    package static func - (left: AirUse, right: AirUse) -> AirUse {
        var rest = left
        rest.advertisingEvents -= right.advertisingEvents
        rest.scanning -= right.scanning
        rest.linked -= right.linked
        rest.packetsSent -= right.packetsSent
        rest.packetsReceived -= right.packetsReceived
        rest.airtime -= right.airtime
        return rest
    }
}

/// The airtime and packets that a radio has used so far; the totals only increase.
public struct RadioUse: Hashable, Sendable {
    /// The use for advertising.
    package var advertising = AirUse()
    /// The use for scanning.
    package var scanning = AirUse()
    /// The use for listening for devices to connect to.
    package var initiating = AirUse()
    /// The use of each current link, and of the last 64 that ended, because the end of a link is reported to
    /// its app a little later.
    package var links: [Peer.ID: AirUse] = [:]
    /// The total use of the links that ended before those.
    package var formerLinks = AirUse()
    /// `true` if the numbers are estimates, because the controller is not simulated.
    package var isEstimated = false
    /// `true` if the radio counts the packets on its links.
    ///
    /// Otherwise, packets and airtime are missing.
    package var knowsPackets = true

    /// Makes figures that are all zero.
    package init() {}

    /// The total use of all links so far.
    package var allLinks: AirUse { links.values.reduce(formerLinks, +) }
}
