/// The options of a `HostRadio`.
public struct HostRadioOptions: Sendable {
    /// The name of the radio, for people.
    public var name = "own host"
    /// The name of the controller and its location, for messages.
    public var controller = "the controller"
    /// Whether the controller is simulated, so that `used` is what happens and not an estimate.
    public var isSimulated = false
    /// Which address is on the air.
    public var address = AddressPolicy.automatic
    /// How long a controller may take to answer a command.
    package var commandTimeout: Duration = .seconds(5)
    /// How long a central may take to confirm an indication (Vol 3, Part F, 3.3.3).
    package var transactionTimeout: Duration = .seconds(30)
    /// How long the radio waits before it looks for a controller that it lost; twice as long each time, up to
    /// 5 s.
    package var recoveryPause: Duration = .milliseconds(250)
    /// Where bonds are kept, or `nil` to keep them in memory until the radio stops.
    public var bonds: BondFile?
    /// Whether it pairs; otherwise every pairing request is refused.
    public var isPairable = true
    /// Whether it offers LE Secure Connections; otherwise LE legacy pairing only.
    public var hasSecureConnections = true
    /// How many packets wait for the controller before a value is refused.
    package var queueLimit = 64

    /// The defaults.
    public init() {}
}
