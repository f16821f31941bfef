import MynahCore
import MynahEmulator
import MynahSupport

/// The devices of a run that are being started or played, by radio number.
final class PlayedRadios: Sendable {
    private struct State {
        /// The devices of each radio, or `nil` after the end of the run.
        var playing: [RunSession.Playing]? = []
        /// The number of radios from the command line whose devices are being started or played.
        var begun = 0
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

    /// Adds a radio, whose devices `body` makes from the radio's number and the used labels.
    ///
    /// The result is `nil` after the end of the run. It is also `nil` before all `count` radios of the
    /// command line were added, because these get their numbers and names first.
    func append(
        after count: Int,
        _ body: (_ index: Int, _ labels: [String]) throws(RadioError) -> RunSession.Playing
    ) throws(RadioError) -> RunSession.Playing? {
        try state.withLock { state throws(RadioError) in
            guard let others = state.playing, state.begun == count else { return nil }
            let used = Set(others.map(\.index))
            let index = (0...).first { !used.contains($0) } ?? 0
            let new = try body(index, others.flatMap { $0.run.devices.map(\.label) })
            state.playing?.append(new)
            return new
        }
    }

    /// Changes the devices of a radio; returns `nil` if there is no such radio.
    func change<Value>(
        _ index: Int, _ body: (inout RunSession.Run, _ labels: [String]) -> sending Value
    ) -> sending Value? {
        state.withLock { state in
            guard var all = state.playing, let place = all.firstIndex(where: { $0.index == index }) else {
                return nil
            }
            let labels = all.flatMap { $0.run.devices.map(\.label) }
            let value = body(&all[place].run, labels)
            state.playing = all
            return value
        }
    }

    /// Removes the devices of a radio, but not those of a later radio with the same number.
    func remove(_ gone: RunSession.Playing) {
        state.withLock { $0.playing?.removeAll { $0.emulator === gone.emulator } }
    }

    /// Removes and returns all devices, so that the run can begin again; `nil` after the end of the run.
    func clear() -> [RunSession.Playing]? {
        state.withLock { state in
            guard let all = state.playing else { return nil }
            state = State()
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
