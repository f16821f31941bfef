package import MynahCore

/// A fault of a device: a named rule that makes the radio misbehave on purpose.
package struct Fault: Hashable, Sendable {
    /// The name, which is unique among the faults of the device.
    package var name: String
    /// The trigger: an operation, or a time.
    package var trigger: FaultTrigger
    /// The characteristic or descriptor that is read, written, notified or subscribed to, or `nil` for all.
    package var attribute: AttributeKey?
    /// `true` if `attribute` is the Client Characteristic Configuration of a characteristic.
    package var isOfConfiguration = false
    /// The selection of operations to which the fault applies.
    package var selection: FaultSelection
    /// The time by which the fault delays the operation and the effect.
    package var delay: Duration
    /// The effect, or `nil` if the operation is only delayed.
    package var effect: FaultEffect?
    /// `true` if a lasting effect ends as soon as the central that triggered the fault disconnects.
    package var endsWithLink: Bool
    /// `true` if the fault is off at first, until it is turned on.
    package var isOff: Bool
    /// The seed of the fault's random numbers, or `nil` to derive one from the radio's seed.
    package var seed: UInt64?

    /// Makes a fault, which is on by default.
    package init(
        name: String, trigger: FaultTrigger, of attribute: AttributeKey? = nil,
        selection: FaultSelection = FaultSelection(), delay: Duration = .zero, effect: FaultEffect? = nil,
        endsWithLink: Bool = false, isOff: Bool = false
    ) {
        self.name = name
        self.trigger = trigger
        self.attribute = attribute
        self.selection = selection
        self.delay = delay
        self.effect = effect
        self.endsWithLink = endsWithLink
        self.isOff = isOff
    }
}

/// The trigger of a fault: an operation, or the end of a time.
package enum FaultTrigger: Hashable, Sendable {
    /// An operation of this kind, by a central or by the device.
    case on(Operation)
    /// The end of this time, counted from when the fault was turned on; the fault applies once.
    case after(Duration)

    /// The operations; the raw values are their names in a profile.
    package enum Operation: String, CaseIterable, Hashable, Sendable {
        /// A read of a value, including all parts of a long read.
        case read
        /// A write that is executed, or a write command.
        case write
        /// A value that is notified or indicated.
        case notify
        /// A write of the Client Characteristic Configuration that makes a subscription.
        case subscribe
        /// A new connection.
        case connect
        /// A successful pairing.
        case pair
        /// A request that discovers services, characteristics or descriptors.
        case discover
        /// An Exchange MTU Request.
        case mtu
        /// A start or a change of advertising.
        case advertise

        /// `true` if the operation is a request, which has a response.
        var isRequest: Bool { FaultTrigger.Kind(self).isRequest }
    }

    /// The triggers without their parameters: the columns of `FaultSupport`.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case read, write, notify, subscribe, connect, pair, discover, mtu, advertise, after

        /// `true` if the operation is a request, which has a response.
        var isRequest: Bool { [.read, .write, .subscribe, .discover, .mtu].contains(self) }
    }

    /// The trigger without its parameter.
    package var kind: Kind {
        switch self {
        case .on(let operation): Kind(operation)
        case .after: .after
        }
    }
}

extension FaultTrigger.Kind {
    /// Makes the kind of trigger for an operation.
    package init(_ operation: FaultTrigger.Operation) {
        self =
            switch operation {
            case .read: .read
            case .write: .write
            case .notify: .notify
            case .subscribe: .subscribe
            case .connect: .connect
            case .pair: .pair
            case .discover: .discover
            case .mtu: .mtu
            case .advertise: .advertise
            }
    }
}

extension Fault {
    /// Derives the seed of a fault's random numbers from a run's seed.
    package static func seed(of name: String, _ seed: UInt64) -> UInt64 {
        ValueSeed.of(seed, "fault \(name)")
    }

    /// Replaces each attribute key in the fault by the value that `mapping` has for that key.
    mutating func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        if let attribute { self.attribute = mapping[attribute] ?? attribute }
        if case .changeServices(let key) = effect { effect = .changeServices(removing: mapping[key] ?? key) }
    }
}
