package import MynahCore
package import MynahSupport
package import MynahValues

/// A central in an event: its address, or its number if the radio does not report the address.
package enum EventCentral: Hashable, Sendable, CustomStringConvertible {
    case address(DeviceAddress)
    case number(UInt32)

    private static let prefix = "central-"

    package init(_ address: DeviceAddress?, _ peer: Peer.ID) {
        self = address.map { .address($0) } ?? .number(peer.rawValue)
    }

    /// Parses the text of `description`, which lacks the type of an address; `nil` for any other text.
    init?(_ text: String) {
        if let address = DeviceAddress(text, kind: .random) {
            self = .address(address)
        } else if text.hasPrefix(Self.prefix), let number = UInt32(text.dropFirst(Self.prefix.count)) {
            self = .number(number)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .address(let address): address.description
        case .number(let number): "\(Self.prefix)\(number)"
        }
    }
}

/// The attribute that an event concerns.
package struct EventAttribute: Hashable, Sendable {
    package var service: BluetoothUUID?
    package var characteristic: BluetoothUUID?
    package var descriptor: BluetoothUUID?
    /// The unambiguous path of an attribute that shares its UUIDs with others, or `nil` if the UUIDs are
    /// unique.
    package var path: String?
    /// The layout of the attribute's value, or `nil` to use the SIG's layout for its characteristic, if any.
    package var layout: ValueLayout?

    package init(
        service: BluetoothUUID? = nil, characteristic: BluetoothUUID? = nil,
        descriptor: BluetoothUUID? = nil, path: String? = nil, layout: ValueLayout? = nil
    ) {
        self.service = service
        self.characteristic = characteristic
        self.descriptor = descriptor
        self.path = path
        self.layout = layout
    }

    /// Returns the decoded fields of a value, or `nil` if no layout is known or the value does not fit it.
    package func fields(of value: [UInt8]) -> [NamedField]? {
        guard descriptor == nil else { return nil }
        return (layout ?? characteristic.flatMap { KnownLayouts.layout(of: $0) })?.decode(value)
    }

    /// The path, or else the names of the characteristic and of the descriptor.
    ///
    /// A UUID that has no SIG name is used in place of a name.
    package var name: String {
        path
            ?? [characteristic, descriptor].compactMap { $0 }
            .map { AssignedNumbers.name(of: $0) ?? $0.description }.joined(separator: " / ")
    }
}

/// The peripheral that an event of a phone concerns.
package struct EventPeripheral: Hashable, Sendable {
    /// The UUID by which the phone's apps identify the peripheral.
    package var identifier: BluetoothUUID?
    package var address: DeviceAddress?
    package var name: String?
    /// The device's name in the profile of the app.
    package var alias: String?

    package init(
        identifier: BluetoothUUID? = nil, address: DeviceAddress? = nil, name: String? = nil,
        alias: String? = nil
    ) {
        self.identifier = identifier?.in128Bits
        self.address = address
        self.name = name
        self.alias = alias
    }

    /// The device's name for messages: that in the profile, or else its own name, or else its address.
    ///
    /// The value is `nil` if none of them is known.
    package var title: String? { alias ?? name ?? address?.description }
}

extension JSON {
    /// Returns the JSON members for a value: its hexadecimal digits, and its fields if it fits the layout.
    package static func members(of value: [UInt8], _ layout: ValueLayout?) -> [Member] {
        [.init("value", .string(Hex.encode(value)))]
            + (layout?.decode(value).map { [.init("fields", $0.json)] } ?? [])
    }
}
