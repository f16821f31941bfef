import MynahCore

extension Profile {
    /// The seed of a characteristic's value in a run with a seed.
    package func valueSeed(_ seed: UInt64, service: Int, characteristic: Int) -> UInt64 {
        let (own, list) = (services[service], services[service].characteristics)
        let uuid = list[characteristic].uuid
        return ValueSeed.of(
            seed, own.uuid, services[...service].count { $0.uuid == own.uuid }, uuid,
            list[...characteristic].count { $0.uuid == uuid })
    }
}
