package import MynahCore

/// The effect of a fault on the operation that it applies to.
package enum FaultEffect: Hashable, Sendable {
    /// The request is answered with this error.
    case error(ATTError)
    /// The value is cut to this number of bytes.
    case truncate(Int)
    /// Bytes of the value are changed.
    case corrupt(Corruption)
    /// These bytes are sent instead of the value.
    case value([UInt8])
    /// The server answers Exchange MTU Requests with this MTU, in bytes.
    case mtu(Int)
    /// A value is not sent to the subscriber; a write is answered, but does not reach the device.
    case drop
    /// A value is sent twice.
    case duplicate
    /// A value is sent after the next one of the same attribute.
    case reorder
    /// The request is never answered, so that the central's transaction times out after 30 s (Core
    /// Specification, Vol 3, Part F, 3.3.3).
    case noAnswer
    /// The link ends with this reason (Core Specification, Vol 1, Part F, 1.3).
    case disconnect(reason: UInt8)
    /// The write of the Client Characteristic Configuration is answered with 0x03, Write Not Permitted.
    case refuseSubscription
    /// The device refuses connections.
    case refuseConnection
    /// The device deletes the bond of the central, or all bonds if the trigger is a time and no central is
    /// selected.
    case loseBond(LostBond)
    /// A service or a characteristic disappears until the fault is turned off, and Service Changed is sent.
    case changeServices(removing: AttributeKey)
    /// The device advertises different data, for a time or until the fault is turned off.
    case advertise(AdvertisementChange, for: Duration?)
    /// The device disappears from the air, for a time or until the fault is turned off; links end by
    /// supervision timeout.
    case vanish(for: Duration?)

    /// `true` if the effect changes or drops a value, so that it does not apply to a request without a value.
    var isOnValue: Bool {
        switch self {
        case .truncate, .corrupt, .value, .drop: true
        default: false
        }
    }

    /// The default reason of `disconnect`: 0x13, Remote User Terminated Connection.
    package static let usualReason: UInt8 = 0x13

    /// The reaction to a central that encrypts the link with the key of a bond that a fault deleted.
    package enum LostBond: String, CaseIterable, Hashable, Sendable {
        /// HCI LE Long Term Key Request Negative Reply: encryption fails with 0x06, PIN or Key Missing.
        case reject
        /// The link ends with 0x05, Authentication Failure.
        case disconnect
    }

    /// A change of bytes in a value: `xor FF@2`.
    package struct Corruption: Hashable, Sendable {
        /// The bytes that are combined with the value's bytes by exclusive or.
        package var mask: [UInt8]
        /// The index of the first changed byte; bytes beyond the end of the value are ignored.
        package var offset: Int

        /// Makes a change by a mask, from an offset on.
        package init(xor mask: [UInt8], at offset: Int) {
            self.mask = mask
            self.offset = offset
        }

        /// The changed value.
        package func applied(to value: [UInt8]) -> [UInt8] {
            guard value.indices.contains(offset) else { return value }
            var value = value
            for (index, byte) in zip(value.indices[offset...], mask) { value[index] ^= byte }
            return value
        }
    }

    /// The effects without their parameters: the rows of `FaultSupport`.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A delay without another effect.
        case delay
        case error, truncate, corrupt, value, mtu, drop, duplicate, reorder, noAnswer, disconnect
        case refuseSubscription, refuseConnection, loseBond, changeServices, advertise, vanish
    }

    /// The effect without its parameters.
    package var kind: Kind {
        switch self {
        case .error: .error
        case .truncate: .truncate
        case .corrupt: .corrupt
        case .value: .value
        case .mtu: .mtu
        case .drop: .drop
        case .duplicate: .duplicate
        case .reorder: .reorder
        case .noAnswer: .noAnswer
        case .disconnect: .disconnect
        case .refuseSubscription: .refuseSubscription
        case .refuseConnection: .refuseConnection
        case .loseBond: .loseBond
        case .changeServices: .changeServices
        case .advertise: .advertise
        case .vanish: .vanish
        }
    }

    /// The value as changed by the effect, or `nil` if the effect does not change values.
    package func changed(_ value: [UInt8]) -> [UInt8]? {
        switch self {
        case .truncate(let length): Array(value.prefix(max(0, length)))
        case .corrupt(let corruption): corruption.applied(to: value)
        case .value(let other): other
        default: nil
        }
    }
}

extension Fault {
    /// The kind of the effect, or `delay` if the fault has none.
    package var kind: FaultEffect.Kind { effect?.kind ?? .delay }
}
