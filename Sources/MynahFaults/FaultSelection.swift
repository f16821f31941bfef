package import MynahCore

/// The selection of operations to which a fault applies, among those that trigger it.
///
/// The fault numbers the operations on its attribute by its central. `nth` selects operations by that number,
/// `times` limits the applications, and then the condition and `chance` decide.
package struct FaultSelection: Hashable, Sendable {
    /// The numbers of the selected operations, counted from 1.
    package enum Ordinals: Hashable, Sendable {
        /// All.
        case all
        /// A range of numbers: `3`, `1..2`.
        case range(ClosedRange<Int>)
        /// All multiples of a number: `every 4`.
        case every(Int)

        /// `true` if the number is selected.
        package func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .range(let range): range.contains(number)
            case .every(let period): period > 0 && number.isMultiple(of: period)
            }
        }
    }

    /// The numbers of the selected operations.
    package var nth: Ordinals
    /// The largest number of times that the fault applies, or `nil` for no limit.
    package var times: Int?
    /// The probability with which the fault applies, from 0 to 1.
    package var chance: Double
    /// The central whose operations are selected, or `nil` for all centrals.
    package var central: FaultCentral?
    /// The condition for the fault, or `nil` if there is none.
    package var condition: FaultCondition?

    /// Makes a selection, by default of every operation.
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
    /// The central with this address or identity address; the type of the address is ignored.
    case address(DeviceAddress)
    /// The central with this number in the order of connecting, counted from 1; each connection has a number.
    case order(Int)
}

/// A condition for a fault, which the device's owner evaluates.
package enum FaultCondition: Hashable, Sendable {
    /// A variable of the device, compared with a constant.
    case variable(String, Comparison, Constant)
    /// The app is in this state, by its name in `AppState`.
    case appState(String)
    /// Several comparisons, all of which must hold.
    case all([FaultCondition])

    /// A constant.
    package enum Constant: Hashable, Sendable {
        /// A number.
        case number(ExactNumber)
        /// A text, which can be compared only for equality.
        case text(String)
    }
}
