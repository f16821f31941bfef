import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

// The devices' use of the radio.
extension Emulator {
    /// Reports it a minute after an instant, and each minute from then on; minutes in which the process did
    /// not run are one report.
    func waitForRadioReport(after instant: RunClock.Instant) {
        let due = instant.advanced(by: .seconds(60))
        metering = link.enqueue(at: due, on: clock) { emulator in
            await emulator.reportRadioUse()
            // The run may have ended meanwhile.
            guard emulator.metering?.isCancelled == false else { return }
            let now = emulator.clock.now
            emulator.waitForRadioReport(after: due.advanced(by: .seconds(60)) < now ? now : due)
        }
    }

    /// Reports what each app, or the accessory, has used since the report before; nothing if the radio does
    /// not know.
    func reportRadioUse() async {
        guard let metered = await phone.reportRadioUse() else { return }
        for player in players {
            guard let use = metered.uses[player.appSide.app?.access.number ?? 0] else { continue }
            player.events.report(.radioUsed, .radio(.init(use, metered)))
        }
    }
}
