/// The device's properties that do not depend on its services, such as its name, appearance and limits.
public struct DeviceIdentity: Hashable, Sendable {
    /// The GAP device name.
    public var name: String
    /// The GAP appearance, or `nil` to use the radio's own.
    public var appearance: UInt16?
    /// The IO capability that the device reports during pairing.
    public var ioCapability: IOCapability
    /// The largest ATT_MTU that the device offers.
    ///
    /// A value of 512 bytes and the header of any ATT PDU fit in the default of 517 bytes.
    package var largestMTU = 517
    /// The number of connected centrals at which the device stops advertising, or `nil` if there is no
    /// limit.
    package var largestCentralCount: Int?
    /// The largest size of an encryption key that the device accepts, from 7 to 16 bytes (Core
    /// Specification, Vol 3, Part H, 2.3.4).
    package var largestKeySize = 16
    /// `false` if the device, as a central, does not confirm indications.
    package var confirmsIndications = true
    /// `true` if the GATT server has the characteristic Service Changed.
    ///
    /// Without it, clients are not informed of changed services.
    package var hasServiceChanged = true
    /// The rules by which the device, as a central, accepts connection parameters.
    package var parameterRules = ConnectionParameterRules.specification

    /// The largest length of a name, in bytes (Core Specification, Vol 3, Part C, 12.1).
    package static let longestName = 248

    /// Makes the identity of a device; by default, it has neither a display nor a keyboard.
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
    /// A display, and buttons for yes and no.
    case displayYesNo
    /// A keyboard.
    case keyboardOnly
    /// Neither a display nor a keyboard; pairing uses Just Works.
    case noInputNoOutput
    /// A keyboard and a display.
    case keyboardDisplay
}

/// A batch of services that a radio has published.
public struct PublishedServices: Hashable, Sendable {
    /// The identifier of a batch.
    public struct ID: Hashable, Sendable {
        /// The number, which the radio assigned.
        package let rawValue: UInt32

        /// Makes the identifier with this number.
        package init(_ rawValue: UInt32) {
            self.rawValue = rawValue
        }
    }

    /// The batch's identifier.
    package var id: ID
    /// The handles of the attributes, as far as the radio reports them.
    public var handles: [AttributeKey: AttributeHandle]

    /// Makes a batch.
    package init(id: ID, handles: [AttributeKey: AttributeHandle] = [:]) {
        self.id = id
        self.handles = handles
    }
}

/// The result of sending a value.
public enum SendResult: Hashable, Sendable {
    /// The value was queued for this number of centrals, or `nil` if the radio cannot count them.
    case sent(Int?)
    /// The queue is full; `.readyToSend` follows.
    case full
}

/// A radio in the peripheral role: it advertises and has a GATT server.
///
/// Requests and events are passed to the `RadioSink` synchronously on the radio's executor, in order.
public protocol PeripheralRadio: Radio {
    /// Starts the radio as this device, and returns the radio's capabilities.
    func start(_ identity: DeviceIdentity, sink: any RadioSink) async throws(RadioError) -> RadioCapabilities

    /// Withdraws services and advertising, stops the radio, and restores the settings of the adapter.
    func stop() async

    /// Withdraws services and advertising at once, and then stops the radio; can be called on any thread.
    ///
    /// The `Phone` that owns the radio calls this when it is deallocated.
    nonisolated func close()

    /// Turns Bluetooth off or on, as a user would; links end, but services and the advertisement are kept.
    ///
    /// Throws `unsupported` if other programs share the radio's adapter.
    func setPower(_ isOn: Bool) async throws(RadioError)

    /// Publishes a batch of services.
    ///
    /// A service can include only services of the same batch. Other batches are not affected.
    func publish(_ services: [ServiceDefinition]) async throws(RadioError) -> PublishedServices

    /// Withdraws a batch.
    func withdraw(_ services: PublishedServices.ID) async

    /// Sets the value with which the radio itself answers reads, or `nil` to pass reads to the `RadioSink`.
    func setValue(_ value: [UInt8]?, of attribute: AttributeKey)

    /// Starts advertising, or changes the advertisement; returns the data that the radio actually sends.
    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport

    /// Stops advertising.
    func stopAdvertising() async

    /// Sends a value to the given subscribed centrals, or to all subscribers if `centrals` is `nil`.
    func send(
        _ value: [UInt8], of attribute: AttributeKey, as delivery: Delivery, to centrals: [Peer.ID]?
    ) throws(RadioError) -> SendResult

    /// Ends a central's link.
    func disconnect(_ central: Peer.ID) async

    /// The airtime and packets used since the radio was created, or `nil` if they are not known.
    var used: RadioUse? { get }

    /// Publishes a PSM to which centrals can open L2CAP channels, and returns the PSM.
    ///
    /// `.channelOpened` reports each channel. With `isEncrypted`, the link must be encrypted first. Throws
    /// `unsupported` if the radio has no L2CAP channels.
    func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16

    /// Withdraws a PSM, and closes the channels that were opened to it.
    func unpublishL2CAPChannel(_ psm: UInt16)

    /// Requests connection parameters from a central; returns `false` if the central refuses.
    ///
    /// Throws `unsupported` if the radio cannot request them.
    func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool
}

extension PeripheralRadio {
    /// Stops the radio asynchronously.
    public nonisolated func close() {
        Task(executorPreference: preferredExecutor) { await self.stop() }
    }

    /// Throws `unsupported`.
    public func setPower(_ isOn: Bool) async throws(RadioError) {
        throw RadioError(
            .unsupported, "this radio cannot turn Bluetooth off, because other programs may use its adapter",
            remedy: "use Mynah's own host, with a controller of its own")
    }

    /// Returns `nil`, because the use is not known.
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

/// A receiver of a radio's events.
public protocol RadioSink: Sendable {
    /// Handles an event; called on the radio's executor.
    ///
    /// For a read, and for a write whose `wantsResponse` is `true`, the result is the answer to the central.
    func handle(_ event: RadioEvent) -> RadioAnswer
}
