import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// Reports the devices' use of the radio each minute.
///
/// Belongs to its emulator, and runs on the phone's executor.
final class RadioUseReports {
    private let devices: PlayedDevices
    private let phone: Phone
    private let clock: RunClock
    private let link: EmulatorLink
    /// The task that waits for the next report.
    private var metering: Task<Void, Never>?

    init(of devices: PlayedDevices, on phone: Phone, clock: RunClock, link: EmulatorLink) {
        self.devices = devices
        self.phone = phone
        self.clock = clock
        self.link = link
    }

    /// Starts to report each minute after `instant`.
    ///
    /// Minutes in which the process was suspended are combined into one report.
    func start(after instant: RunClock.Instant) {
        let due = instant.advanced(by: .seconds(60))
        metering = link.enqueue(at: due, on: clock) { await $0.control.meter.reportWhenDue(due) }
    }

    private func reportWhenDue(_ due: RunClock.Instant) async {
        await report()
        // The run may have ended in the meantime.
        guard metering?.isCancelled == false else { return }
        let now = clock.now
        start(after: due.advanced(by: .seconds(60)) < now ? now : due)
    }

    func stop() { metering?.cancel() }

    /// Reports the radio use since the last report, for each app or for the accessory.
    ///
    /// Does nothing if the radio does not measure its use.
    func report() async {
        guard let metered = await phone.reportRadioUse() else { return }
        for player in devices.players {
            guard let use = metered.uses[player.memory.appSide.app?.access.number ?? 0] else { continue }
            player.events.report(.radioUsed, .radio(.init(use, metered)))
        }
    }
}
