import MynahEmulator
import MynahSupport

/// The questions of pairing: one for each device, and one for each peripheral of a phone.
struct ScreenQuestions: Sendable {
    private struct Question {
        var device: String
        /// The UUID by which a phone knows the device that it pairs with; `nil` if the pairing is a
        /// central's.
        var peripheral: String?
        /// Whether digits are typed after it.
        var isTyped: Bool
        var text: String
    }

    private var questions: [Question] = []

    /// The question whose answer is typed is last: the digits follow it.
    var lines: [String] { (questions.filter { !$0.isTyped } + questions.filter(\.isTyped)).map(\.text) }

    mutating func take(_ event: DeviceEvent) {
        let device = event.string("device") ?? ""
        let peripheral = event.string("peripheral")
        switch event.name {
        case .pairingPasskey:
            remove(device, peripheral)
            guard let text = Self.text(event, isOfPhone: peripheral != nil) else { return }
            let isTyped = event.string("step") == "enter"
            questions.append(
                Question(device: device, peripheral: peripheral, isTyped: isTyped, text: text))
        case .paired, .centralDisconnected, .peripheralDisconnected, .peripheralFailedToConnect:
            remove(device, peripheral)
        case .warning where ["pairingFailed", "weakerPairingRefused"].contains(event.string("code")):
            // The warning has no field for the peer: if a phone pairs with several, it may be about any.
            if questions.count(where: { $0.device == device }) == 1 {
                questions.removeAll { $0.device == device }
            }
        case .radioLost:
            questions.removeAll { $0.device == device }
        case .stateChanged where event.string("state") != "poweredOn":
            questions.removeAll { $0.device == device }
        default: break
        }
    }

    /// A peripheral's UUID is enough: the phone's own events name all its apps, and an app's name one.
    ///
    /// A central's address is not compared: once paired, a central is called by its identity address.
    private mutating func remove(_ device: String, _ peripheral: String?) {
        questions.removeAll { $0.peripheral == peripheral && (peripheral != nil || $0.device == device) }
    }

    /// A phone's side has the device opposite, a device's side the phone.
    private static func text(_ event: DeviceEvent, isOfPhone: Bool) -> String? {
        let name = ["as", "name", "address"].lazy.compactMap { event.string($0) }.first
        let other = isOfPhone ? PrintableText.of(name ?? "the device") : "the phone"
        return switch (event.string("step"), event.string("passkey")) {
        case ("display", let number?): "type \(number) on \(other)"
        case ("compare", let number?): "compare \(number) with \(other); Mynah accepts it"
        case ("enter", _) where event["entered"] == .bool(false):
            "type the number \(other) shows, then Enter:"
        default: nil
        }
    }
}
