public import MynahHCI

extension ControllerConfiguration {
    /// AES-128 for virtual controllers, with which they support LE Encrypt and resolve addresses as real
    /// controllers do.
    ///
    /// The cipher is in this module, because the modules below have no cipher.
    public static let aes: Cipher = { key, block in
        guard key.count == AES128.blockSize, block.count == AES128.blockSize else { return nil }
        return AES128.encrypt(block, with: key)
    }
}
