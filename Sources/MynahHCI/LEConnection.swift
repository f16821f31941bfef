package import MynahCore
package import MynahSupport

/// A new connection (LE Connection Complete; Core Specification, Vol 4, Part E, 7.7.65.1 and 7.7.65.10).
package struct LEConnection: Hashable, Sendable {
    /// This side's role in a connection.
    package enum Role: UInt8, Hashable, Sendable {
        case central = 0
        case peripheral = 1
    }

    package struct Parameters: Hashable, Sendable {
        /// The connection interval, in units of 1.25 ms.
        package var interval: UInt16
        /// The peripheral latency, in connection events.
        package var latency: UInt16
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16

        /// Makes connection parameters; the defaults are those observed on an iPhone.
        package init(interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 72) {
            self.interval = interval
            self.latency = latency
            self.timeout = timeout
        }

        init?(_ reader: inout ByteReader) {
            guard let interval = reader.readUInt16(), let latency = reader.readUInt16(),
                let timeout = reader.readUInt16()
            else { return nil }
            self.init(interval: interval, latency: latency, timeout: timeout)
        }
    }

    package var handle: ConnectionHandle
    /// This side's role.
    package var role: Role
    /// The peer's address, which is the identity address if the controller has resolved the address on the
    /// air.
    package var peer: DeviceAddress
    /// The peer's address on the air, or `nil` if the controller has not resolved it.
    package var peerResolvable: DeviceAddress?
    package var parameters: Parameters

    package init(
        handle: ConnectionHandle, role: Role, peer: DeviceAddress, peerResolvable: DeviceAddress? = nil,
        parameters: Parameters = Parameters()
    ) {
        self.handle = handle
        self.role = role
        self.peer = peer
        self.peerResolvable = peerResolvable
        self.parameters = parameters
    }

    init?(_ reader: inout ByteReader, isEnhanced: Bool) {
        guard let handle = reader.readConnectionHandle(),
            let role = reader.readUInt8().flatMap({ Role(rawValue: $0) }),
            let kind = reader.readUInt8(), let peer = reader.readAddress(kind: kind)
        else { return nil }
        if isEnhanced {
            guard reader.readBytes(6) != nil, let resolvable = reader.readAddress(kind: 1) else { return nil }
            peerResolvable = resolvable.value == 0 ? nil : resolvable
        }
        guard let parameters = Parameters(&reader) else { return nil }
        self.handle = handle
        self.role = role
        self.peer = peer
        self.parameters = parameters
    }
}

extension ByteReader {
    /// Reads an address of six bytes, least significant first.
    ///
    /// The lowest bit of `kind` is set for a random address.
    package mutating func readAddress(kind: UInt8) -> DeviceAddress? {
        guard let bytes = readBytes(6) else { return nil }
        return DeviceAddress(littleEndian: bytes, kind: kind & 1 == 0 ? .public : .random)
    }
}

extension ByteWriter {
    /// Appends an address of six bytes, least significant first.
    package mutating func write(_ address: DeviceAddress) {
        write((0..<6).map { UInt8(truncatingIfNeeded: address.value >> (8 * $0)) })
    }
}

extension DeviceAddress {
    /// The address type in commands and events.
    package var kindCode: UInt8 { kind == .public ? 0 : 1 }
}
