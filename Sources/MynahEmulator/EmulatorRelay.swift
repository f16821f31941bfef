import Mynah
import MynahCore
import MynahSupport

/// Hands the phone's events to the emulator, which is made after it.
final class EmulatorRelay<C: Clock>: PhoneSink where C.Duration == Duration {
    private let slot = Lock<Emulator<C>?>(nil)

    var emulator: Emulator<C>? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }

    func handle(_ event: PhoneEvent) -> RadioAnswer {
        emulator?.assumeIsolated { $0.take(event) } ?? .none
    }
}
