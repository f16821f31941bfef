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

    /// The requested advertisement with the current values, or `nil` if the device does not advertise.
    var advertisement: Advertisement? {
        guard var advertisement = memory.device.requestedAdvertisement else { return nil }
        memory.device.advertised.values.fill(
            &advertisement, at: memory.elapsed, memory.table.variables,
            after: memory.device.advertised.change, firstSet: memory.device.advertisement?.name)
        return advertisement
    }

    /// Sleeps until the next change of a value, if there is one.
    func keepTicking() {
        isRefused = false
        sleep()
    }

    /// Handles a refusal by the radio: warns, unless it also refused the last value, and sleeps until the
    /// next.
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
