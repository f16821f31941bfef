import MynahCore
import MynahHCI
import MynahSupport

extension HostAdvertiser.Step {
    /// The step's purpose, as in "refused setting the advertising data".
    var purpose: String {
        switch self {
        case .setParameters: "setting the advertising parameters"
        case .setAddress: "setting the random address of the advertising set"
        case .setData: "setting the advertising data"
        case .setScanResponse: "setting the scan response"
        case .enable: "starting to advertise"
        case .disable: "stopping to advertise"
        }
    }
}

extension HCICommand {
    /// The handle of the only advertising set.
    private static let set: UInt8 = 0

    /// The command that carries out a step, or `nil` if commands of this style need none.
    ///
    /// Both styles send the same legacy PDUs (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to
    /// 7.8.56).
    init?(_ step: HostAdvertiser.Step, style: CommandStyle, address: DeviceAddress?) {
        switch (style, step) {
        case (.legacy, .setParameters(let interval, let isConnectable)):
            self.init(
                .leSetAdvertisingParameters, Self.legacyParameters(interval, isConnectable, address))
        case (.extended, .setParameters(let interval, let isConnectable)):
            self.init(
                .leSetExtendedAdvertisingParameters, Self.extendedParameters(interval, isConnectable, address)
            )
        case (.legacy, .setAddress): return nil
        case (.extended, .setAddress(let address)):
            guard address.kind == .random else { return nil }
            var writer = ByteWriter(capacity: 7)
            writer.write(Self.set)
            writer.write(address)
            self.init(.leSetAdvertisingSetRandomAddress, writer.bytes)
        case (.legacy, .setData(let data)): self.init(.leSetAdvertisingData, Self.padded(data))
        case (.extended, .setData(let data)):
            self.init(.leSetExtendedAdvertisingData, Self.whole + Self.counted(data))
        case (.legacy, .setScanResponse(let data)): self.init(.leSetScanResponseData, Self.padded(data))
        case (.extended, .setScanResponse(let data)):
            self.init(.leSetExtendedScanResponseData, Self.whole + Self.counted(data))
        case (.legacy, .enable): self.init(.leSetAdvertisingEnable, [1])
        case (.legacy, .disable): self.init(.leSetAdvertisingEnable, [0])
        case (.extended, .enable), (.extended, .disable):
            // One set, without a duration or a maximum number of events.
            self.init(.leSetExtendedAdvertisingEnable, [step == .enable ? 1 : 0, 1, Self.set, 0, 0, 0])
        }
    }

    private static func legacyParameters(
        _ interval: UInt16, _ isConnectable: Bool, _ address: DeviceAddress?
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 15)
        writer.write(interval)
        writer.write(interval)
        // ADV_IND, or ADV_SCAN_IND, which scanners may ask for more and centrals cannot connect to.
        writer.write(UInt8(isConnectable ? 0x00 : 0x02))
        writer.write(address?.kindCode ?? 0)
        writer.write([0, 0, 0, 0, 0, 0, 0] as [UInt8])
        // All three channels, no filter.
        writer.write([0x07, 0x00] as [UInt8])
        return writer.bytes
    }

    private static func extendedParameters(
        _ interval: UInt16, _ isConnectable: Bool, _ address: DeviceAddress?
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 25)
        writer.write(set)
        // Legacy PDUs, scannable, and connectable or not.
        writer.write(UInt16(isConnectable ? 0x0013 : 0x0012))
        for _ in 0..<2 {
            writer.write(interval)
            writer.write(0 as UInt8)
        }
        writer.write([0x07, address?.kindCode ?? 0] as [UInt8])
        writer.write([0, 0, 0, 0, 0, 0, 0, 0] as [UInt8])
        // Any power, LE 1M, no set identifier, and no report of scan requests.
        writer.write([0x7F, 0x01, 0x00, 0x01, 0x00, 0x00] as [UInt8])
        return writer.bytes
    }

    /// The parameters for all data of the set in one command, which the controller should not fragment.
    private static let whole: [UInt8] = [set, 0x03, 0x01]

    /// The length and the data, padded to 31 bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        counted(bytes) + Array(repeating: 0, count: max(0, ExactAdvertisement.legacyCapacity - bytes.count))
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        let room = ExactAdvertisement.legacyCapacity
        return [UInt8(min(bytes.count, room))] + bytes.prefix(room)
    }
}
