import MynahCore
import MynahSupport

/// The reason that a device refuses a request of a test, as a sentence without its full stop.
package enum ControlRefusal: Error, Hashable, Sendable {
    /// No device, central or attribute has this name.
    case notFound(String)
    /// The state of the device or of its radio does not allow the request now.
    case conflict(String)
    /// The request is invalid in every state.
    case invalid(String)

    /// The refusal, as a sentence.
    package var message: String {
        switch self {
        case .notFound(let message), .conflict(let message), .invalid(let message): message
        }
    }

    /// Makes the refusal of an unknown name, which suggests the nearest known name or lists all known names.
    static func unknown(
        _ kind: String, _ name: String, of label: String, among names: [String]
    ) -> ControlRefusal {
        let near = NearestName.of(name, among: names).map { "; did you mean \"\($0)\"?" }
        let known = names.isEmpty ? "; it has none" : "; its \(kind)s are \(names.quoted)"
        return .notFound("\(label) has no \(kind) \"\(name)\"\(near ?? known)")
    }

    /// Converts an error of the radio.
    init(_ error: RadioError) {
        switch error.code {
        case .valueTooLong, .advertisementRefused: self = .invalid(error.description)
        default: self = .conflict(error.description)
        }
    }

    /// Runs a request to the phone or its radio, and converts its error to a refusal.
    static func attempt<Value>(
        _ body: () async throws(RadioError) -> Value
    ) async throws(ControlRefusal) -> Value {
        do throws(RadioError) {
            return try await body()
        } catch {
            throw ControlRefusal(error)
        }
    }
}
