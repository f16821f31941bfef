/// The options of a `HostRadio`.
public struct HostRadioOptions: Sendable {
    /// The radio's name for messages.
    public var name = "own host"
    /// The name of the controller and its transport, for messages.
    public var controller = "the controller"
    /// Whether the controller is simulated, so that `used` is exact and not an estimate.
    public var isSimulated = false
    /// The type of address to use.
    public var address = AddressPolicy.automatic
    /// The time in which a controller must answer a command.
    package var commandTimeout: Duration = .seconds(5)
    /// The time within which a peer must answer a request or confirm an indication (Vol 3, Part F, 3.3.3).
    package var transactionTimeout: Duration = .seconds(30)
    /// The first pause in the search for a lost controller; the pause doubles with each attempt, up to 5 s.
    package var recoveryPause: Duration = .milliseconds(250)
    /// The file for bonds, or `nil` to store them only in memory until the radio stops.
    public var bonds: BondFile?
    /// Whether pairing is accepted; if not, every Pairing Request is refused.
    public var isPairable = true
    /// Whether LE Secure Connections is supported; if not, only LE legacy pairing is used.
    public var hasSecureConnections = true
    /// The number of waiting packets on a link at which the radio begins to refuse further values.
    package var queueLimit = 64

    /// Makes the default options.
    public init() {}
}
