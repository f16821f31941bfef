import MynahCore

/// Reports events of a phone as a whole to the phone's sink.
final class PhoneReports: Sendable {
    private let sink: (any PhoneSink)?
    private let radio: any PeripheralRadio

    init(to sink: (any PhoneSink)?, on radio: any PeripheralRadio) {
        self.sink = sink
        self.radio = radio
    }

    /// Reports an event, which needs no answer.
    func report(_ event: PhoneEvent) { _ = sink?.handle(event) }

    /// Reports an event that may be answered; returns `.none` if the phone has no sink.
    func ask(_ event: PhoneEvent) -> RadioAnswer { sink?.handle(event) ?? .none }

    /// Reports a warning.
    func warn(_ code: String, _ message: String) { report(.warning(RadioWarning(code, message))) }

    /// Reports a warning from another thread, unless the phone has been released.
    func warnSoon(_ code: String, _ message: String) {
        Task(executorPreference: radio.preferredExecutor) { [weak self, radio] in
            await self?.warn(code, message, on: radio)
        }
    }

    private func warn(_ code: String, _ message: String, on radio: isolated any PeripheralRadio) {
        warn(code, message)
    }
}
