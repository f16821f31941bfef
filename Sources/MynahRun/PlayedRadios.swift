import MynahCore
import MynahEmulator
import MynahSupport

/// The devices of a run that have begun to start, by the number of their radio.
final class PlayedRadios: Sendable {
    private struct State {
        /// The devices of each radio, or `nil` if the run is over and no other begins.
        var playing: [RunSession.Playing]? = []
        /// How many of the devices of the command line have begun to start.
        var begun = 0
    }

    private let state = Lock(State())

    /// The radios whose devices play now.
    var all: [RunSession.Playing] { state.withLock { $0.playing ?? [] } }

    /// Adds devices of the command line; returns `false` if the run is over.
    func add(_ new: RunSession.Playing) -> Bool {
        state.withLock { state in
            state.playing?.append(new)
            state.begun += 1
            return state.playing != nil
        }
    }

    /// Adds what plays on a radio of its own: `body` makes it from the number of the radio and the labels of
    /// the devices that play.
    ///
    /// Returns `nil` if the run is over, or while devices of the command line wait for their radios and
    /// names: until `count` have begun to start.
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

    /// Changes what plays on a radio; returns `nil` if that does not play.
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

    /// Removes what plays on a radio; others may use a radio of its number by now.
    func remove(_ gone: RunSession.Playing) {
        state.withLock { $0.playing?.removeAll { $0.emulator === gone.emulator } }
    }

    /// Empties the list, so that the run can begin anew, and returns what played; `nil` if the run is over.
    func clear() -> [RunSession.Playing]? {
        state.withLock { state in
            guard let all = state.playing else { return nil }
            state = State()
            return all
        }
    }

    /// Ends the run, so that no other begins, and returns what plays.
    func close() -> [RunSession.Playing] {
        state.withLock { state in
            defer { state.playing = nil }
            return state.playing ?? []
        }
    }
}
