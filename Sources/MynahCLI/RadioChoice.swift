import ArgumentParser
import MynahCore
import MynahHCI
import MynahSupport

/// What `--radio` may say to commands that use one.
enum RadioChoice: Equatable, Sendable {
    /// BlueZ where there is an adapter, else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Our own host on a virtual controller; all processes of this user are on one air.
    case virtual
    /// Our own host on the controller behind this transport.
    case hci(HCITransportAddress)

    /// Whether BlueZ's adapters may play it.
    var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The choices, as a shell completes them.
    static let completion = CompletionKind.list(words + HCITransportAddress.forms.map { "hci:\($0)" })

    private static let words = ["auto", "bluez", "virtual"]

    /// The choice that is written like this; a word that is none is told with the near one.
    static func parse(_ text: String) throws -> RadioChoice {
        switch text {
        case "auto": return .auto
        case "bluez": return .bluez
        case "virtual": return .virtual
        default: break
        }
        if text.hasPrefix("hci:") {
            do throws(RadioError) {
                return .hci(try HCITransportAddress(parsing: String(text.dropFirst(4))))
            } catch {
                throw ValidationError("\(error)")
            }
        }
        let near = NearestName.of(text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ValidationError("it is one of \(words.joined(separator: ", ")) and hci:TRANSPORT\(near)")
    }
}
