import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// The questions of pairing: at most one for each device, and one for each peripheral of a phone.
struct ScreenQuestions: Sendable {
    private struct Question {
        var device: String
        /// The identifier of the peripheral that a phone pairs with, or `nil` if a central pairs with the
        /// device.
        var peripheral: BluetoothUUID?
        /// Whether the user types the answer on this terminal.
        var isTyped: Bool
        var text: String
    }

    private var questions: [Question] = []

    /// The lines of the questions; questions with a typed answer come last, because the digits follow them.
    var lines: [String] { (questions.filter { !$0.isTyped } + questions.filter(\.isTyped)).map(\.text) }

    mutating func note(_ event: DeviceEvent) {
        let device = event.device ?? ""
        let peripheral = event.payload.peripheral?.identifier
        switch (event.name, event.payload) {
        case (.pairingPasskey, .pairing(let pairing)):
            remove(device, peripheral)
            guard let text = Self.text(pairing) else { return }
            questions.append(
                Question(
                    device: device, peripheral: peripheral, isTyped: pairing.step == .enter, text: text))
        case (.paired, _), (.centralDisconnected, _), (.peripheralDisconnected, _),
            (.peripheralFailedToConnect, _):
            remove(device, peripheral)
        case (.warning, .notice(let notice))
        where ["pairingFailed", "weakerPairingRefused"].contains(notice.code):
            // The warning does not name the peer: if a phone pairs with several, it may be about any of them.
            if questions.count(where: { $0.device == device }) == 1 {
                questions.removeAll { $0.device == device }
            }
        case (.radioLost, _):
            questions.removeAll { $0.device == device }
        case (_, .state(let state)) where state != .poweredOn:
            questions.removeAll { $0.device == device }
        default: break
        }
    }

    /// Removes a question.
    ///
    /// A peripheral's identifier is enough to find a question. The device name is no help: an event of a
    /// phone has the names of all its apps, and an event of an app has one name. A central's address is not
    /// compared, because pairing replaces it by the identity address.
    private mutating func remove(_ device: String, _ peripheral: BluetoothUUID?) {
        questions.removeAll { $0.peripheral == peripheral && (peripheral != nil || $0.device == device) }
    }

    /// The text of a question, or `nil` if the pairing asks the user nothing.
    private static func text(_ pairing: EventPayload.Pairing) -> String? {
        let peripheral = pairing.peripheral
        let other =
            peripheral.identifier == nil
            ? "the phone" : PrintableText.of(peripheral.title ?? "the device")
        return switch (pairing.step, pairing.passkey) {
        case (.display?, let number?): "type \(number) on \(other)"
        case (.compare?, let number?): "compare \(number) with \(other); Mynah accepts it"
        case (.enter?, _) where pairing.isEntered == false: "type the number \(other) shows, then Enter:"
        default: nil
        }
    }
}
