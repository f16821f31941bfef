package import MynahCore
package import MynahSupport

/// A radio with faults: a layer between another radio and the device that receives the other radio's events.
///
/// The layer runs on the executor of the wrapped radio, and carries out the actions of its `FaultMachine`.
/// While no fault can apply, requests bypass the layer. Use it only for a device that has faults, or to which
/// faults may be added.
package actor FaultyRadio: RadioLayer {
    /// The wrapped radio.
    package nonisolated let wrapped: any VanishingRadio
    /// The wrapped radio, or `nil` if faults cannot change requests that it answers by itself.
    nonisolated let lower: (any FaultableRadio)?
    private let owner: FaultyRadioOwner
    var machine: FaultMachine
    var values: ValueSender
    var unanswered = UnansweredReplies()
    /// The last sent value, as each subscriber gets it; empty if no fault changed it.
    package nonisolated let faultedValues = Lock<[DeliveredValue]>([])
    private(set) var sink: (any RadioSink)?
    private var alarms: FaultAlarms
    private var work = FaultWork()

    /// The executor of the wrapped radio.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { wrapped.unownedExecutor }

    /// The faults that the wrapped radio can carry out.
    package nonisolated var support: FaultSupport { wrapped.faultSupport }

    /// Makes a layer around a radio that has not been started.
    ///
    /// Random numbers are derived from `seed` and the faults' names. `clock` measures delays.
    package init(
        _ wrapped: any VanishingRadio, faults: [Fault] = [], seed: UInt64,
        clock: some Clock<Duration> = ContinuousClock(), owner: FaultyRadioOwner = FaultyRadioOwner()
    ) {
        self.wrapped = wrapped
        let lower = wrapped as? any FaultableRadio
        self.lower = lower
        self.owner = owner
        machine = FaultMachine(
            faults, seed: seed, support: wrapped.faultSupport, asksBelow: lower != nil, holds: owner.holds)
        values = ValueSender(wrapped)
        alarms = FaultAlarms(RunClock(clock))
    }

    /// Calls `body` with the wrapped radio, if faults can change requests that the radio answers by itself.
    func below(_ body: @Sendable (isolated any FaultableRadio) -> Void) {
        lower?.onOwnExecutor { body($0) }
    }

    /// Passes an event to the device, which does not answer it.
    func pass(_ event: RadioEvent) { _ = sink?.handle(event) }

    func warn(_ message: String) { perform([.warn(message)]) }

    // MARK: Life

    /// Starts the wrapped radio.
    ///
    /// Throws `unsupported` if a fault that is on cannot be carried out by the radio.
    package func start(
        _ identity: DeviceIdentity, sink: any RadioSink
    ) async throws(RadioError) -> RadioCapabilities {
        self.sink = sink
        let link = FaultSink(self)
        let found: RadioCapabilities
        do throws(RadioError) {
            found = try await wrapped.start(identity, sink: link)
        } catch {
            self.sink = nil
            throw error
        }
        do throws(RadioError) {
            try machine.start(found)
        } catch {
            await stop()
            throw error
        }
        below { $0.setLowerFaults(link) }
        perform(machine.start(at: now))
        return found
    }

    /// Stops the wrapped radio, and drops all delayed values and answers.
    package func stop() async {
        alarms.removeAll()
        machine.stopWaiting()
        await wrapped.stop()
        sink = nil
        machine.stop()
        values.held.removeAll()
        unanswered = UnansweredReplies()
    }

    // MARK: Faults

    /// The faults with their states, in the order in which the faults were added.
    package var faults: [FaultRules.Entry] { machine.rules.entries }

    /// The faults with these names and their states, in the order of `names`, without unknown names.
    package func faults(named names: [String]) -> [FaultRules.Entry] {
        names.compactMap { machine.rules[$0] }
    }

    /// Adds a fault, or replaces the one with the same name.
    ///
    /// Throws `unsupported`, and changes nothing, if the fault is on and the radio cannot carry it out.
    package func add(_ fault: Fault) throws(RadioError) { perform(try machine.add(fault, at: now)) }

    /// Turns a fault on or off.
    ///
    /// Returns `false` if nothing changes, or `nil` if there is no fault with that name.
    ///
    /// Turning a fault off ends its lasting effects: services are published again, and the device advertises
    /// as before. A request that the fault left unanswered stays unanswered.
    ///
    /// Throws `unsupported` if the fault is turned on and the radio cannot carry it out.
    package func turn(_ name: String, isOn: Bool) throws(RadioError) -> Bool? {
        guard machine.rules[name] != nil else { return nil }
        guard let actions = try machine.turn(name, isOn: isOn, at: now) else { return false }
        perform(actions)
        return true
    }

    /// Removes a fault, and ends its effects.
    ///
    /// Returns the fault, or `nil` if there is no fault with that name.
    @discardableResult
    package func remove(_ name: String) -> Fault? {
        guard let removed = machine.remove(name) else { return nil }
        perform(removed.actions)
        return removed.fault
    }

    /// Replaces each attribute key in the faults by the value that `mapping` has for that key.
    ///
    /// This is needed if an app publishes restored services, whose attributes have other keys.
    package func rekey(_ mapping: [AttributeKey: AttributeKey]) { perform(machine.rekey(mapping)) }

    /// Numbers connections from 1 again, beginning with the existing ones, as at the start of a run.
    package func countConnectionsAnew() { machine.links.countAnew() }

    // MARK: Actions

    func perform(_ actions: [FaultAction]) {
        for action in actions {
            switch action {
            case .report(let firing): owner.applied(firing)
            case .pass(let event): pass(event)
            case .wait(let due, let step): schedule(step, at: due)
            case .work(let job): enqueue(job)
            case .loseBond(let central, let way): loseBond(of: central, way)
            case .arm(let isArmed):
                setRequestSink(isArmed ? nil : sink)
                below { $0.armLowerFaults(isArmed) }
            case .show(let key): showValue(of: key)
            }
        }
    }

    private func loseBond(of central: Peer.ID?, _ way: FaultEffect.LostBond) {
        guard lower == nil else { return below { $0.loseBond(of: central, way) } }
        guard let central else { return enqueue(.forgetBonds(bondedAddresses)) }
        enqueue(.forgetBonds(machine.links.links[central]?.peer.address.map { [$0] } ?? []))
    }

    // MARK: Times

    var now: Duration { alarms.clock.now.offset }

    /// Schedules a step for this time.
    func schedule(_ step: FaultStep, at due: Duration) {
        alarms.add(step, at: due) { [weak self] in await self?.wake($0) }
    }

    /// Carries out the steps that are due, unless the timer with this number was replaced.
    private func wake(_ number: UInt64) {
        guard alarms.woke(number) else { return }
        while let step = alarms.takeDue(wake: { [weak self] in await self?.wake($0) }) { perform(step) }
    }

    private func perform(_ step: FaultStep) {
        switch step {
        case .applyDue(let due): perform(machine.applyDue(due, at: now))
        case .carryOut(let effect, let name, let central, let link):
            perform(machine.carryOut(effect, by: name, of: central, link: link, at: now))
        case .end(let name, let number): perform(machine.end(name, number: number))
        case .give(let answer): answer.release()
        case .release(let verdict, let central, let link):
            // Another connection may have the same identifier.
            if machine.number(of: central) == link { below { $0.release(central, verdict) } }
        case .stopKeeping(let value):
            values.held.stopKeeping(value, at: now)
            perform(values.flush(at: now))
        case .flush: perform(values.flush(at: now))
        }
    }

    // MARK: Work

    /// Queues a job after all earlier jobs.
    func enqueue(_ job: FaultJob) {
        guard work.add(job) else { return }
        Task(executorPreference: preferredExecutor) { [weak self] in
            while let job = await self?.nextJob(), let self { await self.carryOut(job) }
        }
    }

    private func nextJob() -> FaultJob? { work.next() }

    private func carryOut(_ job: FaultJob) async {
        switch job {
        case .changeServices: await changeServices()
        case .advertiseAgain: await advertiseAgain()
        case .vanish: await vanish()
        case .reappear: await reappear()
        case .disconnect(let central, let reason): perform(await wrapped.end(central, for: reason))
        case .forgetBonds(let addresses): perform(await wrapped.deleteBonds(with: addresses))
        case .reportRoom: pass(.readyToSend)
        case .finish(let continuation): continuation.resume()
        }
    }
}
