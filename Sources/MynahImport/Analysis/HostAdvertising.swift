import MynahCore
import MynahHCI
import MynahSupport

/// Tracks the commands with which a host advertises (Core Specification, Vol 4, Part E, 7.8.5 to 7.8.9,
/// 7.8.53 to 7.8.56, and 7.8.61 to 7.8.63).
struct HostAdvertising {
    /// The periodic advertising of a set.
    private struct Train {
        /// The shortest and the longest interval, in units of 1.25 ms.
        var interval: ClosedRange<UInt16>?
        var data: [UInt8] = []
        var hasSubevents = false
        var isEnabled = false
        /// Whether the train is on the air; it stays there when the set is disabled.
        var isOn = false
    }

    private struct Set {
        var data: [UInt8] = []
        var scanResponse: [UInt8] = []
        /// The advertising interval, in units of 0.625 ms.
        var interval: UInt32?
        var kind = ScanReport.Kind.connectable
        var extended: Advertisement.Extended?
        var identifier: UInt8?
        var train = Train()
        /// The number that the set had last in `ObservedSets.Key.ofHost`, or `nil` if it was never on.
        var number: Int?
        var isOn = false
    }

    /// The advertising sets by handle; the key `nil` is for legacy commands, which have no handle.
    private var sets: [UInt8?: Set] = [:]
    /// The time of the last command, in microseconds.
    private var time: Int64 = 0

    /// Applies a command; if advertising is on, adds the advertised data to `advertising`.
    mutating func apply(_ command: HCICommand, at time: Int64, _ advertising: inout ObservedSets) {
        self.time = time
        var reader = ByteReader(command.parameters)
        switch command.opcode {
        case .leSetAdvertisingParameters:
            guard let minimum = reader.readUInt16(), reader.readUInt16() != nil, let type = reader.readUInt8()
            else { return }
            sets[nil, default: Set()].interval = UInt32(minimum)
            // Other types are ADV_IND and directed advertising.
            sets[nil, default: Set()].kind =
                type == 2 ? .scannable : type == 3 ? .nonConnectable : .connectable
        case .leSetAdvertisingData:
            sets[nil, default: Set()].data = Self.counted(&reader)
            showIfOn(nil, &advertising)
        case .leSetScanResponseData:
            sets[nil, default: Set()].scanResponse = Self.counted(&reader)
            showIfOn(nil, &advertising)
        case .leSetAdvertisingEnable:
            if reader.readUInt8() == 1 { show(nil, &advertising) } else { sets[nil]?.isOn = false }
        case .leSetExtendedAdvertisingParameters: setParameters(&reader)
        case .leSetExtendedAdvertisingData:
            guard let handle = reader.readUInt8() else { return }
            if Self.extend(&sets[handle, default: Set()].data, &reader) { showIfOn(handle, &advertising) }
        case .leSetExtendedScanResponseData:
            guard let handle = reader.readUInt8() else { return }
            let isWhole = Self.extend(&sets[handle, default: Set()].scanResponse, &reader)
            if isWhole { showIfOn(handle, &advertising) }
        case .leSetExtendedAdvertisingEnable: enable(&reader, &advertising)
        case .leSetPeriodicAdvertisingParameters: setTrain(&reader, isSecondVersion: false)
        case .leSetPeriodicAdvertisingParametersV2: setTrain(&reader, isSecondVersion: true)
        case .leSetPeriodicAdvertisingData:
            guard let handle = reader.readUInt8() else { return }
            let isWhole = Self.extend(&sets[handle, default: Set()].train.data, &reader, ofTrain: true)
            if isWhole { showTrain(handle, &advertising) }
        case .leSetPeriodicAdvertisingEnable:
            guard let on = reader.readUInt8(), let handle = reader.readUInt8() else { return }
            enableTrain(handle, on & 1 == 1, &advertising)
        default: break
        }
    }

    private mutating func setTrain(_ reader: inout ByteReader, isSecondVersion: Bool) {
        guard let handle = reader.readUInt8(), let shortest = reader.readUInt16(),
            let longest = reader.readUInt16(), shortest <= longest, reader.readUInt16() != nil
        else { return }
        sets[handle, default: Set()].train.interval = shortest...longest
        // The second version has the number of subevents here.
        sets[handle]?.train.hasSubevents = isSecondVersion && reader.readUInt8() ?? 0 > 0
    }

    /// Enables or disables a train, which begins when its set is on the air, too.
    private mutating func enableTrain(_ handle: UInt8, _ isEnabled: Bool, _ advertising: inout ObservedSets) {
        guard let set = sets[handle] else { return }
        sets[handle]?.train.isEnabled = isEnabled
        sets[handle]?.train.isOn = isEnabled && (set.isOn || set.train.isOn)
        showTrain(handle, &advertising)
    }

