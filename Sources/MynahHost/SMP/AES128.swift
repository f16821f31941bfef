import MynahCCrypto

/// AES-128 and AES-CMAC, on which the security functions are built (Core Specification, Vol 3, Part H, 2.2).
///
/// Keys, blocks and messages have their most significant byte first.
enum AES128 {
    static let blockSize = 16

    /// One encrypted block (FIPS 197); key and block have sixteen bytes each.
    static func encrypt(_ block: [UInt8], with key: [UInt8]) -> [UInt8] {
        precondition(key.count == blockSize && block.count == blockSize)
        LibCrypto.setUp()
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var count: CInt = 0
        let encrypted = [UInt8](unsafeUninitializedCapacity: 2 * blockSize) { buffer, written in
            let isDone =
                EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), nil, key, nil) == 1
                && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                && EVP_EncryptUpdate(context, buffer.baseAddress, &count, block, CInt(blockSize)) == 1
            written = isDone ? Int(count) : 0
        }
        precondition(encrypted.count == blockSize, "libcrypto has no AES-128")
        return encrypted
    }

    /// A message's authentication code of sixteen bytes (RFC 4493); the key has sixteen, too.
    static func cmac(of message: [UInt8], with key: [UInt8]) -> [UInt8] {
        precondition(key.count == blockSize)
        LibCrypto.setUp()
        let code = [UInt8](unsafeUninitializedCapacity: blockSize) { buffer, written in
            let end = EVP_Q_mac(
                nil, "CMAC", nil, "AES-128-CBC", nil, key, key.count, message, message.count,
                buffer.baseAddress, blockSize, &written)
            if end == nil { written = 0 }
        }
        precondition(code.count == blockSize, "libcrypto has no AES-CMAC")
        return code
    }
}
