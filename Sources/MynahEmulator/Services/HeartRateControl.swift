import MynahCore
import MynahValues

/// The Heart Rate Control Point, whose command 01 resets Energy Expended (Heart Rate Service 1.0, 3.3).
struct HeartRateControl: ServiceBehavior {
    static let measurement: BluetoothUUID = "2A37"
    static let controlPoint: BluetoothUUID = "2A39"

    let handled = [controlPoint]
    let changed = [measurement]

    /// Resets Energy Expended; any other command gets the error 0x80 (Control Point Not Supported).
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        guard value.count == 1 else { throw .invalidAttributeValueLength }
        guard value[0] == 1 else { throw ATTError(code: 0x80) }
        return service.shift("energyExpended", of: Self.measurement, to: 0, below: 65_536)
    }
}

extension ServiceState {
    /// Returns an effect that sets a counter, which is a field of a characteristic's value, to `number`.
    ///
    /// Later changes of the counter add to this number; the sum wraps around at `modulus`. The result is
    /// empty if the value has no such field.
    func shift(
        _ field: String, of characteristic: BluetoothUUID, to number: Double, below modulus: Double
    ) -> [ServiceEffect] {
        let tick = tick(of: characteristic)
        guard let original = original(of: characteristic, at: tick),
            let fields = layout(of: characteristic)?.decode(original),
            let now = fields.first(where: { $0.name == field })?.value.number
        else { return [] }
        let change = FieldChange(name: field, kind: .shift(by: number - now, below: modulus))
        return [.change(.fields([change]), of: characteristic)]
    }
}
