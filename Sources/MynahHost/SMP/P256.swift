import MynahCCrypto

/// The elliptic curve P-256 (FIPS 186-4, D.1.2.3), with which LE Secure Connections agrees on a key.
///
/// Numbers have 32 bytes. Points have 64 bytes, X and then Y. All have the most significant byte first.
enum P256 {
    /// The public key of a private key, or `nil` if the private key is not from 1 to the curve's order minus
    /// one.
    static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        onCurve { curve, context in
            product(of: privateKey, and: nil, on: curve, context)
        }
    }

    /// The point that both sides compute, whose X is their shared secret, or `nil` if the peer's public key
    /// is not on the curve.
    static func sharedPoint(of privateKey: [UInt8], and publicKey: [UInt8]) -> [UInt8]? {
        onCurve { curve, context in
            let peer = EC_POINT_new(curve)
            defer { EC_POINT_free(peer) }
            let encoded = [UInt8(POINT_CONVERSION_UNCOMPRESSED.rawValue)] + publicKey
            // It refuses what is off the curve.
            guard EC_POINT_oct2point(curve, peer, encoded, encoded.count, context) == 1 else { return nil }
            return product(of: privateKey, and: peer, on: curve, context)
        }
    }

    private static func onCurve(_ body: (OpaquePointer, OpaquePointer) -> [UInt8]?) -> [UInt8]? {
        LibCrypto.setUp()
        guard let curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), let context = BN_CTX_secure_new()
        else { preconditionFailure("libcrypto has no P-256") }
        defer {
            BN_CTX_free(context)
            EC_GROUP_free(curve)
        }
        return body(curve, context)
    }

    /// The product of a point and a number; without a point, of the curve's generator and the number.
    private static func product(
        of number: [UInt8], and point: OpaquePointer?, on curve: OpaquePointer, _ context: OpaquePointer
    ) -> [UInt8]? {
        let scalar = BN_bin2bn(number, CInt(number.count), nil)
        defer { BN_clear_free(scalar) }
        guard BN_is_zero(scalar) == 0, BN_cmp(scalar, EC_GROUP_get0_order(curve)) < 0 else { return nil }
        // How long it takes then tells nothing of the number.
        BN_set_flags(scalar, BN_FLG_CONSTTIME)
        let result = EC_POINT_new(curve)
        defer { EC_POINT_clear_free(result) }
        let isDone =
            point == nil
            ? EC_POINT_mul(curve, result, scalar, nil, nil, context)
            : EC_POINT_mul(curve, result, nil, point, scalar, context)
        guard isDone == 1 else { return nil }
        let encoded = [UInt8](unsafeUninitializedCapacity: 65) { buffer, written in
            written = EC_POINT_point2oct(
                curve, result, POINT_CONVERSION_UNCOMPRESSED, buffer.baseAddress, 65, context)
        }
        return encoded.count == 65 ? Array(encoded.dropFirst()) : nil
    }
}
