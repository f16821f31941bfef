/// Which bluetoothd, as far as its behaviour differs.
public struct BlueZVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number before the point.
    public var major: Int
    /// The number behind it.
    public var minor: Int

    /// A version.
    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// `5.66`, as `bluetoothd -v` prints it; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1].prefix { $0.isNumber })
        else {
            return nil
        }
        self.init(major, minor)
    }

    /// `5.66` in an adapter's `usb:v1D6Bp0246d0542`, as bluetoothd calls itself unless its configuration says otherwise.
    init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        guard modalias.hasPrefix(prefix), let code = UInt16(modalias.dropFirst(prefix.count), radix: 16)
        else { return nil }
        self.init(Int(code >> 8), Int(code & 0xFF))
    }

    /// The oldest that is known here, taken for granted where the version cannot be told.
    public static let oldest = BlueZVersion(5, 66)

    /// `5.66`.
    public var description: String { "\(major).\(minor)" }

    /// By major, then by minor number.
    public static func < (left: BlueZVersion, right: BlueZVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
