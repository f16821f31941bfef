import MynahCore
import MynahDBus

/// Prepares an adapter for the device, step by step: turns it on, names it, registers the agent, and allows
/// pairing.
struct AdapterPreparation {
    enum Step: Hashable {
        case set(AdapterProperty)
        case registerAgent
        /// Wait for this time, because bluetoothd is turning the adapter on by itself.
        case wait(Duration)
    }

    private enum Progress: Hashable {
        case power(refusals: Int)
        case pause(refusals: Int)
        case name
        case agent
        case pairing
        case ready
    }

    private let found: BusObjects.Adapter
    private let name: String
    private var progress = Progress.power(refusals: 0)

    /// Makes the steps for an adapter with these properties.
    ///
    /// `name` is the name to set; if it is empty, the adapter keeps its name.
    init(_ found: BusObjects.Adapter, name: String) {
        self.found = found
        self.name = name
    }

    /// Returns the next step, or `nil` if the adapter is ready.
    mutating func next(isPowered: Bool) -> Step? {
        while true {
            switch progress {
            case .power:
                if !isPowered { return .set(.powered(true)) }
                progress = .name
            case .pause: return .wait(.milliseconds(250))
            case .name:
                if !name.isEmpty, found.alias != name { return .set(.alias(name)) }
                progress = .agent
            case .agent: return .registerAgent
            case .pairing:
                if !found.isPairable { return .set(.pairable(true)) }
                progress = .ready
            case .ready: return nil
            }
        }
    }

    /// Moves on to the next step after the last one was carried out.
    mutating func done() {
        switch progress {
        case .power: progress = .name
        case .pause(let refusals): progress = .power(refusals: refusals)
        case .name: progress = .agent
        case .agent: progress = .pairing
        case .pairing, .ready: progress = .ready
        }
    }

    /// Handles a failure of the last step; returns `true` if the step can be tried again after a wait.
    ///
    /// This is so if bluetoothd answers `Busy` because it is turning the adapter on by itself, for example
    /// after rfkill was released.
    mutating func failed(_ error: RadioError) -> Bool {
        guard case .power(let refusals) = progress, error.code == .busy, refusals < 19 else { return false }
        progress = .pause(refusals: refusals + 1)
        return true
    }

    /// Whether the current step turns the adapter on.
    var isPowering: Bool {
        if case .power = progress { true } else { false }
    }
}
