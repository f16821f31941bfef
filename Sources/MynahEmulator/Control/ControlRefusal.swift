import MynahCore
import MynahSupport

/// Why a request of a test to a playing device is refused, as a sentence without its full stop.
package enum ControlRefusal: Error, Hashable, Sendable {
    /// There is no such device, central or attribute.
    case notFound(String)
    /// The device's state, or its radio, does not allow it now.
    case conflict(String)
    /// The request is wrong in any state.
    case invalid(String)

    /// The sentence.
    package var message: String {
        switch self {
        case .notFound(let message), .conflict(let message), .invalid(let message): message
        }
    }

    /// The refusal of a name that a device does not have, with the nearest one or all that it has.
    static func unknown(
        _ kind: String, _ name: String, of label: String, among names: [String]
    ) -> ControlRefusal {
        let near = NearestName.of(name, among: names).map { "; did you mean \"\($0)\"?" }
        let known = names.isEmpty ? "; it has none" : "; its \(kind)s are \(names.quoted)"
        return .notFound("\(label) has no \(kind) \"\(name)\"\(near ?? known)")
    }

    /// The refusal for an error of the radio.
    init(_ error: RadioError) {
        switch error.code {
        case .valueTooLong, .advertisementRefused: self = .invalid(error.description)
        default: self = .conflict(error.description)
        }
    }

    /// Asks the phone or its radio for something, which it may refuse.
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
