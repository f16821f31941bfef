import MynahCore
import MynahLifecycle
import MynahProfiles
import MynahSupport

// Matches that no event can satisfy.
extension EventMatch {
    /// The reason that no event can satisfy the match, or `nil` if an event can.
    ///
    /// The match names a field that the event never has, or a word that the field never has.
    package var problem: Problem? { unknownField ?? unknownWord ?? unknownAttribute }

    private var unknownAttribute: Problem? {
        for case .equal(let key, let text) in conditions {
            guard ["service", "characteristic", "descriptor"].contains(key), Self.uuid(text, key) == nil
            else {
                continue
            }
            return Problem(message: "\"\(text)\" is neither a UUID nor the SIG's name of a \(key)")
        }
        return nil
    }

    private var unknownWord: Problem? {
        for case .equal(let key, let word) in conditions {
            guard let words = Self.words(of: key, in: name), !words.contains(word) else { continue }
            let hint =
                NearestName.of(word, among: words).map { "did you mean \"\($0)\"?" }
                ?? "it is one of \(words.joined(separator: ", "))"
            return Problem(message: "\(name.rawValue) has no \(key) \"\(word)\"; \(hint)")
        }
        return nil
    }

    /// The words that a field of an event may have, or `nil` if it may have any value.
    private static func words(of key: String, in name: DeviceEvent.Name) -> [String]? {
        switch (name, key) {
        case (.appTerminated, "reason"): TerminationReason.allCases.map(\.rawValue)
        case (.appWoken, "by"): BluetoothEvent.allCases.map(\.rawValue)
        case (.appExtraneous, "by"): ExtraneousWork.allCases.map(\.rawValue)
        case (.appAuthorization, "authorization"): BluetoothAuthorization.allCases.map(\.rawValue)
        case (.appNotRelaunched, "by"): RelaunchCause.allCases.map(\.rawValue)
        case (.appRestored, "role"): BluetoothRole.allCases.map(\.rawValue)
        case (.phoneChanged, "by"): PhoneChange.allCases.map(\.rawValue)
        case (.requestRefused, "because"): RefusedRequest.Reason.allCases.map(\.rawValue)
        case (.requestRefused, "by"), (.requestAsked, "by"), (.requestUnanswered, "by"):
            [RefusedRequest.Access.read, .write].map(\.rawValue)
        case (.subscribed, "delivery"): [Delivery.notification, .indication].map(\.rawValue)
        case (_, "queued"), (_, "withResponse"), (_, "inBackground"), (_, "isReconnecting"):
            ["true", "false"]
        default: nil
        }
    }
}
