import ArgumentParser
import MynahSupport

/// What `--radio` may say to commands that use one.
enum RadioChoice: Equatable, Sendable {
    /// BlueZ where there is an adapter, else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Our own host on a virtual controller; all processes of this user are on one air.
    case virtual

    /// The choices, as a shell completes them.
    static let completion = CompletionKind.list(words)

    private static let words = ["auto", "bluez", "virtual"]

    /// The choice that is written like this; a word that is none is told with the near one.
    static func parse(_ text: String) throws -> RadioChoice {
        switch text {
        case "auto": return .auto
        case "bluez": return .bluez
        case "virtual": return .virtual
        default: break
        }
        let near = NearestName.of(text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ValidationError("it is one of \(words.joined(separator: ", "))\(near)")
    }
}
