/// The capabilities and the limits of a radio, which are declared and never hidden.
public struct RadioCapabilities: Hashable, Sendable {
    /// The radio's name for messages, as in `BlueZ 5.66 on hci0`.
    public var name: String
    /// The address that the device uses now, or `nil` if it is unknown.
    public var address: DeviceAddress?
    /// The capabilities of advertising.
    package var advertising = Advertising()
    /// The subscription events that it reports, and how it sends values to subscribers.
    public var subscriptions = Subscriptions()
    /// The capabilities of writes by centrals.
    package var writes = Writes()
    /// The ATT errors that a handler can send as the answer to a read, by code.
    package var readErrors = ErrorCodes.all
    /// `true` if the radio can publish PSMs for L2CAP channels.
    public var publishesL2CAPChannels = true
    /// `true` if the radio can request other connection parameters from a central.
    package var requestsConnectionLatency = true
    /// The time limit for an answer, or `nil` for the 30 s of an ATT transaction.
    package var answerDeadline: Duration?
    /// `true` if the radio has a GATT server of its own, which can also have the services of an iPhone
    /// itself.
    package var playsPhoneServices = true
    /// `true` if the radio cuts a value that is too long for a link, and can send it in pieces instead.
    package var cutsValues = true
    /// `true` if the radio can limit its centrals, its ATT_MTU and the size of its keys.
    package var limitsLinks = true

    /// Capabilities of a radio that can do everything, unless changed.
    package init(name: String) {
        self.name = name
    }

    /// How a radio advertises.
    package struct Advertising: Hashable, Sendable {
        /// `true` if the radio sends exactly the given advertising bytes.
        package var isExact = true
        /// `true` if the radio keeps the advertising interval that is asked for.
        package var keepsInterval = true
        /// A way to make the radio keep the interval, as the end of a sentence; `nil` if there is no way.
        package var intervalRemedy: String?
        /// `true` if the radio puts data into the scan response if it is asked to.
        package var placesScanResponse = true
        /// `true` if the radio advertises a company or a service with no data after its identifier.
        package var sendsEmptyData = true

        /// A radio that advertises everything it is given.
        package init() {}
    }

    /// The subscription events that a radio reports, and how it sends values to subscribers.
    public struct Subscriptions: Hashable, Sendable {
        /// `true` if the radio reports which central subscribed or unsubscribed.
        public var namesSubscribers = true
        /// `true` if the radio can send a value to a single central.
        public var sendsToOneCentral = true
        /// `true` if the radio reports which central confirmed an indication.
        public var namesConfirmingCentral = true
        /// Whether the link itself limits its queue of notifications.
        public var hasBackPressure = true
        /// `true` if the radio asks for the device's consent before a central subscribes.
        package var areAuthorized = true

        /// A radio that reports every central and can send to each.
        package init() {}
    }

    /// How a radio takes the writes of centrals.
    package struct Writes: Hashable, Sendable {
        /// `true` if the radio can refuse a write request to a characteristic that also takes commands.
        ///
        /// A request that is longer than `maxLength` is refused with 0x0D then.
        package var areRefusedBesideCommands = true
        /// `true` if the radio can protect write commands without also taking write requests.
        package var protectsCommandsAlone = true
        /// The longest write that the radio accepts, in bytes.
        package var maximumLength = GATT.maximumValueLength
        /// The longest value that the radio accepts in a long write, in bytes.
        package var maximumLongLength = GATT.maximumValueLength
        /// The ATT errors that a handler can send as the answer to a write, by code.
        package var errors = ErrorCodes.all

        /// A radio that accepts every write that ATT allows.
        package init() {}
    }

    /// A set of ATT error codes.
    package struct ErrorCodes: Hashable, Sendable {
        private var bits: [UInt64]

        /// Every code from 0x01 on.
        package static let all = ErrorCodes((0x01...0xFF).map { UInt8($0) })

        /// A set of these codes.
        package init(_ codes: some Sequence<UInt8>) {
            bits = [0, 0, 0, 0]
            for code in codes { bits[Int(code >> 6)] |= 1 << UInt64(code & 63) }
        }

        /// `true` if the set contains the code of the error.
        package func contains(_ error: ATTError) -> Bool {
            bits[Int(error.code >> 6)] & 1 << UInt64(error.code & 63) != 0
        }
    }
}
