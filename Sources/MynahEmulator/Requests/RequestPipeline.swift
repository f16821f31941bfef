import Mynah
import MynahCore

/// Handles the reads and writes of centrals that are not passed to a test.
///
/// A request is handled by the first of these that applies: the rules of the profile (`on`), the behavior of
/// its service, its errors (`errors`), and the stored values. Belongs to the device's player, and runs on
/// the phone's executor.
final class RequestPipeline {
    private let memory: DeviceMemory
    private let reactions: ReactionPlayer
    private let behaviors: ServicePlayer?

    init(of memory: DeviceMemory, _ reactions: ReactionPlayer, _ behaviors: ServicePlayer?) {
        self.memory = memory
        self.reactions = reactions
        self.behaviors = behaviors
    }

    /// Carries out a read that can be answered at once, and reports it.
    func answer(_ request: ReadRequest, _ central: Central) -> PendingReply.Outcome {
        // Only a read of the PSM copies the device and the app's state, which takes time.
        let isOfPSM = request.attribute == memory.device.responses.psm
        let outcome =
            (isOfPSM ? memory.appSide.readPSM(request, of: memory.device) : nil)
            ?? behaviors?.read(request, central) ?? memory.table.read(request, at: memory.elapsed)
        if memory.events.isObserved {
            memory.reportRead(request, central, (try? outcome.get()) ?? [], outcome)
        }
        return outcome
    }

    /// Carries out a write that is not passed to a test.
    func answer(_ request: WriteRequest, _ central: Central) -> PendingReply.Outcome {
        reactions.write(request, central)
            ?? ServicePlayer.carryOut(request, central, by: behaviors, in: memory)
    }
}
