import MynahCore
import MynahSupport

/// Updates the advertising of a device whenever a value of its advertisement changes.
///
/// Belongs to the device's player, and runs on the phone's executor.
final class AdvertisingTicker {
    private let memory: DeviceMemory
    private let link: PlayerLink
    /// The task that wakes for the next value.
    private var sleeping: Task<Void, Never>?
    /// `true` if the radio refused the last value; another refusal is then not reported.
    private var isRefused = false

    init(of memory: DeviceMemory, _ link: PlayerLink) {
        self.memory = memory
        self.link = link
    }

    /// Returns the requested advertisement with its current values, or `nil` if the device does not
    /// advertise.
    ///
    /// Reports values that do not fit.
    func currentAdvertisement() -> Advertisement? {
        guard var advertisement = memory.device.requestedAdvertisement else { return nil }
        let messages = memory.device.advertised.values.fill(
            &advertisement, at: memory.elapsed, memory.table.variables,
            after: memory.device.advertised.change, firstSet: memory.device.advertisement?.name)
        for message in messages { memory.events.warn("advertisingNotChanged", message) }
        return advertisement
    }

    /// Sleeps until the next change of a value, if there is one.
    func keepTicking() {
        isRefused = false
        sleep()
    }

    /// Handles a value that the radio has refused, and waits for the next value.
    ///
    /// Warns, unless the radio also refused the previous value.
    func refused(_ error: RadioError) {
        if !isRefused {
            memory.events.warn(
                "advertisingNotChanged", "the advertisement could not be changed: \(error)")
        }
        isRefused = true
        sleep()
    }

    private func sleep() {
        sleeping?.cancel()
        sleeping = nil
        guard let since = memory.since,
            let next = memory.device.advertised.values.next(after: memory.elapsed)
        else { return }
        sleeping = link.emulator.enqueue(at: since.advanced(by: next), on: memory.clock) {
            [index = link.index] in
            await $0.player(index)?.advertiseNextValue()
        }
    }

    func stop() {
        sleeping?.cancel()
        sleeping = nil
    }
}
