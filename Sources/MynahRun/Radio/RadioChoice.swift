import MynahCore
package import MynahHCI
import MynahSupport

/// The user's choice of a radio, as a value of `--radio`.
package enum RadioChoice: Equatable, Sendable {
    /// BlueZ if there is an adapter, or else a running Android emulator, or else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Mynah's own host on a virtual controller; all processes of the user share one simulated medium.
    case virtual
    /// Mynah's own host on a controller of an Android emulator's radio.
    ///
    /// `instance` is the number of the emulator's instance, or `nil` to search for one.
    case netsim(instance: Int?)
    /// Mynah's own host on the controller at a transport address.
    case hci(HCITransportAddress)

    /// Whether the choice may select BlueZ.
    package var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The error if `option`, which is only for BlueZ, is used with another radio.
    package static func isForBlueZ(_ option: String) -> String {
        "\(option) is for BlueZ, and --radio selects another radio"
    }

    /// The reason that a text is not a choice, as a sentence without its full stop.
    package struct Problem: Error, Hashable {
        package var message: String
    }

    /// Parses a choice; the error message lists `words` as the accepted words.
    package init(parsing text: String, among words: [String]) throws(Problem) {
        switch text {
        case "auto": self = .auto
        case "bluez": self = .bluez
        case "virtual": self = .virtual
        case "netsim": self = .netsim(instance: nil)
        case _ where text.hasPrefix("netsim:"):
            let numbers = NetsimEnvironment.instances
            guard text.hasPrefix("netsim:instance="), let instance = Int(text.dropFirst(16)),
                numbers.contains(instance)
            else {
                throw Problem(
                    message:
                        "write netsim:instance=N with N from \(numbers.lowerBound) to \(numbers.upperBound)"
                )
            }
            self = .netsim(instance: instance)
        case _ where text.hasPrefix("hci:"):
            do throws(RadioError) {
                self = .hci(try HCITransportAddress(parsing: String(text.dropFirst(4))))
            } catch {
                throw Problem(message: "\(error)")
            }
        default:
            let near = NearestName.of(text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
            throw Problem(
                message: "expected one of \(words.joined(separator: ", ")) and hci:TRANSPORT\(near)")
        }
    }
}
