package import MynahCore
import MynahSupport

/// A radio with faults: a layer around another radio, between it and its sink.
///
/// It runs on the executor of the radio that it wraps. While no fault can apply, requests do not reach it.
/// Make one only for a device that has faults, or may get some.
package actor FaultyRadio: ControllableRadio {
    /// Whether a condition holds, and what is done with each firing; both are called on the radio's executor.
    package struct Owner: Sendable {
        /// Whether a condition of a fault holds now.
        package var holds: @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool
        /// Takes a fault that was applied.
        package var applied: @Sendable (FaultFiring) -> Void

        /// An owner; by default no condition holds, and firings are ignored.
        package init(
            holds: @escaping @Sendable (_ condition: FaultCondition, _ fault: String) -> Bool = { _, _ in
                false
            },
            applied: @escaping @Sendable (FaultFiring) -> Void = { _ in }
        ) {
            self.holds = holds
            self.applied = applied
        }
    }

    /// The radio that it wraps.
    package nonisolated let wrapped: any VanishingRadio
    /// The wrapped radio, if what lies below its sink can misbehave too.
    nonisolated let lower: (any FaultableRadio)?
    let owner: Owner
    var rules: FaultRules
    var links = FaultLinks()
    var held = HeldValues()
    var services = FaultedServices()
    var advertising = FaultedAdvertising()
    /// Replies that are never given, by central.
    var unanswered: [Peer.ID: [PendingReply]] = [:]
    var capabilities: RadioCapabilities?
    /// Whether no fault can apply: all are off, or have the chance 0.
    private(set) var isIdle = true
    /// When the alarm is due that applies the next fault after its time, or `nil` if there is none.
    private var nextAlarm: Duration?
    private(set) var sink: (any RadioSink)?
    private var alarms: FaultAlarms
    private var work = FaultWork()

    /// The faults that the wrapped radio can carry out.
    package nonisolated var support: FaultSupport { wrapped.faultSupport }

    /// The executor of the radio that it wraps.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { wrapped.unownedExecutor }

    package nonisolated var preferredExecutor: (any TaskExecutor)? { wrapped.preferredExecutor }

    package nonisolated var centralRole: (any CentralRadio)? { wrapped.centralRole }

    /// A layer around a radio that has not been started.
    ///
    /// Random numbers follow from `seed` and the faults' names. `clock` measures delays.
    package init(
        _ wrapped: any VanishingRadio, faults: [Fault] = [], seed: UInt64,
        clock: some Clock<Duration> = ContinuousClock(), owner: Owner = Owner()
    ) {
        self.wrapped = wrapped
        lower = wrapped as? any FaultableRadio
        self.owner = owner
        rules = FaultRules(faults, seed: seed)
        alarms = FaultAlarms(RunClock(clock))
    }

    /// Calls the wrapped radio, which is on the same executor.
    func inner<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated any VanishingRadio) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try wrapped.onOwnExecutor { radio throws(Failure) in try body(radio) }
    }

    // MARK: Times and work

    var now: Duration { alarms.clock.now.offset }

    /// Does something at a time.
    func schedule(at due: Duration, _ action: @escaping FaultAlarms.Action) {
        alarms.add(at: due, of: self, action)
    }

    /// Does something after a delay; at once without one.
    func after(_ delay: Duration, _ action: @escaping FaultAlarms.Action) {
        if delay > .zero { schedule(at: now + delay, action) } else { action(self) }
    }

    /// Does something that takes time, after everything that was asked for before.
    func enqueue(_ job: @escaping FaultWork.Job) { work.add(of: self, job) }

    /// The timer with a number has woken.
    func wake(_ number: UInt64) {
        guard alarms.woke(number) else { return }
        while true {
            let due = alarms.takeDue(self)
            guard !due.isEmpty else { return }
            for action in due { action(self) }
        }
    }

    func nextJob() -> FaultWork.Job? { work.next() }

    // MARK: Life

    /// Starts the wrapped radio.
    ///
    /// Throws `unsupported` if a fault is on that the radio cannot carry out.
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
        capabilities = found
        for entry in rules.entries where entry.isOn {
            guard let shortcoming = found.shortcoming(of: entry.fault, with: support) else { continue }
            await stop()
            throw Self.unsupported(entry.fault, shortcoming)
        }
        below { $0.setLowerFaults(link) }
        rules.start(at: now)
        faultsChanged()
        return found
    }

    /// Stops the wrapped radio, and forgets what faults hold up.
    package func stop() async {
        alarms.removeAll()
        nextAlarm = nil
        await wrapped.stop()
        sink = nil
        capabilities = nil
        links = FaultLinks()
        held.removeAll()
        services.removeAll()
        advertising = FaultedAdvertising()
        unanswered = [:]
    }

    /// Closes the wrapped radio at once.
    package nonisolated func close() { wrapped.close() }

    static func unsupported(_ fault: Fault, _ shortcoming: String) -> RadioError {
        RadioError(.unsupported, "fault \(fault.name): \(shortcoming)")
    }

    // MARK: Faults

    /// The faults with their states, in their order.
    package var faults: [FaultRules.Entry] { rules.entries }

    /// Those of these faults that there are, with their states, in the order of `names`.
    package func faults(named names: [String]) -> [FaultRules.Entry] { names.compactMap { rules[$0] } }

    /// Adds a fault, or replaces the one with its name.
    ///
    /// Throws `unsupported`, and changes nothing, if the fault is on and the radio cannot carry it out.
    package func add(_ fault: Fault) throws(RadioError) {
        if !fault.isOff { try check(fault) }
        let replaced = rules[fault.name]?.fault
        if replaced != nil { end(fault.name) }
        rules.add(fault, at: now)
        faultsChanged([fault] + (replaced.map { [$0] } ?? []))
    }

    /// Turns a fault on or off; returns `false` if it is already, or `nil` if there is none with that name.
    ///
    /// Turning it off ends its lasting effects: services are there again, and the device advertises as
    /// before. A request that was not answered stays so.
    ///
    /// Throws `unsupported` if the fault is turned on and the radio cannot carry it out.
    package func turn(_ name: String, isOn: Bool) throws(RadioError) -> Bool? {
        guard let entry = rules[name] else { return nil }
        if isOn { try check(entry.fault) }
        guard rules.turn(name, isOn: isOn, at: now) == true else { return false }
        if !isOn { end(name) }
        faultsChanged([entry.fault])
        return true
    }

    /// Removes a fault, and ends what it did; returns it, or `nil` if there is none with that name.
    @discardableResult
    package func remove(_ name: String) -> Fault? {
        guard let fault = rules.remove(name) else { return nil }
        end(name)
        faultsChanged([fault])
        return fault
    }

    /// Attributes have other keys, as after a restoration.
    package func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        rules.rekey(mapping)
        faultsChanged()
    }

    /// Numbers connections from 1 again, existing ones first, as at the start of a run.
    package func countConnectionsAnew() { links.countAnew() }

    /// Throws `unsupported` if a fault is on that the radio cannot carry out on these services.
    func check(_ services: [ServiceDefinition]) throws(RadioError) {
        let characteristics = Dictionary(
            services.flatMap(\.characteristics).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for entry in rules.entries where entry.isOn {
            guard let characteristic = entry.fault.attribute.flatMap({ characteristics[$0] }) else {
                continue
            }
            try check(entry.fault, characteristic.properties)
        }
    }

    private func check(_ fault: Fault) throws(RadioError) {
        try check(fault, fault.attribute.flatMap { services.properties(of: $0) })
    }

    private func check(_ fault: Fault, _ properties: CharacteristicProperties?) throws(RadioError) {
        if let shortcoming = capabilities?.shortcoming(of: fault, properties: properties, with: support) {
            throw Self.unsupported(fault, shortcoming)
        }
    }

    /// Has the radio ask for the values that a fault may change, and applies what needs no operation.
    ///
    /// `faults` are those that have changed; `nil` if any of them may have. Values and advertisements that
    /// they do not concern are left as they are, so that the thousandth fault costs no more than the first.
    private func faultsChanged(_ faults: [Fault]? = nil) {
        guard capabilities != nil else { return }
        isIdle = !rules.isArmed
        setRequestSink(isIdle ? sink : nil)
        below { [isIdle] in $0.armLowerFaults(!isIdle) }
        for key in keysOfReads(faults) { showValue(of: key) }
        let concernsAdvertising = faults?.contains { $0.effect == .refuseConnection } ?? true
        if concernsAdvertising, advertising.wanted != nil { enqueue { await $0.advertiseAgain() } }
        scheduleDue()
    }

    /// The attributes whose reads faults are for, of those that have a value.
    private func keysOfReads(_ faults: [Fault]?) -> [AttributeKey] {
        guard let reads = faults?.filter({ $0.trigger == .on(.read) }) else { return services.keysWithValue }
        let keys = reads.compactMap(\.attribute)
        if keys.count < reads.count { return services.keysWithValue }
        return keys.filter { services.values[$0] != nil }
    }

    /// Waits for the next fault that applies after a time, unless an alarm is set for it already.
    func scheduleDue() {
        guard let due = rules.nextDue, nextAlarm.map({ due < $0 }) ?? true else { return }
        nextAlarm = due
        schedule(at: due) { radio in
            if radio.nextAlarm == due { radio.nextAlarm = nil }
            radio.applyDue()
        }
    }

    /// Reports that faults applied.
    func report(_ names: [String], of operation: FaultTrigger.Kind, _ central: Peer.ID?) {
        for name in names { owner.applied(FaultFiring(fault: name, trigger: operation, central: central)) }
    }

    // MARK: Calls that pass through

    package func setRequestSink(_ sink: (any RadioSink)?) { inner { $0.setRequestSink(sink) } }
    package func disconnect(_ central: Peer.ID) async { await wrapped.disconnect(central) }
    package func disconnect(_ central: Peer.ID, reason: UInt8) async throws(RadioError) {
        try await wrapped.disconnect(central, reason: reason)
    }
    package func forgetBond(with address: DeviceAddress) async throws(RadioError) -> Bool {
        try await wrapped.forgetBond(with: address)
    }
    package func isEncrypted(_ central: Peer.ID) -> Bool? { inner { $0.isEncrypted(central) } }
    package var bondedAddresses: [DeviceAddress] { inner { $0.bondedAddresses } }
    package var used: RadioUse? { inner { $0.used } }
    package func publishL2CAPChannel(isEncrypted: Bool) throws(RadioError) -> UInt16 {
        try inner { radio throws(RadioError) in try radio.publishL2CAPChannel(isEncrypted: isEncrypted) }
    }
    package func unpublishL2CAPChannel(_ psm: UInt16) { inner { $0.unpublishL2CAPChannel(psm) } }
    package func requestConnectionParameters(
        _ wanted: ConnectionParameterRange, of central: Peer.ID
    ) async throws(RadioError) -> Bool {
        try await wrapped.requestConnectionParameters(wanted, of: central)
    }
}

/// A fault that was applied.
package struct FaultFiring: Hashable, Sendable {
    /// The name of the fault.
    package var fault: String
    /// The kind of its trigger.
    package var trigger: FaultTrigger.Kind
    /// The central, or `nil` if it was none or several.
    package var central: Peer.ID?

    /// A firing.
    package init(fault: String, trigger: FaultTrigger.Kind, central: Peer.ID? = nil) {
        self.fault = fault
        self.trigger = trigger
        self.central = central
    }
}

/// The way from a radio back to its layer of faults, which it does not keep alive.
final class FaultSink: RadioSink, LowerFaults {
    private weak let target: FaultyRadio?

    init(_ radio: FaultyRadio) {
        target = radio
    }

    func handle(_ event: RadioEvent) -> RadioAnswer { run { $0.take(event) } ?? .none }

    func verdict(on request: LowerRequest, of central: Peer.ID) -> LowerVerdict {
        run { $0.verdict(on: request, of: central) } ?? .proceed
    }

    private func run<Value: Sendable>(_ body: @Sendable (isolated FaultyRadio) -> Value) -> Value? {
        target?.onOwnExecutor(body)
    }
}
