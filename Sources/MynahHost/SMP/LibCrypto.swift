import MynahCCrypto

/// The library that has the algorithms: libcrypto of OpenSSL 3.
enum LibCrypto {
    /// Has to be called before any other function of the library.
    ///
    /// The library then reads no configuration of the machine's, which could take algorithms away, and keeps
    /// its memory until the process has ended: a link may still be encrypted while the program exits.
    static func setUp() { _ = isSetUp }

    private static let isSetUp =
        OPENSSL_init_crypto(
            UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