    /// Adds the data of a train that is on the air.
    private func showTrain(_ handle: UInt8?, _ advertising: inout ObservedSets) {
        guard let set = sets[handle], set.train.isOn, let number = set.number, number < ObservedSets.limit,
            let interval = set.train.interval
        else { return }
        advertising[.ofHost(number)].noteTrain(interval)
        if set.train.hasSubevents { advertising[.ofHost(number)].train?.subeventCount += 1 }
        advertising[.ofHost(number)].train?.addData(set.train.data, at: time)
    }

    /// Records that a set has stopped, because of a connection or the limit of its duration or its events.
    mutating func ended(_ handle: UInt8) { sets[handle]?.isOn = false }

    /// Notes that legacy advertising has ended because of a connection.
    mutating func legacyEnded() { sets[nil]?.isOn = false }

    private mutating func setParameters(_ reader: inout ByteReader) {
        guard let handle = reader.readUInt8(), let properties = reader.readUInt16(),
            let low = reader.readUInt16(), let high = reader.readUInt8()
        else { return }
        var set = sets[handle] ?? Set()
        set.interval = UInt32(low) | UInt32(high) << 16
        set.kind = properties & 1 == 1 ? .connectable : properties & 2 == 2 ? .scannable : .nonConnectable
        set.extended = nil
        if properties & 0x10 == 0 {
            var extended = Advertisement.Extended()
            // The parameters from the longest interval to the transmit power are not needed.
            if reader.readBytes(3 + 1 + 1 + 1 + 6 + 1 + 1) != nil, let primary = reader.readUInt8(),
                reader.readUInt8() != nil, let secondary = reader.readUInt8()
            {
                extended.isPrimaryCoded = primary == AdvertisingPHY.coded.rawValue
                extended.secondaryPHY = AdvertisingPHY(rawValue: secondary) ?? .le1M
                set.identifier = reader.readUInt8()
            }
            set.extended = extended
        }
        sets[handle] = set
    }

    private mutating func enable(_ reader: inout ByteReader, _ advertising: inout ObservedSets) {
        guard let isOn = reader.readUInt8(), let count = reader.readUInt8() else { return }
        // Without handles, all sets are disabled.
        if isOn == 0, count == 0 { for handle in Array(sets.keys) { sets[handle]?.isOn = false } }
        for _ in 0..<count {
            guard let handle = reader.readUInt8(), reader.readBytes(3) != nil else { return }
            if isOn == 1 { show(handle, &advertising) } else { sets[handle]?.isOn = false }
        }
    }

    /// Adds the new data of a set that is on the air.
    private mutating func showIfOn(_ handle: UInt8?, _ advertising: inout ObservedSets) {
        if sets[handle]?.isOn == true { show(handle, &advertising) }
    }

    /// Adds the data of a set that is enabled to the observed set with the lowest free number.
    ///
    /// The number is free if no other set with it is on. If a host uses handles one after the other, their
    /// data therefore belongs to the same observed set.
    private mutating func show(_ handle: UInt8?, _ advertising: inout ObservedSets) {
        guard var set = sets[handle] else { return }
        let taken = sets.filter { $0.key != handle && ($0.value.isOn || $0.value.train.isOn) }
            .compactMap(\.value.number)
        if set.number.map({ taken.contains($0) }) ?? true {
            set.number = (0...).first { !taken.contains($0) }
        }
        set.isOn = true
        set.train.isOn = set.train.isEnabled
        sets[handle] = set
        guard let number = set.number, number < ObservedSets.limit else { return }
        var shown = advertising[.ofHost(number)]
        shown.addData(set.data, at: time)
        shown.addScanResponse(set.scanResponse, at: time)
        shown.note(set.kind, set.extended)
        shown.identifier = set.identifier
        // Only the first interval is used, because a device may save power with later ones.
        if shown.setInterval == nil, let interval = set.interval {
            shown.setInterval = min(max(Int64(interval) * 625, 20_000), 10_240_000)
        }
        advertising[.ofHost(number)] = shown
        showTrain(handle, &advertising)
    }

    private static func counted(_ reader: inout ByteReader) -> [UInt8] {
        reader.readUInt8().flatMap { reader.readBytes(Int($0)) } ?? []
    }

    /// Adds a fragment to the data, or replaces the data if the operation is complete; returns whether the
    /// data is complete then.
    private static func extend(
        _ data: inout [UInt8], _ reader: inout ByteReader, ofTrain: Bool = false
    ) -> Bool {
        // Only the other commands have a preference for fragments.
        guard let operation = reader.readUInt8(), ofTrain || reader.readUInt8() != nil else { return false }
        let part = counted(&reader)
        switch operation {
        case 0x01, 0x03: data = part
        case 0x00, 0x02: if data.count + part.count <= 1650 { data += part }
        default: break
        }
        return operation == 0x02 || operation == 0x03
    }
}
