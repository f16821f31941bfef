import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// Makes the devices of a run from profiles: the initial ones, and those that are added later.
struct RunMaker: Sendable {
    private let plan: RunPlan
    private let events: RunEvents
    private let clock: RunClock
    let writer: FileWriter
    /// The seed for generated values: the user's, or a random one.
    private let valueSeed: UInt64
    /// The numbers of requests that a test can answer, or `nil` if there is no control API.
    let requestNumbers: RequestNumbers?

    init(_ plan: RunPlan, _ events: RunEvents, clock: RunClock) {
        self.plan = plan
        self.events = events
        self.clock = clock
        writer = plan.stateDirectory?.writer ?? FileWriter(clock)
        valueSeed = plan.seed ?? UInt64.random(in: 0...UInt64.max)
        requestNumbers = plan.control == nil ? nil : RequestNumbers()
    }

    /// Makes the device of a profile; `label` is its name in events.
    func device(_ profile: Profile, label: String, seed: UInt64? = nil) -> EmulatedDevice {
        var device = EmulatedDevice(
            profile, seed: seed ?? valueSeed, label: label, clockStart: clockStart(seed))
        plan.state?.apply(to: &device.app)
        device.requestNumbers = requestNumbers
        return device
    }

    private func clockStart(_ seed: UInt64?) -> Int64 {
        (seed ?? plan.seed) == nil ? clock.wallMicroseconds / 1_000_000 : GeneratorRun.repeatableStart
    }

    /// Makes the devices of one radio: an accessory, or the apps of a phone.
    func run(_ profiles: [Profile], labels: [String], seed: UInt64? = nil) -> RunSession.Run {
        let phone = profiles[0].phone?.name
        // All apps describe the phone in the same way, or only one app describes it.
        let described = profiles.compactMap(\.phone).first { !$0.services.isEmpty }
        return RunSession.Run(
            devices: zip(profiles, labels).map { device($0, label: $1, seed: seed) },
            phone: EmulatedDevice(
                described, label: RunGroups.label(ofPhone: phone, with: labels),
                clockStart: clockStart(seed)),
            profiles: profiles,
            // Each phone has its own identifier for a device.
            seed: (seed ?? plan.seed).map { seed in
                phone.map { ValueSeed.of(seed, "phone " + $0) } ?? seed
            },
            observer: events.observer(of: labels.joined(separator: ", "), writer))
    }

    /// The directory for the state and the bonds of the devices of one radio, or `nil` if nothing is saved.
    ///
    /// A phone with a name has a folder of its own in the run's directory.
    func stateDirectory(of profile: Profile) throws(RadioError) -> StateDirectory? {
        guard let directory = plan.stateDirectory, let phone = profile.phone?.name else {
            return plan.stateDirectory
        }
        return try directory.folder(ofPhone: phone)
    }
}
