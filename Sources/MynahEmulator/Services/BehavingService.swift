import MynahCore
import MynahProfiles

/// A service of a device with a behavior beyond storing values.
struct BehavingService: Sendable {
    var behavior: any ServiceBehavior
    /// The keys of the characteristics, by the names that the behavior uses for them.
    ///
    /// If several characteristics have the same name, the first is used.
    var attributes: [BluetoothUUID: AttributeKey] = [:]
    /// The tick intervals of characteristics, if they differ from one second.
    var intervals: [BluetoothUUID: Duration] = [:]

    init(_ behavior: any ServiceBehavior) {
        self.behavior = behavior
    }

    /// Makes the behavior of a profile's service, or returns `nil` if it has none.
    init?(_ service: Profile.Service) {
        switch service.behavior {
        case .bloodPressure: self.init(StoredMeasurements("2A35", count: service.records))
        case .bodyComposition: self.init(StoredMeasurements("2A9C", count: service.records))
        case .currentTime: self.init(CurrentTime())
        case .cyclingSpeedAndCadence: self.init(SensorControl())
        case .fitnessMachine: self.init(FitnessMachine())
        case .glucose: self.init(RecordAccess(count: service.records))
        case .heartRate: self.init(HeartRateControl())
        case .immediateAlert: self.init(ImmediateAlert())
        case .linkLoss: self.init(LinkLoss())
        case .mcumgr: self.init(MCUManager())
        case .nordicDFU: self.init(SecureUpdate())
        case .hid: self.init(HIDDevice())
        case .midi: self.init(MIDIPort())
        case .nordicUART: self.init(SerialEcho())
        case .pulseOximeter: self.init(RecordAccess(.pulseOximeter, count: service.records))
        case .runningSpeedAndCadence: self.init(SensorControl(of: .running))
        case .weightScale: self.init(StoredMeasurements("2A9D", count: service.records))
        case nil: return nil
        }
    }

    /// Adds a published characteristic of the service.
    mutating func add(_ characteristic: Profile.Characteristic, as key: AttributeKey) {
        let name = behavior.name(of: characteristic)
        guard attributes[name] == nil else { return }
        attributes[name] = key
        intervals[name] = characteristic.every
    }

    /// Whether the behavior may change the characteristic's value, so that the radio must ask at each read.
    func changes(_ characteristic: BluetoothUUID) -> Bool { behavior.changed.contains(characteristic) }

    /// Whether only the behavior sends the characteristic's value.
    func sends(_ characteristic: BluetoothUUID) -> Bool { behavior.sent.contains(characteristic) }

    func rekeyed(_ mapping: [AttributeKey: AttributeKey]) -> BehavingService {
        var service = self
        service.attributes = attributes.mapValues { mapping[$0] ?? $0 }
        return service
    }
}
