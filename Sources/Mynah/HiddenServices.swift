import MynahCore

extension Peripheral {
    /// Whether the manager's program may discover services of a type.
    ///
    /// A program that is not an app may discover all.
    func shows(_ uuid: BluetoothUUID) -> Bool {
        !access.isOfApp || !AppleServices.hidden.contains(uuid)
    }
}
