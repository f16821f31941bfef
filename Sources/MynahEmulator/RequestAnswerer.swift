import Mynah
import MynahCore

/// Answers the reads and the writes of centrals that reach a player's device.
///
/// A request meets, in this order: the answer of a test (`ask`), the rules of the profile (`on`), the
/// behavior of its service, its errors (`errors`), and the stored values. It belongs to its player, and runs
/// on the phone's executor.
final class RequestAnswerer {
    private unowned let player: DevicePlayer
    /// The services that behave, or `nil` if none does.
    private(set) lazy var behaviors = ServicePlayer(player)

    init(_ player: DevicePlayer) {
        self.player = player
    }

    func read(_ request: ReadRequest, _ central: Central) -> RadioAnswer {
        player.noteWake(request.attribute)
        if player.table.isAsking, let answer = player.asks.ask(request, central) { return answer }
        // An app without the PSM of its channel answers when it has one.
        if request.attribute == player.device.psm,
            let pending = player.appSide.channel.wait(with: request, central)
        {
            return .later(pending)
        }
        return .answer(carryOut(request, central))
    }

    /// Carries out a read that nothing is waited for any more, and reports it.
    func carryOut(_ request: ReadRequest, _ central: Central) -> PendingReply.Outcome {
        let outcome =
            player.appSide.readPSM(request, of: player.device) ?? behaviors?.read(request, central)
            ?? player.table.read(request, at: player.elapsed)
        if player.events.isObserved {
            player.reportRead(request, central, (try? outcome.get()) ?? [], outcome)
        }
        return outcome
    }

    func write(_ request: WriteRequest, _ central: Central) -> RadioAnswer {
        for part in request.parts { player.noteWake(part.attribute) }
        if player.table.isAsking, let answer = player.asks.ask(request, central) { return answer }
        let outcome = carryOut(request, central)
        RequestAsker.report(request, central, outcome, by: player)
        return .answer(outcome)
    }

    /// Carries out a write that no test answers any more.
    func carryOut(_ request: WriteRequest, _ central: Central) -> PendingReply.Outcome {
        player.reactions.write(request, central)
            ?? ServicePlayer.carryOut(request, central, by: player)
    }
}
