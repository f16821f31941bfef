import Mynah
import MynahCore

/// Carries out the reads and the writes of centrals that no test answers.
///
/// A request meets, in this order: the rules of the profile (`on`), the behavior of its service, its errors
/// (`errors`), and the stored values. Belongs to the device's player, and runs on the phone's executor.
final class RequestPipeline {
    private let memory: DeviceMemory
    private let reactions: ReactionPlayer
    private let behaviors: ServicePlayer?

    init(of memory: DeviceMemory, _ reactions: ReactionPlayer, _ behaviors: ServicePlayer?) {
        self.memory = memory
        self.reactions = reactions
        self.behaviors = behaviors
    }

    /// Carries out a read that nothing is waited for any more, and reports it.
    func answer(_ request: ReadRequest, _ central: Central) -> PendingReply.Outcome {
        // Any other read copies neither the device nor its app's side.
        let isOfPSM = request.attribute == memory.device.responses.psm
        let outcome =
            (isOfPSM ? memory.appSide.readPSM(request, of: memory.device) : nil)
            ?? behaviors?.read(request, central) ?? memory.table.read(request, at: memory.elapsed)
        if memory.events.isObserved {
            memory.reportRead(request, central, (try? outcome.get()) ?? [], outcome)
        }
        return outcome
    }

    /// Carries out a write that no test answers any more.
    func answer(_ request: WriteRequest, _ central: Central) -> PendingReply.Outcome {
        reactions.write(request, central)
            ?? ServicePlayer.carryOut(request, central, by: behaviors, in: memory)
    }
}
