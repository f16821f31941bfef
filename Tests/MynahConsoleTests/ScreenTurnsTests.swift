import MynahConsole
import Testing

@Suite struct ScreenTurnsTests {
    /// An event for a screen.
    ///
    /// `place` is the index of an earlier one in the plan.
    enum Step: Sendable {
        case take, change, hurry, giveBack, goOn, end
        case due(Int)
        case drawn(isMoving: Bool)
    }

    /// The screen's reaction.
    enum Outcome: Hashable, Sendable {
        case plan(Int), draw, look, leave, nothing
    }

    private static func outcomes(_ steps: [Step]) -> [Outcome] {
        var turns = ScreenTurns()
        var plans: [ScreenTurns.Plan] = []
        func planned(_ plan: ScreenTurns.Plan?) -> Outcome {
            guard let plan else { return .nothing }
            plans.append(plan)
            return .plan(plan.milliseconds)
        }
        func goOn() -> Outcome {
            turns.continueWithoutTerminal()
            return .nothing
        }
        func outcome(_ due: ScreenTurns.Due) -> Outcome {
            switch due {
            case .nothing: .nothing
            case .draw: .draw
            case .look: .look
            }
        }
        return steps.map { step in
            switch step {
            case .take: planned(turns.enterScreen())
            case .change: planned(turns.change())
            case .hurry: planned(turns.hurry())
            case .giveBack: turns.giveBack() ? .leave : .nothing
            case .goOn: goOn()
            case .end: turns.end() ? .leave : .nothing
            case .due(let place): outcome(turns.due(plans[place].turn))
            case .drawn(let isMoving): planned(turns.drawn(isMoving: isMoving))
            }
        }
    }

    @Test(
        arguments: [
            // Drawn at once, and then only after something happened.
            ([.take, .due(0), .drawn(isMoving: false), .due(0)], [.plan(0), .draw, .nothing, .nothing]),
            ([.take, .due(0), .change, .change, .due(1)], [.plan(0), .draw, .plan(80), .nothing, .draw]),
            // Moving parts are drawn by themselves, and events meanwhile do not wait for that.
            (
                [.take, .due(0), .drawn(isMoving: true), .change, .due(1), .due(2)],
                [.plan(0), .draw, .plan(500), .plan(80), .nothing, .draw]
            ),
            (
                [.take, .due(0), .change, .hurry, .hurry, .due(1), .due(2)],
                [.plan(0), .draw, .plan(80), .plan(0), .nothing, .nothing, .draw]
            ),
            (
                [.take, .due(0), .hurry, .change, .drawn(isMoving: true)],
                [.plan(0), .draw, .plan(0), .nothing, .nothing]
            ),
            // A draw that was planned does not run between giving the terminal back and taking it again, nor
            // after.
            (
                [.take, .due(0), .change, .giveBack, .due(1), .take, .due(1), .due(2)],
                [.plan(0), .draw, .plan(80), .leave, .nothing, .plan(0), .nothing, .draw]
            ),
            (
                [.take, .giveBack, .change, .hurry, .drawn(isMoving: true), .giveBack, .due(0), .take],
                [.plan(0), .leave, .nothing, .nothing, .nothing, .nothing, .nothing, .plan(0)]
            ),
            // In the background it looks for the terminal when something happens, and does not draw until it
            // has it.
            (
                [
                    .take, .giveBack, .goOn, .change, .change, .due(1), .due(1), .change, .due(2), .take,
                    .due(3),
                ],
                [
                    .plan(0), .leave, .nothing, .plan(80), .nothing, .look, .nothing, .plan(80), .look,
                    .plan(0),
                    .draw,
                ]
            ),
            (
                [.take, .giveBack, .goOn, .change, .giveBack, .due(1), .change, .goOn, .end],
                [.plan(0), .leave, .nothing, .plan(80), .nothing, .nothing, .nothing, .nothing, .nothing]
            ),
            // Its own already, the terminal is not the background's.
            ([.take, .due(0), .goOn, .change, .due(1)], [.plan(0), .draw, .nothing, .plan(80), .draw]),
            // Stopped by a signal that nobody hears: entered again.
            ([.take, .due(0), .take, .due(1)], [.plan(0), .draw, .plan(0), .draw]),
            // After the end nothing is drawn, and what was given back is not left again.
            (
                [.take, .change, .end, .due(0), .change, .take, .giveBack, .end],
                [.plan(0), .nothing, .leave, .nothing, .nothing, .nothing, .nothing, .nothing]
            ),
            ([.take, .giveBack, .end, .take, .due(0)], [.plan(0), .leave, .nothing, .nothing, .nothing]),
            // Before the first taking there is no screen.
            ([.change, .hurry, .giveBack, .end], [.nothing, .nothing, .nothing, .nothing]),
        ] as [([Step], [Outcome])])
    func `a screen draws while the terminal is its own`(steps: [Step], outcomes: [Outcome]) {
        #expect(Self.outcomes(steps) == outcomes)
    }
}
