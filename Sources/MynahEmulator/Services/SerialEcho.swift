import MynahCore

/// Nordic's UART service, which echoes the bytes that it receives.
struct SerialEcho: ServiceBehavior {
    static let receive: BluetoothUUID = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
    static let transmit: BluetoothUUID = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"

    let handled = [receive]

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        let size = max(1, service.longestUpdate(to: central))
        let parts = stride(from: 0, to: value.count, by: size).map { start in
            ServiceEffect.send(
                Array(value[start..<min(start + size, value.count)]), of: Self.transmit, to: central)
        }
        return [.store(value, of: Self.receive)] + parts
    }
}
