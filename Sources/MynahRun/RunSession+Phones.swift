package import MynahControl
import MynahSupport

// Phones in the central role that come and go while devices play.
extension RunSession {
    package var phones: [any ControlledPhone] { playedRadios.phones }

    package func addPhone(_ settings: PhoneSettings) async throws(ControlProblem) -> any ControlledPhone {
        guard let radios = radioMaker.withLock({ $0 }) else { throw PhoneMaker.isChanging }
        return try await PhoneMaker(
            radios: radios, played: playedRadios, events: events, directory: plan.stateDirectory,
            writer: maker.writer, clock: clock
        ).add(settings, after: runs.count)
    }

    package func removePhone(_ phone: any ControlledPhone) async { await playedRadios.end(phone) }
}
