/// The capabilities and the limits of a radio.
public struct RadioCapabilities: Hashable, Sendable {
    /// The radio's name for messages, as in `BlueZ 5.66 on hci0`.
    public var name: String
    /// The current address of the device, or `nil` if it is not known.
    public var address: DeviceAddress?
    package var advertising = Advertising()
    /// The subscription events that the radio reports, and the ways in which it sends values.
    public var subscriptions = Subscriptions()
    /// The handling of writes by centrals.
    package var writes = Writes()
    /// The ATT errors, by code, that a handler can send as the answer to a read.
    package var readErrors = ErrorCodes.all
    /// `true` if the radio can publish PSMs for L2CAP channels.
    public var publishesL2CAPChannels = true
    /// `true` if the radio can request connection parameters from a central.
    package var requestsConnectionLatency = true
    /// The time limit for the answer to a request, or `nil` for the 30 s of an ATT transaction.
    package var answerDeadline: Duration?
    /// `true` if the radio has its own GATT server, in which it can also publish an iPhone's services.
    package var playsPhoneServices = true
    /// `true` if the radio reports every change of a link's ATT_MTU; otherwise the ATT_MTU is not known
    /// before the central reads or writes.
    package var knowsMTU = true
    /// `true` if the radio can limit the number of centrals, the ATT_MTU and the size of encryption keys.
    package var limitsLinks = true

    /// Makes the capabilities of a radio without restrictions.
    package init(name: String) {
        self.name = name
    }

    package struct Advertising: Hashable, Sendable {
        /// `true` if the radio sends exactly the given advertising bytes.
        package var isExact = true
        /// `true` if the radio uses the requested advertising interval.
        package var keepsInterval = true
        /// Advice for a user who wants the radio to use the requested interval, or `nil` if there is none.
        ///
        /// The advice is the end of a sentence.
        package var intervalRemedy: String?
        /// `true` if the radio can put any requested field into the scan response.
        package var placesScanResponse = true
        /// `true` if the radio can advertise a company or a service without data after its identifier.
        package var sendsEmptyData = true
        /// The largest number of advertising sets at once, or `nil` if it is not known.
        package var maximumSets: Int?
        /// `true` if the radio advertises with a requested TX power level.
        package var keepsTxPower = true
        /// The largest number of bytes of extended advertising data, or 0 without extended advertising.
        package var extendedCapacity = ExactAdvertisement.extendedCapacity

        /// Makes the capabilities of a radio that advertises everything as requested.
        package init() {}
    }

    /// The subscription events that a radio reports, and the ways in which it sends values.
    public struct Subscriptions: Hashable, Sendable {
        /// `true` if the radio reports which central subscribed or unsubscribed.
        public var namesSubscribers = true
        /// `true` if the radio can send a value to a single central.
        public var sendsToOneCentral = true
        /// `true` if the radio reports which central confirmed an indication.
        public var namesConfirmingCentral = true
        /// Whether each link limits its own queue of notifications.
        public var hasBackPressure = true
        /// `true` if the radio asks for the device's consent before a central subscribes.
        package var areAuthorized = true

        /// Makes the capabilities of a radio that identifies every central, and can send to a single one.
        package init() {}
    }

    /// The handling of writes by centrals.
    package struct Writes: Hashable, Sendable {
        /// `true` if the radio can refuse a write request to a characteristic that also accepts write
        /// commands.
        ///
        /// If so, a request that is longer than the characteristic's `maximumLength` gets the error 0x0D.
        package var areRefusedBesideCommands = true
        /// `true` if the radio can require security for write commands on a characteristic without write
        /// requests.
        package var protectsCommandsAlone = true
        /// The longest write that the radio accepts, in bytes.
        package var maximumLength = GATT.maximumValueLength
        /// The longest value that the radio accepts in a long write, in bytes.
        package var maximumLongLength = GATT.maximumValueLength
        /// The ATT errors, by code, that a handler can send as the answer to a write.
        package var errors = ErrorCodes.all

        /// Makes the capabilities of a radio that accepts every write that ATT allows.
        package init() {}
    }

    /// A set of ATT error codes.
    package struct ErrorCodes: Hashable, Sendable {
        private var bits: [UInt64]

        /// All codes except 0x00.
        package static let all = ErrorCodes((0x01...0xFF).map { UInt8($0) })

        /// Makes a set of these codes.
        package init(_ codes: some Sequence<UInt8>) {
            bits = [0, 0, 0, 0]
            for code in codes { bits[Int(code >> 6)] |= 1 << UInt64(code & 63) }
        }

        /// Whether the set contains the code of the error.
        package func contains(_ error: ATTError) -> Bool {
            bits[Int(error.code >> 6)] & 1 << UInt64(error.code & 63) != 0
        }
    }
}
