import MynahCore
import MynahHCI
import MynahSupport

extension HostScanner.Step {
    /// The step as a verb phrase for messages, as in "refused starting to scan".
    var purpose: String {
        switch self {
        case .setParameters: "setting the scan parameters"
        case .enable: "starting to scan"
        case .disable: "stopping to scan"
        }
    }
}

extension HCICommand {
    /// The command that carries out a step (Core Specification, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64 and
    /// 7.8.65).
    init(_ step: HostScanner.Step, style: CommandStyle, address: DeviceAddress?) {
        switch step {
        case .setParameters(let options): self.init(options, style, address)
        case .enable, .disable:
            let options: ScanOptions? = if case .enable(let options) = step { options } else { nil }
            let isOn: UInt8 = options == nil ? 0 : 1
            let filter: UInt8 = options?.allowsDuplicates ?? true ? 0 : 1
            switch style {
            case .legacy: self.init(.leSetScanEnable, [isOn, filter])
            case .extended: self.init(.leSetExtendedScanEnable, [isOn, filter, 0, 0, 0, 0])
            }
        }
    }

    private init(_ options: ScanOptions, _ style: CommandStyle, _ address: DeviceAddress?) {
        let interval = Self.scanUnits(options.interval)
        let window = min(Self.scanUnits(options.window), interval)
        let own = address?.kindCode ?? 0
        let type: UInt8 = options.isActive ? 1 : 0
        var writer = ByteWriter(capacity: 8)
        switch style {
        case .legacy:
            writer.write(type)
            writer.write(interval)
            writer.write(window)
            writer.write([own, 0x00] as [UInt8])
            self.init(.leSetScanParameters, writer.bytes)
        case .extended:
            // On LE 1M only, without a filter.
            writer.write([own, 0x00, 0x01, type] as [UInt8])
            writer.write(interval)
            writer.write(window)
            self.init(.leSetExtendedScanParameters, writer.bytes)
        }
    }

    /// The duration in units of 0.625 ms, limited to the range that a controller accepts.
    private static func scanUnits(_ duration: Duration) -> UInt16 {
        let (seconds, attoseconds) = duration.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
        return UInt16(clamping: min(max(microseconds / 625, 4), 0x4000))
    }
}
