import MynahSupport

/// The signature of a signed write command (Core Specification, Vol 3, Part H, 2.4.5, and Part C, 10.4).
enum SignedWrite {
    /// The length of a signature in bytes: 4 for the sign counter and 8 for the message authentication code.
    static let signatureLength = 12

    /// The signature to append to a PDU: the counter and the message authentication code.
    ///
    /// The code is the upper half of the CMAC of the PDU and the counter.
    static func signature(of pdu: [UInt8], counter: UInt32, with key: SecretKey) -> [UInt8] {
        var writer = ByteWriter(capacity: signatureLength)
        writer.write(counter)
        let code = AES128.cmac(
            of: (pdu + writer.bytes).reversed(), with: key.bytes.reversed())
        writer.write(code.prefix(8).reversed())
        return writer.bytes
    }

    /// The counter of a signed PDU, or `nil` if its signature is wrong or its counter is below `lowest`.
    static func counter(of signed: [UInt8], with key: SecretKey, from lowest: UInt32) -> UInt32? {
        guard signed.count >= signatureLength else { return nil }
        let pdu = Array(signed.dropLast(signatureLength))
        let given = Array(signed.suffix(signatureLength))
        var reader = ByteReader(given)
        guard let counter = reader.readUInt32(), counter >= lowest,
            signature(of: pdu, counter: counter, with: key).isEqual(inConstantTime: given)
        else { return nil }
        return counter
    }
}

extension [UInt8] {
    /// Whether both arrays are equal; the time of the comparison does not depend on their contents.
    func isEqual(inConstantTime other: [UInt8]) -> Bool {
        count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
