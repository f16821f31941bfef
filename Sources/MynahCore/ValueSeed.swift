import MynahSupport

/// Seeds that follow from another seed and a name.
///
/// Adding or removing a generator changes the seed of no other.
package enum ValueSeed {
    /// The seed of a characteristic's value.
    ///
    /// The numbers are those among equals: the service among the services with its UUID, and the
    /// characteristic among those in the service with its UUID, from 1.
    package static func of(
        _ seed: UInt64, _ service: BluetoothUUID, _ serviceNumber: Int, _ characteristic: BluetoothUUID,
        _ characteristicNumber: Int
    ) -> UInt64 {
        of(seed, "\(service.shortest)~\(serviceNumber)/\(characteristic.shortest)~\(characteristicNumber)")
    }

    /// The seed of a part with a name (FNV-1a, and SplitMix64 to spread it).
    package static func of(_ seed: UInt64, _ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var random = SeededRandom(seed: seed)
        random = SeededRandom(seed: random.next() ^ hash)
        return random.next()
    }
}
