import MynahCCrypto

/// OpenSSL's libcrypto, version 3.
enum LibCrypto {
    /// Prepares the library; call this before its other functions.
    ///
    /// The library reads no openssl.cnf, because that file could disable algorithms. It does not free its
    /// memory at exit, because other threads may still use it then.
    static func setUp() { _ = isSetUp }

    private static let isSetUp =
        OPENSSL_init_crypto(
            UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
