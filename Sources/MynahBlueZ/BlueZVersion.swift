/// A version of bluetoothd.
package struct BlueZVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number before the point.
    package var major: Int
    /// The number after the point.
    package var minor: Int

    /// Makes a version.
    package init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Parses a version such as `5.66`, as `bluetoothd -v` prints it, or returns `nil` for other texts.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1].prefix { $0.isNumber })
        else {
            return nil
        }
        self.init(major, minor)
    }

    /// Parses the version in the modalias that bluetoothd sets by default, such as `usb:v1D6Bp0246d0542` for
    /// 5.66.
    init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        guard modalias.hasPrefix(prefix), let code = UInt16(modalias.dropFirst(prefix.count), radix: 16)
        else { return nil }
        self.init(Int(code >> 8), Int(code & 0xFF))
    }

    /// The oldest supported version, which is assumed if bluetoothd's version is not known.
    package static let oldest = BlueZVersion(5, 66)

    /// The version as text, such as `5.66`.
    package var description: String { "\(major).\(minor)" }

    /// Compares the major, then the minor numbers.
    package static func < (left: BlueZVersion, right: BlueZVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
