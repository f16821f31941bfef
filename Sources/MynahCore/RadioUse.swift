/// A use of the air, in the quantities that drain a battery.
package struct AirUse: Hashable, Sendable {
    /// How many advertising events were sent; a fraction is one that is due.
    package var advertisingEvents = 0.0
    /// How long the receiver listened for advertising.
    package var scanning = Duration.zero
    /// How long links lasted.
    package var linked = Duration.zero
    /// The data PDUs that links sent, without empty ones.
    package var packetsSent = 0
    /// The data PDUs that links received, without empty ones.
    package var packetsReceived = 0
    /// How long packets and the T_IFS between them took on the air.
    package var airtime = Duration.zero

    /// No use.
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

    /// The use since an earlier total.
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

/// The airtime and packets that a radio has used so far, as totals that only grow.
public struct RadioUse: Hashable, Sendable {
    /// The airtime of advertising.
    package var advertising = AirUse()
    /// The airtime of the scan.
    package var scanning = AirUse()
    /// The airtime of listening for devices that the radio is about to connect to.
    package var initiating = AirUse()
    /// Each link that lasts, and those of the last 64 ends: an app that held one is told of the end later.
    package var links: [Peer.ID: AirUse] = [:]
    /// The links that ended before those, together.
    package var formerLinks = AirUse()
    /// `true` if the numbers are estimates, because the controller is real.
    package var isEstimated = false
    /// `true` if the radio knows the packets on its links.
    ///
    /// If not, packets and airtime are missing.
    package var knowsPackets = true

    /// No use.
    package init() {}

    /// All links that there have been, together.
    package var allLinks: AirUse { links.values.reduce(formerLinks, +) }
}
