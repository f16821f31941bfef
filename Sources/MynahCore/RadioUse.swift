/// The use of a radio, in the quantities that determine its energy consumption.
package struct AirUse: Hashable, Sendable {
    /// The number of advertising events; a fraction is the elapsed part of the interval before the next
    /// event.
    package var advertisingEvents = 0.0
    /// The time for which the receiver listened for advertising.
    package var scanning = Duration.zero
    /// The total duration of links.
    package var linked = Duration.zero
    /// The number of data PDUs sent on links, without empty PDUs.
    package var packetsSent = 0
    /// The number of data PDUs received on links, without empty PDUs.
    package var packetsReceived = 0
    /// The airtime of packets, including the T_IFS between them.
    package var airtime = Duration.zero

    /// Makes a use in which all numbers are zero.
    package init() {}

    /// Returns the sum of two uses.
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

    /// Returns the difference of two totals.
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

/// The total use of a radio since it was created; the totals only increase.
public struct RadioUse: Hashable, Sendable {
    package var advertising = AirUse()
    package var scanning = AirUse()
    /// The use for listening as an initiator.
    package var initiating = AirUse()
    /// The use of each current link, and of the last 64 links that ended.
    ///
    /// Ended links are kept because the end of a link is reported to its app a little later.
    package var links: [Peer.ID: AirUse] = [:]
    /// The total use of all links that are not in `links`.
    package var formerLinks = AirUse()
    /// `true` if the numbers are estimates, because the controller is real and not simulated.
    package var isEstimated = false
    /// `true` if the radio counts the packets on its links.
    ///
    /// Otherwise, packets and airtime are missing.
    package var knowsPackets = true

    /// Makes a use in which all numbers are zero.
    package init() {}

    /// The total use of all links so far.
    package var allLinks: AirUse { links.values.reduce(formerLinks, +) }
}
