import MynahControl
import MynahCore
import MynahEmulator
import MynahSupport

/// The devices of a run that are being started or played, by radio number.
final class PlayedRadios: Sendable {
    private struct State {
        /// The devices of each radio, or `nil` after the end of the run.
        var playing: [RunSession.Playing]? = []
        /// The number of radios from the command line that were added so far.
        var begun = 0
        /// The phones that tests have made.
        var phones: [PlayedPhone] = []

        /// The numbers of the radios in use.
        var indices: Set<Int> { Set((playing ?? []).map(\.index) + phones.map(\.index)) }
        /// The names in events of all devices and phones.
        var labels: [String] {
            (playing ?? []).flatMap { $0.run.devices.map(\.label) } + phones.map(\.name)
        }
    }

    private let state = Lock(State())

    /// The devices of each radio; empty after the end of the run.
    var all: [RunSession.Playing] { state.withLock { $0.playing ?? [] } }

    /// Adds a radio of the command line; returns `false` after the end of the run.
    func add(_ new: RunSession.Playing) -> Bool {
        state.withLock { state in
            state.playing?.append(new)
            state.begun += 1
            return state.playing != nil
        }
    }

    /// Adds a radio with the devices that `body` makes from the radio's number and the names already in use.
    ///
    /// The result is `nil` after the end of the run. It is also `nil` before all `count` radios of the
    /// command line were added, because these get their numbers and names first.
    func append(
        after count: Int,
        _ body: (_ index: Int, _ labels: [String]) throws(RadioError) -> RunSession.Playing
    ) throws(RadioError) -> RunSession.Playing? {
        try state.withLock { state throws(RadioError) in
            guard state.playing != nil, state.begun == count else { return nil }
            let used = state.indices
            let index = (0...).first { !used.contains($0) } ?? 0
            let new = try body(index, state.labels)
            state.playing?.append(new)
            return new
        }
    }

    /// The phones that tests have made.
    var phones: [PlayedPhone] { state.withLock { $0.phones } }

    /// Adds a phone, as `append` adds a radio; `body` also gets the other phones.
    func appendPhone(
        after count: Int,
        _ body: (_ index: Int, _ labels: [String], _ others: [PlayedPhone]) throws(ControlProblem)
            -> PlayedPhone
    ) throws(ControlProblem) -> PlayedPhone? {
        try state.withLock { state throws(ControlProblem) in
            guard state.playing != nil, state.begun == count else { return nil }
            let used = state.indices
            let index = (0...).first { !used.contains($0) } ?? 0
            let new = try body(index, state.labels, state.phones)
            state.phones.append(new)
            return new
        }
    }

    /// Ends a phone and removes it, unless it was removed before.
    func end(_ phone: any ControlledPhone) async {
        guard let phone = phone as? PlayedPhone else { return }
        // It keeps its name and its radio until it has ended.
        await phone.stop()
        state.withLock { $0.phones.removeAll { $0 === phone } }
    }

    /// Ends all phones and removes them.
    func endPhones() async {
        for phone in phones { await end(phone) }
    }

    /// Changes the devices of a radio by `body`, and returns its result; returns `nil` if no radio has this
    /// number.
    func change<Value>(
        _ index: Int, _ body: (inout RunSession.Run, _ labels: [String]) -> sending Value
    ) -> sending Value? {
        state.withLock { state in
            guard var all = state.playing, let place = all.firstIndex(where: { $0.index == index }) else {
                return nil
            }
            let labels = state.labels
            let value = body(&all[place].run, labels)
            state.playing = all
            return value
        }
    }

    /// Removes the devices of a radio, but not those of a later radio with the same number.
    func remove(_ gone: RunSession.Playing) {
        state.withLock { $0.playing?.removeAll { $0.emulator === gone.emulator } }
    }

    /// Removes and returns all devices, so that the run can begin again; returns `nil` after the end of the
    /// run.
    func clear() -> [RunSession.Playing]? {
        state.withLock { state in
            guard let all = state.playing else { return nil }
            // The phones are removed when they have ended.
            (state.playing, state.begun) = ([], 0)
            return all
        }
    }

    /// Ends the run, so that no device can be added, and returns the devices.
    func close() -> [RunSession.Playing] {
        state.withLock { state in
            defer { state.playing = nil }
            return state.playing ?? []
        }
    }
}
