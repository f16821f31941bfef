import MynahCore
import MynahHCI

/// The own address on the air, and the times at which it changes.
///
/// A state machine without I/O. The address cannot change while the controller advertises, scans or initiates
/// (Core Specification, Vol 4, Part E, 7.8.4). So a change waits until the three are off (`needsQuiet`).
/// After the change they continue with the new address.
struct OwnAddress {
    /// The sources of addresses.
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
        /// The first address is to be set; nothing is on the air yet.
        case first(DeviceAddress, isSent: Bool)
        case settled
        /// The next address waits until the controller is quiet; the rotation generated it.
        case waiting(AddressRotation, DeviceAddress)
        case setting(AddressRotation, DeviceAddress)
    }

    /// The time after which a change is tried again that the controller refused.
    static let retryPause = Duration.seconds(10)

    /// The identity address, public or static random; `nil` before `choose`.
    private(set) var identity: DeviceAddress?
    /// The address on the air; `nil` before the first address is set.
    private(set) var current: DeviceAddress?
    private var stage = Stage.none
    private var rotation: AddressRotation?
    private var retry: Duration?

    /// The time of the next change, or `nil` if the address does not change.
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

    /// Chooses the first address on a controller that was just reset.
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

    /// Begins a change of the address if one is due.
    mutating func expire(at now: Duration) {
        guard let due, now >= due, var next = rotation, let address = next.rotate(at: now) else { return }
        retry = nil
        stage = .waiting(next, address)
    }

    /// Returns the random address to set now, or `nil` if there is none, or if the controller is not quiet
    /// yet.
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

    /// Notes that the controller is lost.
    mutating func ended() {
        stage = .none
    }
}
