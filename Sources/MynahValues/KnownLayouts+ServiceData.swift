package import MynahCore

extension KnownLayouts {
    /// The layout of a service's data in advertising, or `nil` if the SIG defines none or this table does not
    /// have it.
    package static func serviceData(of service: BluetoothUUID) -> ValueLayout? {
        switch service.assignedNumber {
        // The measurement, as it is broadcast (Cycling Power Service 1.1, 3.2).
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
