import MynahCore
import MynahDBus

/// The methods of Agent1 (doc/org.bluez.Agent1.rst), which bluetoothd calls during pairing.
enum AgentMethod: Int, Sendable {
    case release, requestPinCode, displayPinCode, requestPasskey, displayPasskey, requestConfirmation
    case requestAuthorization, authorizeService, cancel
}

/// A call of the pairing agent (org.bluez.Agent1), as the radio handles it.
enum AgentRequest: Hashable {
    /// The agent is being unregistered, which also happens before bluetoothd ends.
    case release
    /// The call needs no decision by the user, and is answered at once.
    case acknowledge
    /// A pairing step of the central whose Device1 has this path.
    ///
    /// `isAwaited` is `false` if bluetoothd needs no answer.
    case pairing(device: String, PairingStep, isAwaited: Bool)
    /// The call is refused.
    case reject

    /// Reads a call.
    init(_ method: AgentMethod, _ call: MethodCall) {
        var reader = call.reader()
        switch method {
        case .release: self = .release
        case .cancel, .authorizeService: self = .acknowledge
        // PIN codes belong to BR/EDR, which a peripheral does not use.
        case .requestPinCode, .displayPinCode: self = .reject
        case .displayPasskey:
            guard let path = try? reader.readObjectPath(), let number = try? reader.readUInt32(),
                let entered = try? reader.readUInt16()
            else {
                self = .acknowledge
                return
            }
            // bluetoothd repeats the call for each digit that is typed.
            self =
                entered == 0
                ? .pairing(device: path.string, .display(number), isAwaited: false) : .acknowledge
        case .requestPasskey, .requestAuthorization:
            guard let path = try? reader.readObjectPath() else {
                self = .reject
                return
            }
            let step: PairingStep = method == .requestPasskey ? .enter : .agree
            self = .pairing(device: path.string, step, isAwaited: true)
        case .requestConfirmation:
            guard let path = try? reader.readObjectPath(), let number = try? reader.readUInt32() else {
                self = .reject
                return
            }
            self = .pairing(device: path.string, .compare(number), isAwaited: true)
        }
    }

    /// Returns the path of the device in a call, or `nil` if the call names none.
    static func device(of call: MethodCall) -> String? {
        var reader = call.reader()
        return (try? reader.readObjectPath())?.string
    }

    /// Refuses a call.
    static func reject(_ call: MethodCall) {
        call.fail(DBusError("org.bluez.Error.Rejected", "refused"))
    }

    /// Answers a call for a pairing step with the answer of the sink.
    static func answer(_ call: MethodCall, _ step: PairingStep, _ answer: RadioAnswer) {
        let give: @Sendable (PairingAnswer?) -> Void = { answer in
            switch step.taking(answer) {
            case .agreed: call.reply()
            case .passkey(let number) where number <= 999_999: call.reply { $0.append(number) }
            case .passkey, .declined: reject(call)
            }
        }
        switch answer {
        case .none: give(nil)
        case .pairing(let answer): give(answer)
        case .pairingLater(let pending): pending.whenAnswered(give)
        // These are answers to requests, not to pairing steps.
        case .answer, .later: reject(call)
        }
    }
}
