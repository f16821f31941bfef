import MynahCore

/// What a controller listens for.
struct ScanState: Sendable {
    struct Parameters: Sendable {
        var isActive = false
        /// In microseconds.
        var interval: Int64 = 10_000
        var window: Int64 = 10_000
        var ownKind: UInt8 = 0
        var policy: UInt8 = 0
    }

    /// What was told already, where the host wants each but once.
    struct Told: Hashable {
        var address: DeviceAddress
        var identifier: UInt8?
        var isResponse: Bool
        var isScannable: Bool
    }

    var parameters = Parameters()
    var isOn = false
    var filtersDuplicates = false
    var told: Set<Told> = []
    var begun = AirTime.zero
    /// When it stops by itself, or begins anew.
    var end: AirTime?
    /// How long it listens of each period, and the period; nil: as long as it is on.
    var duration: Int64?
    var period: Int64?
    /// Who was asked for more, and is still to answer.
    var asked: Set<DeviceAddress> = []
    /// Who listens there asks by this name.
    var onAir: DeviceAddress?

    /// As many as real controllers remember, and some.
    static let toldLimit = 8192
    static let askedLimit = 1024

    /// Whether it listens at this moment: only within its window.
    func hears(at time: AirTime) -> Bool {
        guard isOn else { return false }
        let since = time - begun
        if let duration, let period, since % period >= duration { return false }
        return parameters.window >= parameters.interval || since % parameters.interval < parameters.window
    }
}

/// A link that the host wants.
struct Initiation: Sendable {
    /// With whom; nil: with whoever stands in the filter accept list.
    var peer: DeviceAddress?
    var ownKind: UInt8
    var parameters: LEConnection.Parameters
}
