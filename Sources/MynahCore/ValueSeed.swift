import MynahSupport

/// Derives seeds from another seed and a name.
///
/// Adding or removing a value generator does not change the seeds of others.
package enum ValueSeed {
    /// Returns the seed of a characteristic's value.
    ///
    /// The numbers count, from 1, the services with the same UUID, and the characteristics in the service
    /// with the same UUID.
    package static func of(
        _ seed: UInt64, _ service: BluetoothUUID, _ serviceNumber: Int, _ characteristic: BluetoothUUID,
        _ characteristicNumber: Int
    ) -> UInt64 {
        of(seed, "\(service.shortest)~\(serviceNumber)/\(characteristic.shortest)~\(characteristicNumber)")
    }

    /// Returns a seed that is derived from `seed` and a name (FNV-1a, with SplitMix64 to distribute the
    /// bits).
    package static func of(_ seed: UInt64, _ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var random = SeededRandom(seed: seed)
        random = SeededRandom(seed: random.next() ^ hash)
        return random.next()
    }
}
