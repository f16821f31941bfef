import MynahCore

/// MIDI over Bluetooth LE 1.0a: a read returns no bytes, and written packets are not kept.
struct MIDIPort: ServiceBehavior {
    static let packets: BluetoothUUID = "7772E5DB-3868-4112-A1A9-F2669D106BF3"

    let handled = [packets]

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] { [] }

    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]? { [] }
}
