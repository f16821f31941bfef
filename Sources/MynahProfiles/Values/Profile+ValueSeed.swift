import MynahCore

extension Profile {
    /// Returns the seed of the device, derived from the seed of the run.
    ///
    /// Each copy of a profile has a different seed.
    package func deviceSeed(_ seed: UInt64) -> UInt64 {
        copy.map { ValueSeed.of(seed, "copy \($0)") } ?? seed
    }

    /// Returns the seed of each characteristic's value, by service; `seed` is the seed of the run.
    package func valueSeeds(_ seed: UInt64) -> [[UInt64]] {
        var serviceCounts: [BluetoothUUID: Int] = [:]
        return services.map { service in
            serviceCounts[service.uuid, default: 0] += 1
            let number = serviceCounts[service.uuid, default: 0]
            var counts: [BluetoothUUID: Int] = [:]
            return service.characteristics.map { characteristic in
                counts[characteristic.uuid, default: 0] += 1
                return ValueSeed.of(
                    seed, service.uuid, number, characteristic.uuid, counts[characteristic.uuid, default: 0])
            }
        }
    }
}
