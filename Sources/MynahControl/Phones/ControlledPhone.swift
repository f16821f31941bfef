package import MynahCore
package import MynahEmulator
import MynahSupport

/// The settings of a phone that a test makes.
package struct PhoneSettings: Sendable {
    /// The name in events, and the GAP device name.
    package var name = "Phone"
    /// The radio, as an option of `--radio`, or `nil` for that of the run.
    package var radio: String?
    /// The address: `identity`, `private`, or a static random address.
    package var address = "identity"
    /// The IO capability for pairing.
    package var io = IOCapability.noInputNoOutput
    /// The name of the folder for bonds below the run's state directory, or `nil` to keep them in memory.
    package var stateDirectory: String?
    /// Whether indications are confirmed.
    package var confirms = true
    /// The answers to the questions of pairings.
    package var pairing = PairingWish()
    /// The name in `hold` of the event streams whose end removes the phone.
    ///
    /// The phone is removed when the last stream with this name ends, or only by a request if this is `nil`.
    package var holder: String?

    /// Makes the default settings.
    package init() {}

    /// The words that `address` may have instead of a static random address.
    package static let addressWords = ["identity", "private"]
}

/// A phone in the central role that the API controls.
package protocol ControlledPhone: Sendable {
    /// The name in events.
    var name: String { get }
    /// The settings with which the phone was made.
    var settings: PhoneSettings { get }
    /// The name of the radio.
    var radioName: String { get }

    /// The address on the air, or `nil` if it is not known.
    func address() async -> DeviceAddress?

    /// The peripherals to which the phone is connected.
    func peripherals() async -> [ConnectedPeripheral]

    /// Carries out a request within its time limit.
    func carryOut(_ request: PhoneRequest) async throws(PhoneFailure) -> PhoneResult

    /// Deletes all bonds.
    func forgetBonds() async
}

extension ControlProblem {
    /// Converts the failure of a request to a phone.
    init(_ failure: PhoneFailure) {
        let status =
            switch failure {
            case .invalid: 400
            case .notFound: 404
            case .request(.failed(let error)) where error.code == .timedOut: 408
            case .request: 409
            }
        self.init(status, failure.message, failure.members)
    }
}

/// Counts the open event streams, by their name in `hold`.
///
/// When the last stream with a name ends, the phones with this name as their `holder` are removed.
package final class PhoneHolders: Sendable {
    private let streams = Lock<[String: Int]>([:])

    /// Counts a new stream with this name.
    func begin(_ name: String) { streams.withLock { $0[name, default: 0] += 1 } }

    /// Removes a stream from the count; returns `true` if it was the last one with this name.
    func end(_ name: String) -> Bool {
        streams.withLock { streams in
            let rest = (streams[name] ?? 1) - 1
            streams[name] = rest > 0 ? rest : nil
            return rest <= 0
        }
    }

    /// Whether a stream with this name is open.
    func isOpen(_ name: String) -> Bool { streams.withLock { $0[name] != nil } }
}
