import MynahCore
import MynahSupport

/// The devices that a controller accepts if a filter policy requires it (Core Specification, Vol 6, Part B,
/// 4.3.1).
struct FilterAcceptList: Sendable {
    private var devices: [DeviceAddress] = []
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether a device is on the list, by its identity address if it has been resolved.
    func contains(_ device: Identity) -> Bool { devices.contains(device.address) }

    /// Performs LE Add Device To Filter Accept List (Vol 4, Part E, 7.8.16).
    mutating func add(_ reader: inout ByteReader, isInUse: Bool) -> CommandAnswer? {
        guard let device = Self.device(&reader) else { return nil }
        guard !isInUse else { return .disallowed }
        guard case .address(let address) = device, !devices.contains(address) else { return .success }
        guard devices.count < capacity else { return .complete(.memoryCapacityExceeded) }
        devices.append(address)
        return .success
    }

    /// Performs LE Remove Device From Filter Accept List (7.8.17).
    mutating func remove(_ reader: inout ByteReader, isInUse: Bool) -> CommandAnswer? {
        guard let device = Self.device(&reader) else { return nil }
        guard !isInUse else { return .disallowed }
        if case .address(let address) = device { devices.removeAll { $0 == address } }
        return .success
    }

    /// Performs LE Clear Filter Accept List (7.8.15).
    mutating func clear(isInUse: Bool) -> CommandAnswer {
        guard !isInUse else { return .disallowed }
        devices = []
        return .success
    }

    private enum Device {
        case address(DeviceAddress)
        /// Devices that send anonymous advertisements; the virtual air has no such devices.
        case anonymous
    }

    private static func device(_ reader: inout ByteReader) -> Device? {
        guard let kind = reader.readUInt8(), kind <= 1 || kind == 0xFF,
            let address = reader.readAddress(kind: kind)
        else { return nil }
        return kind == 0xFF ? .anonymous : .address(address)
    }
}
