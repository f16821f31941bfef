/// The options of a `HostRadio`.
public struct HostRadioOptions: Sendable {
    /// The radio's name for messages.
    public var name = "own host"
    /// The name of the controller and its location, for messages.
    public var controller = "the controller"
    /// Whether the controller is simulated, so that `used` is exact and not an estimate.
    public var isSimulated = false
    /// The type of address to use.
    public var address = AddressPolicy.automatic
    /// The time in which a controller must answer a command.
    package var commandTimeout: Duration = .seconds(5)
    /// The time in which a central must confirm an indication (Vol 3, Part F, 3.3.3).
    package var transactionTimeout: Duration = .seconds(30)
    /// The pause before the radio searches for a lost controller; it doubles with each attempt, up to 5 s.
    package var recoveryPause: Duration = .milliseconds(250)
    /// The file for bonds, or `nil` to keep them in memory until the radio stops.
    public var bonds: BondFile?
    /// `true` to accept pairing, `false` to refuse every pairing request.
    public var isPairable = true
    /// `true` to support LE Secure Connections, `false` to use LE legacy pairing only.
    public var hasSecureConnections = true
    /// The number of packets that wait on a link above which a value is refused.
    package var queueLimit = 64

    /// Makes the default options.
    public init() {}
}
