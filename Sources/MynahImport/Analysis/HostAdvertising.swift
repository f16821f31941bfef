import MynahHCI
import MynahSupport

/// Tracks the commands with which a host advertises (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9 and
/// 7.8.53 to 7.8.56).
struct HostAdvertising {
    private struct Set {
        var data: [UInt8] = []
        var scanResponse: [UInt8] = []
        /// The advertising interval, in units of 0.625 ms.
        var interval: UInt32?
        var isConnectable = true
    }

    /// The advertising sets by handle; the key `nil` is for legacy commands, which have no handle.
    private var sets: [UInt8?: Set] = [:]

    /// Applies a command; if advertising is on, adds the advertised data to `advertising`.
    mutating func apply(_ command: HCICommand, _ advertising: inout ObservedAdvertising) {
        var reader = ByteReader(command.parameters)
        switch command.opcode {
        case .leSetAdvertisingParameters:
            guard let minimum = reader.readUInt16(), reader.readUInt16() != nil, let type = reader.readUInt8()
            else { return }
            sets[nil, default: Set()].interval = UInt32(minimum)
            // ADV_IND and directed advertising.
            sets[nil, default: Set()].isConnectable = type != 2 && type != 3
        case .leSetAdvertisingData: sets[nil, default: Set()].data = Self.counted(&reader)
        case .leSetScanResponseData: sets[nil, default: Set()].scanResponse = Self.counted(&reader)
        case .leSetAdvertisingEnable:
            if reader.readUInt8() == 1, let set = sets[nil] { Self.show(set, &advertising) }
        case .leSetExtendedAdvertisingParameters:
            guard let handle = reader.readUInt8(), let properties = reader.readUInt16(),
                let low = reader.readUInt16(), let high = reader.readUInt8()
            else { return }
            sets[handle, default: Set()].interval = UInt32(low) | UInt32(high) << 16
            sets[handle, default: Set()].isConnectable = properties & 1 == 1
        case .leSetExtendedAdvertisingData:
            guard let handle = reader.readUInt8() else { return }
            Self.extend(&sets[handle, default: Set()].data, &reader)
        case .leSetExtendedScanResponseData:
            guard let handle = reader.readUInt8() else { return }
            Self.extend(&sets[handle, default: Set()].scanResponse, &reader)
        case .leSetExtendedAdvertisingEnable:
            guard reader.readUInt8() == 1, let count = reader.readUInt8() else { return }
            for _ in 0..<count {
                guard let handle = reader.readUInt8(), reader.readBytes(3) != nil else { return }
                if let set = sets[handle] { Self.show(set, &advertising) }
            }
        default: break
        }
    }

    private static func show(_ set: Set, _ advertising: inout ObservedAdvertising) {
        advertising.addData(set.data)
        advertising.addScanResponse(set.scanResponse)
        advertising.isConnectable = set.isConnectable
        // Only the first interval is used, because a device may save power with later ones.
        if advertising.setInterval == nil, let interval = set.interval {
            advertising.setInterval = min(max(Int64(interval) * 625, 20_000), 10_240_000)
        }
    }

    private static func counted(_ reader: inout ByteReader) -> [UInt8] {
        reader.readUInt8().flatMap { reader.readBytes(Int($0)) } ?? []
    }

    /// Adds a fragment to the data, or replaces the data if the fragment is complete.
    private static func extend(_ data: inout [UInt8], _ reader: inout ByteReader) {
        guard let operation = reader.readUInt8(), reader.readUInt8() != nil else { return }
        let part = counted(&reader)
        switch operation {
        case 0x01, 0x03: data = part
        case 0x00, 0x02: if data.count + part.count <= 1650 { data += part }
        default: break
        }
    }
}
