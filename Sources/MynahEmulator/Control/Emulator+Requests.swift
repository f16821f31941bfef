import Mynah
import MynahCore

// Requests that a test answers.
extension Emulator {
    /// Answers a request of one of its devices; returns `false` if none of this number waits.
    ///
    /// If the answer is refused, the request goes on waiting, except for a write that does not fit any more.
    package func answer(_ id: Int, _ answer: RequestAnswer) async throws(ControlRefusal) -> Bool {
        let capabilities = await phone.capabilities
        for player in players where try player.asks.answer(id, answer, capabilities) { return true }
        return false
    }
}
