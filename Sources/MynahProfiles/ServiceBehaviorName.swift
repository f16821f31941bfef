package import MynahCore

/// The behavior of a service beyond keeping its values, by the name of the service that specifies it.
package enum ServiceBehaviorName: String, Hashable, Sendable, CaseIterable {
    /// A write sets the clock.
    case currentTime = "current-time"
    /// The SC Control Point.
    case cyclingSpeedAndCadence = "cycling-speed-and-cadence"
    /// The Fitness Machine Control Point.
    case fitnessMachine = "fitness-machine"
    /// Stored records, and the Record Access Control Point.
    case glucose
    /// The Heart Rate Control Point.
    case heartRate = "heart-rate"
    /// Sends back what it receives.
    case nordicUART = "nordic-uart"

    /// The characteristic whose writes it answers.
    package var controlPoint: BluetoothUUID {
        switch self {
        case .currentTime: "2A2B"
        case .cyclingSpeedAndCadence: "2A55"
        case .fitnessMachine: "2AD9"
        case .glucose: "2A52"
        case .heartRate: "2A39"
        case .nordicUART: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
        }
    }

    /// The errors that it answers with and that not every radio can send: 0xFD if its control point is
    /// written without a subscription.
    var errors: [ATTError] {
        switch self {
        case .fitnessMachine, .glucose: [.cccdImproperlyConfigured]
        case .currentTime, .cyclingSpeedAndCadence, .heartRate, .nordicUART: []
        }
    }
}

// `behavior:` and `records:`
extension ProfileDecoder {
    /// The records of a glucose meter that does not say how many.
    static let usualRecords = 10
    private static let maximumRecords = 10_000

    mutating func behavior(_ fields: Fields, of service: inout Profile.Service) {
        if let node = fields["behavior"] {
            service.behavior = choice(node, "behavior", as: ServiceBehaviorName.self)
        }
        if let behavior = service.behavior, !service.isWritable(behavior.controlPoint) {
            // Of a service that is used it may be left out.
            service.behavior = nil
            if fields["use"] == nil {
                warning(
                    at: fields.mark(of: "behavior"),
                    """
                    behavior: \(behavior.rawValue) has no effect: the service has no writable characteristic \
                    \(behavior.controlPoint)
                    """)
            }
        }
        guard let node = fields["records"] else { return }
        if let count = integer(node, "records", in: 0...Self.maximumRecords) { service.records = count }
        if fields["behavior"] == nil || service.behavior.map({ $0 != .glucose }) == true {
            error(at: node, "records has no effect without behavior: glucose")
        }
    }
}

extension Profile.Service {
    fileprivate func isWritable(_ characteristic: BluetoothUUID) -> Bool {
        characteristics.contains { $0.uuid == characteristic && !$0.properties.isDisjoint(with: .anyWrite) }
    }
}
