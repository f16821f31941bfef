import MynahCore

/// Measurements that a device stores until a central has confirmed them (Blood Pressure Service 1.1.1, 3.1;
/// Weight Scale Service 1.0.1, 3.2; Body Composition Service 1.0.1, 3.2).
///
/// Each measurement is the value at one tick. The device has some at its start, and makes another one in
/// each period `every` of the characteristic, whether or not a central is connected.
///
/// Each central receives the measurements one by one, oldest first. A confirmed measurement is deleted.
struct StoredMeasurements: ServiceBehavior {
    /// A measurement: the number of its tick, and its value.
    struct Stored: Equatable {
        var number: UInt64
        var value: [UInt8]
    }

    /// The maximum number of stored measurements, unless more are stored at the start.
    ///
    /// When the maximum is exceeded, the oldest measurement is dropped.
    static let most = 250

    let handled: [BluetoothUUID] = []
    let measurement: BluetoothUUID
    /// The number of measurements that are stored at the device's start.
    let count: Int
    private(set) var stored: [Stored] = []
    /// The tick number of the last measurement that was made.
    private var taken: UInt64 = 0
    /// The tick number of the measurement that each central has received but not confirmed.
    ///
    /// The key `nil` means all subscribers of a radio that cannot address a single one.
    private var pending: [Peer.ID?: UInt64] = [:]

    init(_ measurement: BluetoothUUID, count: Int) {
        self.measurement = measurement
        self.count = count
    }

    var sent: [BluetoothUUID] { [measurement] }

    func due(_ service: some ServiceState) -> Duration? {
        service.interval(of: measurement) * (Int64(clamping: taken) + 1)
    }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        (stored, pending) = ([], [:])
        taken = service.tick(of: measurement)
        for number in 0..<UInt64(max(0, count)) { store(number, service) }
        return []
    }

    private mutating func store(_ number: UInt64, _ service: some ServiceState) {
        guard let value = service.original(of: measurement, at: number) else { return }
        stored.append(Stored(number: number, value: value))
        if stored.count > max(Self.most, count) { stored.removeFirst() }
    }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        let now = service.tick(of: measurement)
        // A suspended app misses measurements; only the newest ones are stored.
        taken = max(taken, now > UInt64(Self.most) ? now - UInt64(Self.most) : 0)
        while taken < now {
            store(UInt64(max(0, count)) + taken, service)
            taken += 1
        }
        return sendNext(service)
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        throw .writeNotPermitted
    }

    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard characteristic == measurement else { return [] }
        pending[central] = nil
        return sendNext(service)
    }

    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID) {
        if characteristic == measurement { pending[central] = nil }
    }

    mutating func confirmed(
        _ central: Peer.ID?, _ characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard characteristic == measurement else { return [] }
        // The radio may not report which central has confirmed.
        let confirmed = central == nil ? Set(pending.values) : Set([pending[central]].compactMap { $0 })
        stored.removeAll { confirmed.contains($0.number) }
        if central == nil { pending = [:] } else { pending[central] = nil }
        return sendNext(service)
    }

    mutating func disconnected(_ central: Peer.ID) { pending[central] = nil }

    /// Sends the oldest measurement to each central that has confirmed all earlier ones.
    private mutating func sendNext(_ service: some ServiceState) -> [ServiceEffect] {
        guard let next = stored.first else { return [] }
        return service.targets(of: measurement).filter { pending[$0] == nil }.map { central in
            pending[central] = next.number
            return .send(next.value, of: measurement, to: central)
        }
    }
}
