package import MynahCore
import MynahSupport

/// Holds the faults of a device, and decides which of them apply to an operation.
///
/// For each fault, this counts the operations on its attribute and of its central, and has a random number
/// generator. It does no I/O and has no clock: times are measured from any fixed time.
package struct FaultRules: Sendable {
    /// Returns whether the condition of a fault holds.
    package typealias Holds = (_ condition: FaultCondition, _ fault: String) -> Bool

    /// An operation that can trigger faults.
    package struct Operation: Hashable, Sendable {
        /// The kind of operation.
        package var kind: FaultTrigger.Operation
        /// The attributes of the operation; empty if it has none.
        package var attributes: [AttributeKey]
        /// Whether the link's security does not allow the operation, so that no value is accessed.
        package var isDenied: Bool
        /// `true` if only faults that name the attribute apply, and not those for all attributes.
        ///
        /// This is the case for Client Characteristic Configurations.
        package var isNamedAlone: Bool

        package init(
            _ kind: FaultTrigger.Operation, of attributes: [AttributeKey] = [], isDenied: Bool = false,
            isNamedAlone: Bool = false
        ) {
            self.kind = kind
            self.attributes = attributes
            self.isDenied = isDenied
            self.isNamedAlone = isNamedAlone
        }
    }

    /// The central of an operation.
    package struct Central: Hashable, Sendable {
        /// The radio's identifier of the central.
        package var id: Peer.ID
        /// The central's identity address, or else its address, or `nil` if the radio does not report it.
        package var address: DeviceAddress?
        /// The number of the central in the order of connecting, counted from 1, or 0 if it is not known.
        package var order: Int

        package init(_ id: Peer.ID, address: DeviceAddress? = nil, order: Int = 0) {
            self.id = id
            self.address = address
            self.order = order
        }
    }

    /// The delay and the effect of the faults that apply to an operation.
    package struct Decision: Hashable, Sendable {
        /// The total delay: the sum of the delays of all faults that apply.
        package var delay = Duration.zero
        /// The first effect among the faults that apply, or `nil` if none has an effect.
        package var effect: FaultEffect?
        /// The name of the fault with that effect, or `nil` if there is none.
        package var cause: String?
        /// The names of the faults that apply, in order.
        ///
        /// A fault is left out if it has no delay and its effect is not the first.
        package var applied: [String] = []

        /// Makes a decision without an effect.
        package init() {}

        /// Whether no fault applies to the operation.
        package var isNothing: Bool { applied.isEmpty }

        /// Adds a fault that applies to the operation; returns `false` if the fault changes nothing.
        ///
        /// All delays are added, but only the first effect is used. So a fault without a delay changes
        /// nothing if another fault has already added an effect.
        fileprivate mutating func add(_ fault: Fault) -> Bool {
            guard effect == nil || fault.effect == nil || fault.delay > .zero else { return false }
            applied.append(fault.name)
            delay += fault.delay
            if effect == nil, let first = fault.effect { (effect, cause) = (first, fault.name) }
            return true
        }
    }

    /// A fault and its state.
    package struct Entry: Sendable {
        /// The fault.
        package fileprivate(set) var fault: Fault
        /// The number of the fault, in the order in which faults were added.
        fileprivate var number: UInt64
        /// `true` if the fault is on.
        package fileprivate(set) var isOn: Bool
        /// The number of operations that the fault has counted since it was turned on.
        package fileprivate(set) var count = 0
        /// The number of times that the fault applied since it was turned on.
        package fileprivate(set) var timesApplied = 0
        /// The time at which the fault will apply, or `nil` if its trigger is not a time.
        fileprivate var due: Duration?
        fileprivate var random: SeededRandom

        /// `true` if the fault can apply: it is on, and its probability is not 0.
        package var isArmed: Bool { isOn && fault.selection.chance > 0 }
    }

    /// The faults in the order in which they were added, which begins with those of the profile.
    package private(set) var entries: [Entry] = []
    private let seed: UInt64
    /// The numbers of the faults, by name; `entries` is sorted by number.
    private var numbers: [String: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    /// The numbers of armed faults for each operation, so that an operation does not have to check all
    /// faults.
    private var armed: [FaultTrigger.Operation: ArmedFaults] = [:]
    /// The earliest time at which a fault will apply, or `nil` if there is none.
    package private(set) var nextDue: Duration?
    /// The number of armed faults.
    private var armedCount = 0

    /// Makes rules with these faults.
    ///
    /// The random numbers of faults without a seed are derived from `seed` and the faults' names.
    package init(_ faults: [Fault] = [], seed: UInt64, at now: Duration = .zero) {
        self.seed = seed
        for fault in faults { add(fault, at: now) }
    }

    // MARK: Faults

    /// Whether any fault can apply.
    package var isArmed: Bool { armedCount > 0 }

    /// Adds a fault, or replaces the one with the same name; its counters start at zero.
    ///
    /// Adding a fault takes the same time whether there are a thousand others or none.
    package mutating func add(_ fault: Fault, at now: Duration) {
        var entry = Entry(fault: fault, number: 0, isOn: false, random: random(of: fault))
        if !fault.isOff { entry.turnOn(at: now) }
        if let index = index(of: fault.name) {
            entry.number = entries[index].number
            change(index) { $0 = entry }
            return
        }
        lastNumber += 1
        entry.number = lastNumber
        numbers[fault.name] = lastNumber
        entries.append(entry)
        count(entry, 1)
        if entry.isArmed, let due = entry.due { nextDue = nextDue.map { min($0, due) } ?? due }
    }

    /// Removes a fault; returns it, or `nil` if there is no fault with that name.
    @discardableResult
    package mutating func remove(_ name: String) -> Fault? {
        guard let index = index(of: name) else { return nil }
        numbers[name] = nil
        let entry = entries.remove(at: index)
        count(entry, -1)
        if entry.due != nil { findNextDue() }
        return entry.fault
    }

    /// Turns a fault on or off.
    ///
    /// Returns whether that changed anything, or `nil` if there is no fault with that name.
    ///
    /// Turning a fault on resets its counters, but not its random numbers.
    package mutating func turn(_ name: String, isOn: Bool, at now: Duration) -> Bool? {
        guard let index = index(of: name) else { return nil }
        guard entries[index].isOn != isOn else { return false }
        change(index) { isOn ? $0.turnOn(at: now) : $0.turnOff() }
        return true
    }

    /// Replaces each attribute key in the faults by the value that `mapping` has for that key.
    package mutating func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        armed = [:]
        armedCount = 0
        for index in entries.indices {
            entries[index].fault.rekey(mapping)
            count(entries[index], 1)
        }
    }

    /// Restarts the counters and times of the faults that are on; called when the device starts.
    package mutating func start(at now: Duration) {
        for index in entries.indices where entries[index].isOn { entries[index].turnOn(at: now) }
        findNextDue()
    }

    /// The fault with a name, or `nil` if there is no fault with that name.
    package subscript(name: String) -> Entry? { index(of: name).map { entries[$0] } }

    private func index(of name: String) -> Int? {
        guard let number = numbers[name] else { return nil }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Changes a fault or its state, and updates the counters of armed faults.
    private mutating func change(_ index: Int, _ body: (inout Entry) -> Void) {
        count(entries[index], -1)
        body(&entries[index])
        count(entries[index], 1)
        findNextDue()
    }

    /// Adds `difference` to the counters of armed faults, if the fault is armed.
    private mutating func count(_ entry: Entry, _ difference: Int) {
        guard entry.isArmed else { return }
        armedCount += difference
        guard case .on(let operation) = entry.fault.trigger else { return }
        armed[operation, default: ArmedFaults()].count(entry.fault.attribute, difference)
    }

    private mutating func findNextDue() {
        nextDue = entries.lazy.filter(\.isArmed).compactMap(\.due).min()
    }

    private func random(of fault: Fault) -> SeededRandom {
        SeededRandom(seed: fault.seed ?? Fault.seed(of: fault.name, seed))
    }

    // MARK: Operations

    /// Whether a fault could apply to an operation of any central.
    package func concerns(_ kind: FaultTrigger.Operation, of attribute: AttributeKey? = nil) -> Bool {
        armed[kind]?.concern(attribute) == true
    }

    /// Decides which faults apply to an operation of a central; `central` is `nil` if the central is not
    /// known.
    package mutating func decide(
        _ operation: Operation, of central: Central? = nil, holds: Holds
    ) -> Decision {
        decide(operation, of: [central], holds: holds)[0]
    }

    /// Decides which faults apply to an operation with several centrals, such as sending a value.
    ///
    /// There is one decision for each central.
    ///
    /// A fault that selects no central counts the operation once, and applies to all of the centrals or to
    /// none.
    package mutating func decide(
        _ operation: Operation, of centrals: [Central?], holds: Holds
    ) -> [Decision] {
        var decisions = Array(repeating: Decision(), count: centrals.count)
        for index in entries.indices where entries[index].matches(operation) {
            let fault = entries[index].fault
            guard let wanted = fault.selection.central else {
                guard entries[index].selects(holds) else { continue }
                let isFirst = decisions.indices.map { decisions[$0].add(fault) }
                if isFirst.contains(true) { entries[index].timesApplied += 1 }
                continue
            }
            for (place, central) in centrals.enumerated() where wanted.matches(central) {
                if entries[index].selects(holds), decisions[place].add(fault) {
                    entries[index].timesApplied += 1
                }
            }
        }
        return decisions
    }

    /// Adds 1 to `Entry.timesApplied` of these faults, but not to `Entry.count`.
    mutating func countApplied(_ names: [String]) {
        for index in names.compactMap(index) { entries[index].timesApplied += 1 }
    }

    // MARK: Times

    /// Returns the faults whose time has come, in order, and counts that they were applied.
    package mutating func takeDue(at now: Duration, holds: Holds) -> [Fault] {
        var due: [Fault] = []
        for index in entries.indices where entries[index].due.map({ $0 <= now }) == true {
            entries[index].due = nil
            guard entries[index].isArmed, entries[index].selects(holds) else { continue }
            entries[index].timesApplied += 1
            due.append(entries[index].fault)
        }
        findNextDue()
        return due
    }
}

/// The numbers of armed faults for an operation.
private struct ArmedFaults {
    private var total = 0
    /// The number of faults that apply to all attributes.
    private var ofAll = 0
    private var ofOne: [AttributeKey: Int] = [:]

    mutating func count(_ attribute: AttributeKey?, _ difference: Int) {
        total += difference
        guard let attribute else {
            ofAll += difference
            return
        }
        let count = ofOne[attribute, default: 0] + difference
        ofOne[attribute] = count == 0 ? nil : count
    }

    /// `true` if a fault can apply to this attribute, or to any attribute if `attribute` is `nil`.
    func concern(_ attribute: AttributeKey?) -> Bool {
        guard let attribute else { return total > 0 }
        return ofAll > 0 || ofOne[attribute] != nil
    }
}

extension FaultRules.Entry {
    fileprivate mutating func turnOn(at now: Duration) {
        isOn = true
        count = 0
        timesApplied = 0
        if case .after(let time) = fault.trigger { due = now + time }
    }

    fileprivate mutating func turnOff() {
        isOn = false
        due = nil
    }

    fileprivate func matches(_ operation: FaultRules.Operation) -> Bool {
        guard isArmed, fault.trigger == .on(operation.kind) else { return false }
        if operation.isDenied, fault.effect?.isOnValue == true { return false }
        return fault.attribute.map(operation.attributes.contains) ?? !operation.isNamedAlone
    }

    /// Counts an operation, and decides whether the fault applies to it.
    fileprivate mutating func selects(_ holds: FaultRules.Holds) -> Bool {
        count += 1
        let selection = fault.selection
        guard selection.nth.contains(count), selection.times.map({ timesApplied < $0 }) ?? true,
            selection.condition.map({ holds($0, fault.name) }) ?? true
        else { return false }
        // A Double has 53 significant bits.
        return selection.chance >= 1 || Double(random.next() >> 11) * 0x1p-53 < selection.chance
    }
}

extension FaultCentral {
    /// Whether a central is the selected one; `false` if the central is not known.
    package func matches(_ central: FaultRules.Central?) -> Bool {
        switch self {
        case .address(let address): central?.address?.value == address.value
        case .order(let order): central?.order == order
        }
    }
}
