import MynahSupport
import Testing

/// The examples of FIPS 180-2 and NIST's, and the check value of CRC-32.
@Suite struct HashTests {
    static let hashes: [(text: String, count: Int, digest: String)] = [
        ("", 1, "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"),
        ("abc", 1, "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"
        ),
        ("a", 10_000, "27DD1F61B867B6A0F6E9D8A41C43231DE52107E53AE424DE8F847B821DB4B711"),
    ]

    @Test(arguments: hashes)
    func `a hash is the one of the examples`(text: String, count: Int, digest: String) {
        let bytes = Array(String(repeating: text, count: count).utf8)
        #expect(SHA256.digest(bytes) == Hex.decode(digest))
    }

    @Test func `bytes that come in pieces have the hash and the CRC of the whole`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var whole = CRC32()
        whole.update(bytes)
        for length in [1, 7, 55, 56, 63, 64, 65, 128, 999] {
            var (hash, crc) = (SHA256(), CRC32())
            for start in stride(from: 0, to: bytes.count, by: length) {
                let piece = bytes[start..<min(start + length, bytes.count)]
                hash.update(piece)
                crc.update(piece)
            }
            #expect(hash.digest == SHA256.digest(bytes), "pieces of \(length)")
            #expect(crc == whole)
        }
    }

    @Test func `every length is padded to a block`() {
        // The lengths around one and two blocks, as Python's hashlib has them: a hash of hashes.
        var all = SHA256()
        for length in 0...130 { all.update(SHA256.digest([UInt8](repeating: 0x61, count: length))) }
        #expect(
            all.digest == Hex.decode("F908A43FC8456C583AACDE0FB2627959F8513DC76D0C03979B7F945A7DD78F22"))
    }

    @Test func `a CRC has its check value`() {
        var crc = CRC32()
        #expect(crc.value == 0)
        crc.update("123456789".utf8)
        #expect(crc.value == 0xCBF4_3926)
    }
}
