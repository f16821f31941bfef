package import MynahCore

/// A fault of a device: a named rule that makes the radio misbehave on purpose.
package struct Fault: Hashable, Sendable {
    /// The name, which no other fault of the device has.
    package var name: String
    /// The trigger: an operation, or a time.
    package var trigger: FaultTrigger
    /// The characteristic or descriptor that is read, written, notified or subscribed to; `nil` for every
    /// one.
    package var attribute: AttributeKey?
    /// `true` if the attribute is the Client Characteristic Configuration of a characteristic.
    package var isOfConfiguration = false
    /// Which of the operations it applies to.
    package var selection: FaultSelection
    /// The delay of the operation and of the effect.
    package var delay: Duration
    /// The effect, or `nil` if the operation is only held up.
    package var effect: FaultEffect?
    /// `true` if its lasting effect ends when the central disconnects that it applied to.
    package var endsWithLink: Bool
    /// `true` if the fault is off at the start and after a reset.
    package var isOff: Bool
    /// The seed of its random numbers, or `nil` if the radio has it.
    package var seed: UInt64?

    /// A fault, which is on by default.
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

/// When a fault applies: at an operation, or once after a time.
package enum FaultTrigger: Hashable, Sendable {
    /// At an operation of a central or of the device.
    case on(Operation)
    /// Once, when the fault has been on for this time.
    case after(Duration)

    /// The operations, by their names in a profile.
    package enum Operation: String, CaseIterable, Hashable, Sendable {
        /// A read of a value, with all the parts of a long one.
        case read
        /// A write that is executed, or a write command.
        case write
        /// A value that is notified or indicated.
        case notify
        /// A write of the Client Characteristic Configuration that subscribes.
        case subscribe
        /// A connection that begins.
        case connect
        /// A pairing that has succeeded.
        case pair
        /// A request that discovers services, characteristics or descriptors.
        case discover
        /// An Exchange MTU Request.
        case mtu
        /// Advertising that starts or changes.
        case advertise

        /// `true` if the operation is a request, which gets an answer.
        var isRequest: Bool { FaultTrigger.Kind(self).isRequest }
    }

    /// The triggers without their parameters: the columns of `FaultSupport`.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case read, write, notify, subscribe, connect, pair, discover, mtu, advertise, after

        /// `true` if the operation is a request, which gets an answer.
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
    /// The trigger at an operation.
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
    /// The seed of a fault's random numbers in a run with a seed.
    package static func seed(of name: String, _ seed: UInt64) -> UInt64 {
        ValueSeed.of(seed, "fault \(name)")
    }

    /// The attributes that it names have other keys.
    mutating func rekey(_ mapping: [AttributeKey: AttributeKey]) {
        if let attribute { self.attribute = mapping[attribute] ?? attribute }
        if case .changeServices(let key) = effect { effect = .changeServices(removing: mapping[key] ?? key) }
    }
}
