import MynahCCrypto

/// AES-128 and AES-CMAC, which the security functions use (Core Specification, Vol 3, Part H, 2.2).
///
/// Keys, blocks and messages have their most significant byte first.
package enum AES128 {
    static let blockSize = 16

    /// Encrypts one block (FIPS 197); the key and the block have sixteen bytes each.
    package static func encrypt(_ block: [UInt8], with key: [UInt8]) -> [UInt8] {
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

    /// The authentication code of a message (RFC 4493); the code and the key have sixteen bytes each.
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

    /// Decrypts a ciphertext with AES-CCM; returns `nil` if its authentication code is wrong (RFC 3610, and
    /// Core Specification, Vol 6, Part E, 1).
    ///
    /// The nonce has thirteen bytes and the key sixteen; `header` is authenticated but not encrypted.
    package static func decryptCCM(
        _ ciphertext: [UInt8], code: [UInt8], header: [UInt8], nonce: [UInt8], with key: [UInt8]
    ) -> [UInt8]? {
        precondition(key.count == blockSize && nonce.count == 13)
        guard !ciphertext.isEmpty else { return nil }
        LibCrypto.setUp()
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var code = code
        var count: CInt = 0
        var isDone = false
        let message = [UInt8](unsafeUninitializedCapacity: ciphertext.count + blockSize) { buffer, written in
            isDone =
                EVP_DecryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, CInt(nonce.count), nil) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(code.count), &code) == 1
                && EVP_DecryptInit_ex(context, nil, nil, key, nonce) == 1
                && EVP_DecryptUpdate(context, nil, &count, nil, CInt(ciphertext.count)) == 1
                && EVP_DecryptUpdate(context, nil, &count, header, CInt(header.count)) == 1
                && EVP_DecryptUpdate(
                    context, buffer.baseAddress, &count, ciphertext, CInt(ciphertext.count)) == 1
            written = isDone ? Int(count) : 0
        }
        return isDone ? message : nil
    }
}
