import ArgumentParser
import MynahCore
import MynahHCI
import MynahRun
import MynahSupport

// The form of `--radio`.
extension RadioChoice {
    private static let deviceWords = ["auto", "bluez", "virtual", "netsim"]
    private static let phoneWords = ["auto", "virtual", "netsim"]

    /// The transports that `hci:` supports, for a help text.
    static var transports: String { HCITransportAddress.forms.joined(separator: ", ") }

    /// The shell completion of the choices for a device.
    static let completion = completion(deviceWords)
    /// The shell completion of the choices for a phone.
    static let phoneCompletion = completion(phoneWords)

    private static func completion(_ words: [String]) -> CompletionKind {
        .list(words + ["netsim:instance=N"] + HCITransportAddress.forms.map { "hci:\($0)" })
    }

    /// The choice for a run with this `time`; with virtual time, `auto` selects the virtual radio.
    func chosen(in time: RunTime) -> RadioChoice {
        self == .auto && time.clock.virtual != nil ? .virtual : self
    }

    /// Parses a choice for a device.
    static func parse(_ text: String) throws -> RadioChoice { try parse(text, deviceWords) }

    /// Parses a choice for a phone, which BlueZ does not support.
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
        do throws(Problem) {
            return try RadioChoice(parsing: text, among: words)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
