import MynahCore
import MynahHCI
import MynahSupport

extension HostAdvertiser.Step {
    /// The step as a verb phrase for messages, as in "refused setting the advertising data".
    var purpose: String {
        switch self {
        case .setParameters: "setting the advertising parameters"
        case .setAddress: "setting the random address of the advertising set"
        case .setData: "setting the advertising data"
        case .setScanResponse: "setting the scan response"
        case .enable: "starting to advertise"
        case .disable: "stopping to advertise"
        case .setPeriodicParameters: "setting the periodic advertising parameters"
        case .setPeriodicData: "setting the periodic advertising data"
        case .enablePeriodic: "starting periodic advertising"
        case .disablePeriodic: "stopping periodic advertising"
        }
    }
}

extension HCICommand {
    /// Makes the command for a step of a set, or `nil` if this style needs no command for the step.
    ///
    /// Both styles send the same legacy PDUs (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to
    /// 7.8.56). Periodic advertising has extended commands only (7.8.61 to 7.8.63).
    init?(_ step: HostAdvertiser.Step, of set: UInt8, style: CommandStyle) {
        switch (style, step) {
        case (.legacy, .setParameters(let parameters)):
            self.init(.leSetAdvertisingParameters, Self.legacyBytes(parameters))
        case (.extended, .setParameters(let parameters)):
            self.init(.leSetExtendedAdvertisingParameters, Self.extendedBytes(parameters, set))
        case (.legacy, .setAddress): return nil
        case (.extended, .setAddress(let address)):
            guard address.kind == .random else { return nil }
            var writer = ByteWriter(capacity: 7)
            writer.write(set)
            writer.write(address)
            self.init(.leSetAdvertisingSetRandomAddress, writer.bytes)
        case (.legacy, .setData(let fragment)):
            self.init(.leSetAdvertisingData, Self.padded(fragment.bytes))
        case (.extended, .setData(let fragment)):
            self.init(.leSetExtendedAdvertisingData, Self.bytes(fragment, of: set))
        case (.legacy, .setScanResponse(let fragment)):
            self.init(.leSetScanResponseData, Self.padded(fragment.bytes))
        case (.extended, .setScanResponse(let fragment)):
            self.init(.leSetExtendedScanResponseData, Self.bytes(fragment, of: set))
        case (.legacy, .enable): self.init(.leSetAdvertisingEnable, [1])
        case (.legacy, .disable): self.init(.leSetAdvertisingEnable, [0])
        case (.extended, .enable), (.extended, .disable):
            // One set, without a duration or a maximum number of events.
            self.init(.leSetExtendedAdvertisingEnable, [step == .enable ? 1 : 0, 1, set, 0, 0, 0])
        case (.extended, .setPeriodicParameters(let interval)):
            var writer = ByteWriter(capacity: 7)
            writer.write(set)
            writer.write(interval.lowerBound)
            writer.write(interval.upperBound)
            // The PDUs have no field for the transmit power.
            writer.write(0 as UInt16)
            self.init(.leSetPeriodicAdvertisingParameters, writer.bytes)
        case (.extended, .setPeriodicData(let fragment)):
            let header = [set, fragment.operation.rawValue, UInt8(fragment.bytes.count)]
            self.init(.leSetPeriodicAdvertisingData, header + fragment.bytes)
        case (.extended, .enablePeriodic), (.extended, .disablePeriodic):
            self.init(.leSetPeriodicAdvertisingEnable, [step == .enablePeriodic ? 1 : 0, set])
        case (.legacy, .setPeriodicParameters), (.legacy, .setPeriodicData), (.legacy, .enablePeriodic),
            (.legacy, .disablePeriodic):
            return nil
        }
    }

    private static func legacyBytes(_ parameters: HostAdvertiser.Parameters) -> [UInt8] {
        var writer = ByteWriter(capacity: 15)
        writer.write(parameters.interval.lowerBound)
        writer.write(parameters.interval.upperBound)
        // ADV_IND; ADV_SCAN_IND, which accepts scan requests but no connections; or ADV_NONCONN_IND.
        writer.write(UInt8(parameters.isConnectable ? 0x00 : parameters.isScannable ? 0x02 : 0x03))
        writer.write(parameters.addressKind)
        writer.write([0, 0, 0, 0, 0, 0, 0] as [UInt8])
        // All three primary channels, and no filter.
        writer.write([0x07, 0x00] as [UInt8])
        return writer.bytes
    }

    private static func extendedBytes(_ parameters: HostAdvertiser.Parameters, _ set: UInt8) -> [UInt8] {
        var writer = ByteWriter(capacity: 25)
        writer.write(set)
        // The bits are connectable, scannable, and legacy PDUs.
        var properties: UInt16 = parameters.isConnectable ? 0x01 : 0
        if parameters.isScannable { properties |= 0x02 }
        if parameters.extended == nil { properties |= 0x10 }
        writer.write(properties)
        for interval in [parameters.interval.lowerBound, parameters.interval.upperBound] {
            writer.write(interval)
            writer.write(0 as UInt8)
        }
        writer.write([0x07, parameters.addressKind] as [UInt8])
        writer.write([0, 0, 0, 0, 0, 0, 0, 0] as [UInt8])
        // Any power, the PHYs, the set's identifier, and no reports of scan requests.
        let primary: UInt8 = parameters.extended?.isPrimaryCoded == true ? 0x03 : 0x01
        let secondary = parameters.extended?.secondaryPHY.rawValue ?? 0x01
        writer.write([0x7F, primary, 0x00, secondary, parameters.identifier, 0x00] as [UInt8])
        return writer.bytes
    }

    /// The parameters of a command with a fragment of data; the controller should not fragment it further.
    private static func bytes(_ fragment: HostAdvertiser.Fragment, of set: UInt8) -> [UInt8] {
        [set, fragment.operation.rawValue, 0x01, UInt8(fragment.bytes.count)] + fragment.bytes
    }

    /// Encodes the length and the data, padded to 31 bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        let room = ExactAdvertisement.legacyCapacity
        let shown = bytes.prefix(room)
        return [UInt8(shown.count)] + shown + Array(repeating: 0, count: room - shown.count)
    }
}
