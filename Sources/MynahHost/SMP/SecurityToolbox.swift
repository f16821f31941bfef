import MynahCore
import MynahSupport

/// The cryptographic functions of pairing (Core Specification, Vol 3, Part H, 2.2).
///
/// All arguments and results have the least significant byte first, as in PDUs. The specification computes
/// with the most significant byte first.
enum SecurityToolbox {
    /// The security function e: AES-128 of one block (2.2.1).
    static func e(_ key: SecretKey, _ block: [UInt8]) -> [UInt8] {
        AES128.encrypt(SecretKey(fitting: block).bytes.reversed(), with: key.bytes.reversed()).reversed()
    }

    private static func cmac(_ key: SecretKey, _ fields: [UInt8]...) -> [UInt8] {
        AES128.cmac(of: fields.flatMap { $0.reversed() }, with: key.bytes.reversed()).reversed()
    }

    /// The random address hash function ah, with a result of 24 bits (2.2.2).
    static func ah(_ key: SecretKey, _ random: [UInt8]) -> [UInt8] {
        Array(e(key, Array(random.prefix(3))).prefix(3))
    }

    /// The confirm value function c1 of LE legacy pairing (2.2.3).
    ///
    /// The value also depends on both feature PDUs and both addresses.
    static func c1(
        _ key: SecretKey, _ random: [UInt8], request: [UInt8], response: [UInt8],
        initiator: DeviceAddress, responder: DeviceAddress
    ) -> [UInt8] {
        let first = [initiator.typeByte, responder.typeByte] + request + response
        let second = responder.littleEndianBytes + initiator.littleEndianBytes
        return e(key, exclusiveOr(e(key, exclusiveOr(random, first)), SecretKey(fitting: second).bytes))
    }

    /// The key generation function s1 of LE legacy pairing, which returns the short-term key (2.2.4).
    static func s1(_ key: SecretKey, responder: [UInt8], initiator: [UInt8]) -> SecretKey {
        SecretKey(fitting: e(key, Array(initiator.prefix(8) + responder.prefix(8))))
    }

    /// The confirm value function f4 of LE Secure Connections (2.2.6).
    ///
    /// `u` and `v` are the X coordinates of the public keys.
    static func f4(_ u: [UInt8], _ v: [UInt8], _ key: [UInt8], _ z: UInt8) -> [UInt8] {
        cmac(SecretKey(fitting: key), u, v, [z])
    }

    /// The key generation function f5 of LE Secure Connections, which returns the MacKey and the LTK (2.2.7).
    static func f5(
        _ secret: [UInt8], _ first: [UInt8], _ second: [UInt8], initiator: DeviceAddress,
        responder: DeviceAddress
    ) -> (macKey: SecretKey, longTermKey: SecretKey) {
        let salt = SecretKey(fitting: [
            0xBE, 0x83, 0x60, 0x5A, 0xDB, 0x0B, 0x37, 0x60, 0x38, 0xA5, 0xF5, 0xAA, 0x91, 0x83, 0x88, 0x6C,
        ])
        let key = SecretKey(fitting: cmac(salt, secret))
        // The identifier is "btle", and the length is 256 bits.
        let identifier: [UInt8] = [0x65, 0x6C, 0x74, 0x62]
        let length: [UInt8] = [0x00, 0x01]
        func derive(_ counter: UInt8) -> SecretKey {
            SecretKey(
                fitting: cmac(
                    key, [counter], identifier, first, second, initiator.typedBytes, responder.typedBytes,
                    length))
        }
        return (derive(0), derive(1))
    }

    /// The check value function f6 of LE Secure Connections (2.2.8).
    static func f6(
        _ key: SecretKey, _ first: [UInt8], _ second: [UInt8], _ r: [UInt8], _ capabilities: [UInt8],
        _ firstAddress: DeviceAddress, _ secondAddress: DeviceAddress
    ) -> [UInt8] {
        cmac(key, first, second, r, capabilities, firstAddress.typedBytes, secondAddress.typedBytes)
    }

    /// The numeric comparison function g2, whose last six decimal digits are shown (2.2.9).
    static func g2(_ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ y: [UInt8]) -> UInt32 {
        var reader = ByteReader(cmac(SecretKey(fitting: x), u, v, y))
        return reader.readUInt32() ?? 0
    }

    /// The Database Hash as the value of its characteristic (Core Specification, Vol 3, Part G, 7.3.1).
    ///
    /// The least significant byte is first, as in all values without another rule (Vol 3, Part G, 2.4).
    static func databaseHash(_ input: [UInt8]) -> [UInt8] {
        AES128.cmac(of: input, with: SecretKey.zero.bytes).reversed()
    }

    private static func exclusiveOr(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        zip(left, right).map { $0 ^ $1 }
    }
}

extension DeviceAddress {
    /// The six bytes of the address, least significant first, as in packets.
    var littleEndianBytes: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.write(value)
        return Array(writer.bytes.prefix(6))
    }

    /// The type of the address: 0 for a public address, 1 for a random one.
    var typeByte: UInt8 { kind == .random ? 1 : 0 }

    /// The address, followed by its type as the most significant byte (Core Specification, Vol 3, Part H,
    /// 2.2.7).
    var typedBytes: [UInt8] { littleEndianBytes + [typeByte] }
}
