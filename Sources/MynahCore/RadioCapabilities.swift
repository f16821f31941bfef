/// What a radio can do; what it cannot is said here and never pretended.
public struct RadioCapabilities: Hashable, Sendable {
    /// What it is, for people: `BlueZ 5.66 on hci0`.
    public var name: String
    /// The address that the device has on the air now; `nil` if it is not known.
    public var address: DeviceAddress?
    /// Says which central subscribed.
    public var namesSubscribers = true
    /// Sends a value to one central alone.
    public var sendsToOneCentral = true
    /// Says which central confirmed an indication.
    public var namesConfirmingCentral = true
    /// Sends advertising bytes exactly as they are given.
    public var advertisesExactly = true
    /// Keeps the advertising interval that is asked for.
    public var keepsInterval = true
    /// What would make it keep the interval, as the end of a sentence; nil: nothing.
    public var intervalRemedy: String?
    /// Places what it is told to into the scan response.
    public var placesScanResponse = true
    /// Tells when its queue of notifications is full, from the link itself.
    public var hasBackPressure = true
    /// Tells a write command from a write request.
    public var tellsWriteCommands = true
    /// Can refuse a write of a characteristic that also takes commands, one longer than `maxLength` with 0x0D included.
    public var refusesWritesBesideCommands = true
    /// The longest write that it takes, in bytes.
    public var maximumWriteLength = GATT.maximumValueLength
    /// How far a long write, in prepared parts, reaches, in bytes.
    public var maximumLongWriteLength = GATT.maximumValueLength
    /// The ATT errors that a handler can send as the answer to a read, by code.
    public var readErrors = ErrorCodes.all
    /// The ATT errors that a handler can send as the answer to a write, by code.
    public var writeErrors = ErrorCodes.all
    /// Protects write commands without also taking write requests.
    public var protectsCommandsAlone = true
    /// Asks for the device's consent before a central subscribes.
    public var authorizesSubscriptions = true
    /// Advertises a company or a service with no data behind it.
    public var sendsEmptyAdvertisingData = true
    /// Publishes numbers under which centrals open L2CAP channels.
    public var publishesL2CAPChannels = true
    /// Asks a central to meet more or less often.
    public var requestsConnectionLatency = true
    /// How long an answer may take; nil: the 30 s of an ATT transaction.
    public var answerDeadline: Duration?

    /// Everything can be done, unless said.
    public init(name: String) {
        self.name = name
    }

    /// A set of ATT error codes.
    public struct ErrorCodes: Hashable, Sendable {
        private var bits: [UInt64]

        /// Every code from 0x01 on.
        public static let all = ErrorCodes((0x01...0xFF).map { UInt8($0) })

        /// These codes.
        public init(_ codes: some Sequence<UInt8>) {
            bits = [0, 0, 0, 0]
            for code in codes { bits[Int(code >> 6)] |= 1 << UInt64(code & 63) }
        }

        /// Whether the code is one of them.
        public func contains(_ error: ATTError) -> Bool {
            bits[Int(error.code >> 6)] & 1 << UInt64(error.code & 63) != 0
        }
    }
}
