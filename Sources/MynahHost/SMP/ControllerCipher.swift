public import MynahHCI

extension ControllerConfiguration {
    /// AES-128 for virtual controllers, with which they support LE Encrypt and resolve addresses as real
    /// controllers do.
    public static let aes: Cipher = { key, block in
        guard key.count == AES128.blockSize, block.count == AES128.blockSize else { return nil }
        return AES128.encrypt(block, with: key)
    }
}
