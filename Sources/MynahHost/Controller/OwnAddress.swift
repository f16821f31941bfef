import MynahCore
import MynahHCI

/// The own address used on the air, and the times at which it changes.
///
/// This state machine has no I/O. The address cannot change while the controller advertises, scans or
/// initiates (Core Specification, Vol 4, Part E, 7.8.4). So a change waits until all three are off
/// (`needsQuiet`), and they continue with the new address.
struct OwnAddress {
    /// The address policy, and the addresses and keys from which the own address is chosen or generated.
    struct Source {
        var policy: AddressPolicy
        /// The controller's public address, or `nil` if it has none.
        var publicAddress: DeviceAddress?
        /// Returns a static random address, for a controller without a public address.
        var staticAddress: () -> DeviceAddress
        /// The key that generates resolvable private addresses.
        var resolvingKey: SecretKey
        var random = SecurityRandom()
    }

    private enum Stage {
        /// No address is chosen.
        case none
        /// The first address must be set before anything is on the air; `isSent` is `true` if the command was
        /// sent.
        case first(DeviceAddress, isSent: Bool)
        case settled
        /// A new address waits until the controller does not advertise, scan or initiate.
        ///
        /// The rotation has generated the address, and replaces the current rotation after the change.
        case waiting(AddressRotation, DeviceAddress)
        case setting(AddressRotation, DeviceAddress)
    }

    /// The delay before a refused change of the address is tried again.
    static let retryPause = Duration.seconds(10)

    /// The identity address, public or static random, or `nil` before `choose`.
    private(set) var identity: DeviceAddress?
    /// The address used on the air, or `nil` before the first address is set.
    private(set) var current: DeviceAddress?
    private var stage = Stage.none
    private var rotation: AddressRotation?
    private var retry: Duration?

    /// The time of the next change, or `nil` if no change is planned.
    var due: Duration? {
        guard case .settled = stage, let rotation else { return nil }
        return retry ?? rotation.due
    }

    /// Whether advertising, scanning and initiating have to be off, because the address is about to change.
    var needsQuiet: Bool {
        switch stage {
        case .waiting, .setting: true
        case .none, .first, .settled: false
        }
    }

    /// Chooses the identity address and the first address after a reset of the controller.
    ///
    /// Throws `unsupported` if the controller cannot have the address that the policy requires.
    mutating func choose(_ source: Source, at now: Duration) throws(RadioError) {
        (current, rotation, retry) = (nil, nil, nil)
        let chosen: DeviceAddress
        switch source.policy {
        case .automatic: chosen = source.publicAddress ?? source.staticAddress()
        case .public:
            guard let address = source.publicAddress else {
                throw RadioError(
                    .unsupported, "the controller has no public address", remedy: "choose another address")
            }
            chosen = address
        case .fixed(let address):
            guard address == source.publicAddress || address.isStatic else {
                throw RadioError(
                    .unsupported, "\(address) is neither the controller's public address nor a static one",
                    remedy: "the two highest bits of a static address are set, as in C0:…")
            }
            chosen = address
        case .resolvablePrivate(let interval):
            chosen = source.publicAddress ?? source.staticAddress()
            rotation = AddressRotation(
                source.resolvingKey, every: max(interval, .seconds(1)), at: now, random: source.random)
        }
        identity = chosen
        let first = rotation?.address ?? chosen
        if first.kind == .random {
            stage = .first(first, isSent: false)
        } else {
            current = first
            stage = .settled
        }
    }

    /// Starts a change of the address if the time for it has come.
    mutating func expire(at now: Duration) {
        guard let due, now >= due, var next = rotation, let address = next.rotate(at: now) else { return }
        retry = nil
        stage = .waiting(next, address)
    }

    /// Returns the random address to set now, or `nil` if there is none.
    ///
    /// An address that replaces another one is returned only if `isQuiet` is `true`: the controller does not
    /// advertise, scan or initiate.
    mutating func next(isQuiet: Bool) -> DeviceAddress? {
        switch stage {
        case .first(let address, isSent: false):
            stage = .first(address, isSent: true)
            return address
        case .waiting(let next, let address) where isQuiet:
            stage = .setting(next, address)
            return address
        case .none, .first, .settled, .waiting, .setting: return nil
        }
    }

    /// Handles the controller's result; returns whether the address on the air has changed.
    mutating func finished(_ outcome: CommandOutcome, at now: Duration) -> Bool {
        switch (stage, outcome) {
        case (.first(let address, _), .done): current = address
        case (.setting(let next, let address), .done):
            current = address
            rotation = next
        case (.setting, .refused): retry = now + Self.retryPause
        case (.first, .refused), (.none, _), (.settled, _), (.waiting, _): return false
        }
        stage = .settled
        return outcome == .done
    }

    /// Handles the loss of the controller.
    mutating func ended() {
        stage = .none
    }
}
