package import MynahCore

/// The operations to which a fault applies, of those that trigger it.
///
/// The fault counts the operations at its attribute, of its central. `nth` selects by that number. Of those,
/// the condition, then the chance, then the limit of `times` decide.
package struct FaultSelection: Hashable, Sendable {
    /// The numbers of the operations, from 1.
    package enum Ordinals: Hashable, Sendable {
        /// All.
        case all
        /// The numbers of a range: `3`, `1..2`.
        case range(ClosedRange<Int>)
        /// Each whose number is a multiple of this: `every 4`.
        case every(Int)

        /// `true` if this number is selected.
        package func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .range(let range): range.contains(number)
            case .every(let period): period > 0 && number.isMultiple(of: period)
            }
        }
    }

    /// The numbers of the operations.
    package var nth: Ordinals
    /// How often it applies at most, or `nil` for any number of times.
    package var times: Int?
    /// The probability with which it applies, from 0 to 1.
    package var chance: Double
    /// The central whose operations it applies to, or `nil` for every central.
    package var central: FaultCentral?
    /// The condition under which it applies, or `nil` if there is none.
    package var condition: FaultCondition?

    /// Every operation by default.
    package init(
        nth: Ordinals = .all, times: Int? = nil, chance: Double = 1, central: FaultCentral? = nil,
        when condition: FaultCondition? = nil
    ) {
        self.nth = nth
        self.times = times
        self.chance = chance
        self.central = central
        self.condition = condition
    }
}

/// The central whose operations a fault applies to.
package enum FaultCentral: Hashable, Sendable {
    /// The central with this address, or with this identity address; the type of the address is ignored.
    case address(DeviceAddress)
    /// The central that connected as this one, from 1; each connection counts.
    case order(Int)
}

/// A condition under which a fault applies, which the device's owner evaluates.
package enum FaultCondition: Hashable, Sendable {
    /// A variable of the device, compared with a constant.
    case variable(String, Comparison, Constant)
    /// The app is in this state, by its name in `AppState`.
    case appState(String)
    /// Several comparisons, each of which must hold.
    case all([FaultCondition])

    /// A constant.
    package enum Constant: Hashable, Sendable {
        /// A number.
        case number(ExactNumber)
        /// Text, which is equal or not; it is not ordered.
        case text(String)
    }
}
