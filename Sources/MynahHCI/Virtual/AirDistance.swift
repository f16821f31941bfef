import MynahSupport

/// The distance of a station from the other stations on its air.
///
/// Between two stations the greater distance applies, so it is enough to move an accessory and leave the
/// phone in its place.
public struct AirDistance: Hashable, Sendable, Comparable {
    /// The distance in centimetres, at least one.
    let centimetres: UInt32

    /// The longest distance, in centimetres: the circumference of the Earth, at which nothing is received.
    static let longest: UInt32 = 4_000_000_000
    /// One metre, the default distance.
    public static let usual = AirDistance(unchecked: 100)

    /// The distance in metres.
    public var metres: Double { Double(centimetres) / 100 }

    /// Makes a distance in metres, rounded to a centimetre.
    ///
    /// The result is `nil` if the number is negative, not a number, or over 40,000 km.
    public init?(metres: Double) {
        guard metres > 0, let centimetres = UInt32(exactly: max(1, (metres * 100).rounded())) else {
            return nil
        }
        self.init(centimetres: centimetres)
    }

    /// Makes a distance in centimetres, as sent between processes.
    ///
    /// The result is `nil` if the number is 0, or longer than `longest`.
    init?(centimetres: UInt32) {
        guard (1...Self.longest).contains(centimetres) else { return nil }
        self.init(unchecked: centimetres)
    }

    private init(unchecked centimetres: UInt32) {
        self.centimetres = centimetres
    }

    /// The path loss in dB: 40 dB over the first metre of free space at 2.4 GHz, and 20 dB more for ten times
    /// the distance.
    var pathLoss: Int {
        guard self != .usual else { return 40 }
        return 40 + Int((20 * PortableMath.log(max(metres, 0.1)) / PortableMath.log(10)).rounded())
    }

    /// Whether the first distance is shorter.
    public static func < (left: AirDistance, right: AirDistance) -> Bool {
        left.centimetres < right.centimetres
    }
}
