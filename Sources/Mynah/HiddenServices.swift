import MynahCore

extension Peripheral {
    /// Whether its program may discover services of a type: a program that is no app discovers all.
    func shows(_ uuid: BluetoothUUID) -> Bool {
        !access.isOfApp || !AppleServices.hidden.contains(uuid)
    }
}
