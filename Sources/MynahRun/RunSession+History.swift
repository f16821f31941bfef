package import MynahControl
import MynahCore
import MynahSupport

// A new history of a run with a `manual` clock.
extension RunSession {
    package func clockMoved() { events.clockMoved() }

    package func beginAnew(seed: UInt64?) async throws(ControlProblem) {
        guard plan.stateDirectory == nil else {
            throw ControlProblem(
                409,
                """
                a new history cannot begin with --state-dir, whose files have bonds and states of this one; \
                leave out --state-dir, or reset parts, as in {"values": true}
                """)
        }
        // If the client disconnects, only its request is cancelled: the new history is still started.
        let problem = await Task(executorPreference: clock.taskExecutor) { [self] in
            await restart(seed: seed)
        }.value
        if let problem { throw problem }
    }

    /// Stops all devices and starts the run again from the beginning; returns the problem if that failed.
    private func restart(seed: UInt64?) async -> ControlProblem? {
        let ending = ControlProblem(409, "the run is starting or ending; try again")
        guard let time = clock.manual, let radios = radioMaker.withLock({ $0 }),
            let played = playedRadios.clear()
        else { return ending }
        watch.pause()
        await playedRadios.endPhones()
        await stop(played, forgetting: true)
        for each in played { outputs.keys?.detach(each.emulator) }
        // The remaining work of the old history ends before the new one starts.
        _ = await time.advance(by: .zero)
        time.restart()
        _ = await time.advance(by: .zero)
        await awaitEvents()
        var plan = plan
        plan.seed = seed ?? plan.seed
        cast.withLock { $0 = Cast(plan, events, clock) }
        radioMaker.withLock { $0 = radios.anew(in: self.time.anew(seed: plan.seed ?? 0)) }
        control?.beginAnew()
        events.beginAnew(isServer: plan.isServer)
        watch.beginAnew()
        guard let failure = await start() else { return nil }
        return interruption.isInterrupted ? ending : ControlProblem(409, failure.description)
    }
}
