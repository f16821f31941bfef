import MynahCore

extension Profile {
    /// The seed of the device in a run with a seed: each copy has one of its own.
    package func deviceSeed(_ seed: UInt64) -> UInt64 {
        copy.map { ValueSeed.of(seed, "copy \($0)") } ?? seed
    }

    /// The seed of a characteristic's value in a run with a seed.
    package func valueSeed(_ seed: UInt64, service: Int, characteristic: Int) -> UInt64 {
        let (own, list) = (services[service], services[service].characteristics)
        let uuid = list[characteristic].uuid
        return ValueSeed.of(
            seed, own.uuid, services[...service].count { $0.uuid == own.uuid }, uuid,
            list[...characteristic].count { $0.uuid == uuid })
    }
}
