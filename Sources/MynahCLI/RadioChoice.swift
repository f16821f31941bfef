import ArgumentParser
import MynahCore
import MynahHCI
import MynahSupport

/// The value of `--radio` in commands that use a radio.
enum RadioChoice: Equatable, Sendable {
    /// An adapter, else a live Android emulator, else the virtual radio.
    case auto
    /// bluetoothd, over D-Bus.
    case bluez
    /// Our own host on a virtual controller; all processes of this user are on one air.
    case virtual
    /// Our own host on a controller of an Android emulator's radio; `nil`: the instance that is found.
    case netsim(instance: Int?)
    /// Our own host on the controller that this transport reaches.
    case hci(HCITransportAddress)

    /// Whether BlueZ's adapters may play it.
    var usesAdapters: Bool { self == .auto || self == .bluez }

    /// The misuse of an option of BlueZ with another radio.
    static func isForBlueZ(_ option: String) -> String {
        "\(option) is for BlueZ, and --radio selects another radio"
    }

    private static let deviceWords = ["auto", "bluez", "virtual", "netsim"]
    private static let phoneWords = ["auto", "virtual", "netsim"]

    /// The transports that `hci:` takes, for a help text.
    static var transports: String { HCITransportAddress.forms.joined(separator: ", ") }

    /// The choices for a device, as a shell completes them.
    static let completion = completion(deviceWords)
    /// The choices for a phone, as a shell completes them.
    static let phoneCompletion = completion(phoneWords)

    private static func completion(_ words: [String]) -> CompletionKind {
        .list(words + ["netsim:instance=N"] + HCITransportAddress.forms.map { "hci:\($0)" })
    }

    /// Reads a choice for a device.
    static func parse(_ text: String) throws -> RadioChoice { try parse(text, deviceWords) }

    /// Reads a choice for a phone, which BlueZ does not serve.
    static func parseForPhone(_ text: String) throws -> RadioChoice {
        if text == "bluez" {
            throw ValidationError(
                "scan, connect and record do not use BlueZ; choose virtual, netsim or hci:TRANSPORT, "
                    + "as in hci:user:0"
            )
        }
        return try parse(text, phoneWords)
    }

    private static func parse(_ text: String, _ words: [String]) throws -> RadioChoice {
        switch text {
        case "auto": return .auto
        case "bluez": return .bluez
        case "virtual": return .virtual
        case "netsim": return .netsim(instance: nil)
        default: break
        }
        if text.hasPrefix("netsim:") {
            let numbers = NetsimEnvironment.instances
            guard text.hasPrefix("netsim:instance="), let instance = Int(text.dropFirst(16)),
                numbers.contains(instance)
            else {
                throw ValidationError(
                    "write netsim:instance=N with N from \(numbers.lowerBound) to \(numbers.upperBound)")
            }
            return .netsim(instance: instance)
        }
        if text.hasPrefix("hci:") {
            do throws(RadioError) {
                return .hci(try HCITransportAddress(parsing: String(text.dropFirst(4))))
            } catch {
                throw ValidationError("\(error)")
            }
        }
        let near = NearestName.of(text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        throw ValidationError("expected one of \(words.joined(separator: ", ")) and hci:TRANSPORT\(near)")
    }
}
