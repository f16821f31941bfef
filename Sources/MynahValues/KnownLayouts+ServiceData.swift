package import MynahCore

extension KnownLayouts {
    /// Returns the layout of a service's advertised data, or `nil` if this table has none.
    package static func serviceData(of service: BluetoothUUID) -> ValueLayout? {
        switch service.assignedNumber {
        // The service data has the layout of the Cycling Power Measurement (Cycling Power Service 1.1, 3.2).
        case 0x1818: layout(of: "2A63")
        case 0x1826: fitnessMachineData
        default: nil
        }
    }

    /// The layout of the fitness machine's service data (Fitness Machine Service 1.0.1, 3.1).
    private static let fitnessMachineData = ValueLayout([
        bits(1, .boolean("machineAvailable")),
        bits(
            "machineTypes", 2, .boolean("treadmill"), .boolean("crossTrainer"), .boolean("stepClimber"),
            .boolean("stairClimber"), .boolean("rower"), .boolean("indoorBike")),
    ])
}
