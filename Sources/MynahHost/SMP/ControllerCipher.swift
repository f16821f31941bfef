public import MynahHCI

extension ControllerConfiguration {
    /// AES-128 for virtual controllers, which then support LE Encrypt and resolve addresses as real ones
    /// do.
    ///
    /// It is in this module, because the modules below have no cipher.
    public static let aes: Cipher = { key, block in
        guard key.count == 16, block.count == 16 else { return nil }
        return SecurityToolbox.e(SecretKey(fitting: key.reversed()), block.reversed()).reversed()
    }
}
