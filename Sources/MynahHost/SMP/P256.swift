import MynahCCrypto

/// The elliptic curve P-256 (FIPS 186-4, D.1.2.3), on which the key agreement of LE Secure Connections is
/// based.
///
/// Numbers have 32 bytes. Points have 64 bytes: X, then Y. All have the most significant byte first.
enum P256 {
    /// The public key of a private key, or `nil` if the private key is out of range.
    ///
    /// A private key is at least 1 and less than the order of the curve.
    static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        onCurve { curve, context in
            product(of: privateKey, and: nil, on: curve, context)
        }
    }

    /// The point of the key agreement, or `nil` if the peer's public key is not on the curve.
    ///
    /// The X coordinate of the point is the shared secret.
    static func sharedPoint(of privateKey: [UInt8], and publicKey: [UInt8]) -> [UInt8]? {
        onCurve { curve, context in
            let peer = EC_POINT_new(curve)
            defer { EC_POINT_free(peer) }
            let encoded = [UInt8(POINT_CONVERSION_UNCOMPRESSED.rawValue)] + publicKey
            // The function refuses points that are not on the curve.
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

    /// The product of a point and a number; the point is the curve's generator if `point` is `nil`.
    private static func product(
        of number: [UInt8], and point: OpaquePointer?, on curve: OpaquePointer, _ context: OpaquePointer
    ) -> [UInt8]? {
        let scalar = BN_bin2bn(number, CInt(number.count), nil)
        defer { BN_clear_free(scalar) }
        guard BN_is_zero(scalar) == 0, BN_cmp(scalar, EC_GROUP_get0_order(curve)) < 0 else { return nil }
        // The computing time then reveals nothing about the number.
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
