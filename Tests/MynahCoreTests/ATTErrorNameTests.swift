import MynahCore
import Testing

@Suite struct ATTErrorNameTests {
    @Test(
        arguments: [
            ("invalidHandle", 0x01), ("invalidPDU", 0x04), ("unlikelyError", 0x0E), ("outOfRange", 0xFF),
            ("0x0E", 0x0E), ("0xe", 0x0E), ("0x9F", 0x9F), ("0xFF", 0xFF),
        ] as [(String, UInt8)])
    func `an error is read from its name or its code`(text: String, code: UInt8) {
        #expect(ATTError(named: text)?.code == code)
    }

    @Test(arguments: [
        "", "0x", "0x0", "0x00", "0x100", "0x+1", "0xg", "14", "0E", "UnlikelyError", "unlikely error",
    ])
    func `another text is no error`(text: String) {
        #expect(ATTError(named: text) == nil)
    }

    @Test func `every name is read, and they are in the order of their codes`() {
        let codes = ATTError.names.compactMap { ATTError(named: $0)?.code }
        #expect(codes.count == ATTError.names.count && codes == codes.sorted())
        #expect(Set(codes).count == codes.count && codes.count > 20)
        #expect(ATTError.names.allSatisfy { name in name.allSatisfy { $0.isASCII && $0.isLetter } })
    }
}
