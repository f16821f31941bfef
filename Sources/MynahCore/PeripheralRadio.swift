/// The device's name, appearance and pairing capabilities, which do not depend on its services.
public struct DeviceIdentity: Hashable, Sendable {
    /// The GAP device name.
    public var name: String
    /// The GAP appearance, or `nil` for the radio's own.
    public var appearance: UInt16?
    /// The IO capability that it reports in pairing.
    public var ioCapability: IOCapability
    /// The largest ATT_MTU that it offers: 517 bytes carry a value of 512 with the longest header.
    package var largestMTU = 517
    /// How many centrals it takes, with which it leaves the air; `nil` if it takes any number and stays.
    package var largestCentralCount: Int?
    /// The largest encryption key that it takes part in, 7 to 16 octets (Core Specification, Vol 3, Part H,
    /// 2.3.4).
    package var largestKeySize = 16
    /// `false` if it confirms no indication as a central.
    package var confirmsIndications = true
    /// `true` if the GATT server has Service Changed.
    ///
    /// Without it, clients are not informed of changed services.
    package var hasServiceChanged = true
    /// The rules by which it accepts connection parameters as a central.
    package var parameterRules = ConnectionParameterRules.specification

    /// The most bytes of a name (Core Specification, Vol 3, Part C, 12.1).
    package static let longestName = 248

    /// A device with a name, and without display or keyboard by default.
    public init(name: String, appearance: UInt16? = nil, ioCapability: IOCapability = .noInputNoOutput) {
        self.name = name
        self.appearance = appearance
        self.ioCapability = ioCapability
    }
}

/// An IO capability for pairing (Core Specification, Vol 3, Part H, 2.3.2).
public enum IOCapability: String, Hashable, Sendable, CaseIterable {
    /// A display.
    case displayOnly
    /// A display, and keys for yes and no.
    case displayYesNo
    /// A keyboard.
    case keyboardOnly
    /// Neither display nor keyboard; pairing is Just Works.
    case noInputNoOutput
    /// A keyboard and a display.
    case keyboardDisplay
}

/// A batch of services that a radio has published.
public struct PublishedServices: Hashable, Sendable {
    /// The identifier of the batch.
    public struct ID: Hashable, Sendable {
        /// The number, given out by the radio.
        package let rawValue: UInt32

        /// The identifier with this number.
        package init(_ rawValue: UInt32) {
            self.rawValue = rawValue
        }
    }

    /// Names the batch.
    package var id: ID
    /// The attribute handles, as far as the radio reports them.
    public var handles: [AttributeKey: AttributeHandle]

    /// A batch.
    package init(id: ID, handles: [AttributeKey: AttributeHandle] = [:]) {
        self.id = id
        self.handles = handles
    }
}

/// The result of sending a value.
public enum SendResult: Hashable, Sendable {
    /// The value was queued for this many centrals; `nil` if the radio cannot count them.
    case sent(Int?)
    /// The queue is full; `.readyToSend` follows.
    case full
}

/// A radio in the peripheral role: it advertises, and serves attributes.
///
/// Requests are passed to the sink synchronously on its executor, and events keep one order.
public protocol PeripheralRadio: Radio {
    /// Starts the radio as this device. Its abilities are known only now.
    func start(_ identity: DeviceIdentity, sink: any RadioSink) async throws(RadioError) -> RadioCapabilities

    /// Withdraws services and advertising, and restores the settings that it found.
    func stop() async

    /// Removes everything from the air at once, from any thread, and then stops: its phone is gone.
    nonisolated func close()

    /// Turns Bluetooth off or on, as a user does. Links end; services and the advertisement are kept.
    ///
    /// Throws `unsupported` if the radio's adapter is not its own.
    func setPower(_ isOn: Bool) async throws(RadioError)

    /// Publishes a batch of services in one registration; includes stay inside it, and other batches are not
    /// disturbed.
    func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices

    /// Withdraws a batch.
    func withdraw(_ services: PublishedServices.ID) async

    /// Sets the value that the radio answers by itself, or `nil` to ask the sink.
    func setValue(_ value: [UInt8]?, of attribute: AttributeKey)

    /// Starts advertising, or changes the advertisement, and returns the data that is really on the air.
    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport

    /// Stops advertising.
    func stopAdvertising() async

    /// Sends a value to these subscribed centrals, or to all of them if `centrals` is `nil`.
    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult

    /// Ends a central's link.
    func disconnect(_ central: Peer.ID) async

    /// The airtime and packets used since the radio was created, or `nil` if they are not known.
    var used: RadioUse? { get }

    /// Publishes a PSM under which centrals open L2CAP channels, and returns it; `.channelOpened` brings
    /// each.
    ///
    /// `isEncrypted` means that the link must be encrypted first. Throws `unsupported` if the radio has no
    /// channels.
    func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16

    /// Unpublishes a PSM, and closes the channels that were opened to it.
    func unpublishL2CAPChannel(_ psm: UInt16)

    /// Asks a central for other connection parameters; returns `false` if it refuses.
    ///
    /// Throws `unsupported` if the radio cannot ask.
    func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool
}

extension PeripheralRadio {
    /// Stops as soon as its executor is free.
    public nonisolated func close() {
        Task(executorPreference: preferredExecutor) { await self.stop() }
    }

    /// Throws `unsupported`.
    public func setPower(_ isOn: Bool) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot turn Bluetooth off, because other programs may use its adapter",
            remedy: "use Mynah's own host, with a controller of its own")
    }

    /// Returns `nil`: the use is unknown.
    public var used: RadioUse? { nil }

    /// Throws `unsupported`.
    public func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        throw RadioError(
            .unsupported, "this radio cannot publish L2CAP channels",
            remedy: "use Mynah's own host, with a controller of its own")
    }

    /// Does nothing, because no PSM can be published.
    public func unpublishL2CAPChannel(_ psm: UInt16) {}

    /// Throws `unsupported`.
    public func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        throw RadioError(
            .unsupported, "this radio cannot request other connection parameters",
            remedy: "use Mynah's own host, with a controller of its own")
    }
}

/// Receives a radio's events.
public protocol RadioSink: Sendable {
    /// Handles an event. Called on the radio's executor. A read, or a write with a response, must be
    /// answered.
    func handle(_ event: RadioEvent) -> RadioAnswer
}
