import Mynah
import MynahConsole
import MynahEmulator
import MynahProfiles
import MynahSupport

import Glibc

/// Makes what a run plays out of profiles: those it begins with, and those that are added later.
struct RunMaker: Sendable {
    let output: RunOutput
    let stateDirectory: StateDirectory?
    let writer: FileWriter
    /// The user's, or `nil`.
    let seed: UInt64?
    /// The user's seed, or a random one.
    let valueSeed: UInt64
    /// The state that apps start in; `nil` if the profile's.
    let state: RunState?
    /// Whether events have `device`.
    let namesDevices: Bool
    /// Numbers the requests that a test answers; `nil` if no test can answer.
    let requestNumbers: RequestNumbers?

    init(
        _ output: RunOutput, _ stateDirectory: StateDirectory?, seed: UInt64?, state: RunState?,
        namesDevices: Bool, isControlled: Bool
    ) {
        self.output = output
        self.stateDirectory = stateDirectory
        writer = stateDirectory?.writer ?? FileWriter()
        self.seed = seed
        valueSeed = seed ?? UInt64.random(in: 0...UInt64.max)
        self.state = state
        self.namesDevices = namesDevices
        requestNumbers = isControlled ? RequestNumbers() : nil
    }

    /// The device of a profile; `label` is what events call it.
    func device(_ profile: Profile, label: String, seed: UInt64? = nil) -> EmulatedDevice {
        let isRepeatable = (seed ?? self.seed) != nil
        var device = EmulatedDevice(
            profile, seed: seed ?? valueSeed, label: label,
            clockStart: isRepeatable ? GeneratorRun.repeatableStart : Int64(time(nil)))
        state?.apply(to: &device.app)
        device.requestNumbers = requestNumbers
        return device
    }

    /// The devices of one radio: an accessory, or the apps of a phone.
    func run(_ profiles: [Profile], labels: [String], seed: UInt64? = nil) -> RunPlayer.Run {
        RunPlayer.Run(
            devices: zip(profiles, labels).map { device($0, label: $1, seed: seed) },
            profiles: profiles, stateDirectory: profiles[0].app != nil ? stateDirectory : nil,
            seed: seed ?? self.seed,
            observer: output.observer(
                of: labels.joined(separator: ", "), isAlone: !namesDevices, writer))
    }
}
