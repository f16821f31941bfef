import MynahSupport

/// Types on keyboards, for tests.
struct TypingControl {
    let devices: PlayedDevices

    /// Types a text: presses and releases each key, with a gap after each report.
    ///
    /// Returns the number of keys at once; the reports are sent later.
    func type(_ text: String, every gap: Duration, on label: String) throws(ControlRefusal) -> Int {
        let player = try devices.player(named: label)
        let strokes: [KeyStroke]
        do throws(USKeyboard.Problem) {
            strokes = try USKeyboard.strokes(of: text)
        } catch {
            throw .invalid(error.message)
        }
        let outcome = player.sender.behaviors?.change(HIDDevice.self) { keyboard, service in
            let result = Result { () throws(HIDDevice.Refusal) in
                try keyboard.type(strokes, every: gap, service)
            }
            // A mouse may come before the keyboard.
            if case .failure(.isNoKeyboard) = result { return nil as Result<Void, HIDDevice.Refusal>? }
            return result
        }
        do throws(HIDDevice.Refusal) {
            try (outcome ?? .failure(.isNoKeyboard)).get()
        } catch {
            throw Self.refusal(error, of: label)
        }
        return strokes.count
    }

    private static func refusal(_ refusal: HIDDevice.Refusal, of label: String) -> ControlRefusal {
        switch refusal {
        case .isNoKeyboard:
            .conflict(
                "\(label) is no keyboard: its profile needs a service with use: hid-keyboard")
        case .hasNoHost:
            .conflict(
                """
                no central is subscribed to a report of \(label) that the keys go to; a host subscribes when \
                it has paired
                """)
        case .isTyping(let count):
            .conflict(
                """
                \(count) reports of \(label) wait to be sent, and there is no room for more; wait, or reset \
                its values
                """)
        }
    }
}
