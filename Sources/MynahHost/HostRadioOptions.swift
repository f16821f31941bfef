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
    /// How long a controller may take to answer a command.
    package var commandTimeout: Duration = .seconds(5)
    /// How long a peer may take to answer: a central to confirm an indication, a peripheral to answer a
    /// request (Vol 3, Part F, 3.3.3), and either to answer on the signalling channel (Part A, 6.2.1).
    package var transactionTimeout: Duration = .seconds(30)
    /// How long the radio waits before it looks for a controller that it lost; twice as long each time, up to
    /// 5 s.
    package var recoveryPause: Duration = .milliseconds(250)
    /// The file for bonds, or `nil` to keep them in memory until the radio stops.
    public var bonds: BondFile?
    /// `true` to accept pairing, `false` to refuse every pairing request.
    public var isPairable = true
    /// `true` to support LE Secure Connections, `false` to use LE legacy pairing only.
    public var hasSecureConnections = true
    /// How many packets wait for the controller before a value is refused.
    package var queueLimit = 64

    /// The default options.
    public init() {}
}
