public import MynahHCI

extension ControllerConfiguration {
    /// AES-128 for virtual controllers, which need it for LE Encrypt and for resolving addresses.
    ///
    /// The cipher is in this module because the lower modules have none.
    public static let aes: Cipher = { key, block in
        guard key.count == AES128.blockSize, block.count == AES128.blockSize else { return nil }
        return AES128.encrypt(block, with: key)
    }
}
