import MynahCore
import MynahProfiles

/// The HID service of a keyboard, a mouse or a gamepad (HID Service Specification 1.0).
///
/// Each central has its own protocol mode, which is report protocol when it connects. Typed keys are sent to
/// each central in the reports of its mode.
struct HIDDevice: ServiceBehavior {
    static let bootKeyboardInput: BluetoothUUID = "2A22"
    static let bootKeyboardOutput: BluetoothUUID = "2A32"
    static let reportMap: BluetoothUUID = "2A4B"
    static let controlPoint: BluetoothUUID = "2A4C"
    /// The UUID by which the behavior refers to the first input report.
    static let report: BluetoothUUID = "2A4D"
    static let protocolMode: BluetoothUUID = "2A4E"
    /// The UUID by which the behavior refers to the first output report.
    ///
    /// On the air, an output report has the same UUID as an input report.
    static let outputReport: BluetoothUUID = "00022A4D-0000-1000-8000-00805F9B34FB"
    private static let featureReport: BluetoothUUID = "00032A4D-0000-1000-8000-00805F9B34FB"
    static let reportReference: BluetoothUUID = "2908"

    /// The protocols of the Protocol Mode characteristic (2.14).
    enum Mode: UInt8 {
        case boot = 0
        case report = 1
    }

    /// The commands of the HID Control Point (2.13).
    enum Command: UInt8 {
        case suspend = 0
        case exitSuspend = 1
    }

    let handled = [controlPoint, protocolMode, outputReport, bootKeyboardOutput]
    let changed = [report, bootKeyboardInput]
    /// The centrals in boot protocol mode, in the order in which they selected it.
    private(set) var bootCentrals: [Peer.ID] = []
    /// The keystrokes that were not sent yet.
    private var typing = KeyQueue()

    /// Returns the UUID by which the behavior refers to a characteristic.
    ///
    /// For a report, it depends on the report type in the Report Reference descriptor.
    func name(of characteristic: Profile.Characteristic) -> BluetoothUUID {
        guard characteristic.uuid == Self.report else { return characteristic.uuid }
        let reference = characteristic.descriptors.first { $0.uuid == Self.reportReference }?.value
        switch reference?.last {
        case 2: return Self.outputReport
        case 3: return Self.featureReport
        default: return Self.report
        }
    }

    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        self = HIDDevice()
        return []
    }

    // MARK: Requests

    /// Carries out a write; an unknown command gets the error 0x06, and a wrong length the error 0x0D.
    ///
    /// The specification defines no errors of its own.
    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        let outputs = [Self.outputReport, Self.bootKeyboardOutput]
        let isOutput = outputs.contains(characteristic)
        // A report without a value in the profile accepts any length.
        let length = isOutput ? service.value(of: characteristic)?.count : 1
        guard value.count == length || length == 0 else { throw .invalidAttributeValueLength }
        if isOutput {
            // Both output reports set the same LEDs.
            return outputs.filter { [0, value.count].contains(service.value(of: $0)?.count) }
                .map { .store(value, of: $0) }
        }
        if characteristic == Self.controlPoint {
            guard Command(rawValue: value[0]) != nil else { throw .requestNotSupported }
            return []
        }
        guard let mode = Mode(rawValue: value[0]) else { throw .requestNotSupported }
        bootCentrals.removeAll { $0 == central }
        if mode == .boot { bootCentrals.append(central) }
        return []
    }

    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]? {
        guard characteristic == Self.protocolMode else { return nil }
        let mode: Mode = bootCentrals.contains(central) ? .boot : .report
        return [mode.rawValue]
    }

    mutating func disconnected(_ central: Peer.ID) {
        bootCentrals.removeAll { $0 == central }
    }

    // MARK: Typing

    /// The reason that no key can be typed.
    enum Refusal: Error, Equatable {
        /// The device's reports are not those of a keyboard.
        case isNoKeyboard
        /// No central is subscribed to the report of its protocol mode.
        case hasNoHost
        /// Too many reports already wait to be sent; the value is their number.
        case isTyping(Int)
    }

    /// Presses and releases each key in order.
    mutating func type(
        _ strokes: [KeyStroke], every gap: Duration, _ service: some ServiceState
    ) throws(Refusal) {
        // Usage Page (Keyboard), and a report like that of the boot protocol.
        guard service.value(of: Self.reportMap)?.contains([0x05, 0x07]) == true,
            service.value(of: Self.report)?.count == KeyStroke.reportLength
        else { throw .isNoKeyboard }
        guard
            bootCentrals.contains(where: { service.isSubscribed($0, to: Self.bootKeyboardInput) })
                || service.hasSubscribers(of: Self.report)
        else { throw .hasNoHost }
        guard typing.add(strokes, every: gap, at: service.now) else { throw .isTyping(typing.count) }
    }

    func due(_ service: some ServiceState) -> Duration? {
        let hosts = service.subscribers(of: Self.report) + bootCentrals
        return hosts.contains { service.isSending(to: $0) } ? nil : typing.due
    }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        guard let report = typing.next(at: service.now) else { return [] }
        let stored = [Self.report, Self.bootKeyboardInput].map { ServiceEffect.store(report, of: $0) }
        guard !bootCentrals.isEmpty else { return stored + [.send(report, of: Self.report, to: nil)] }
        let others = service.subscribers(of: Self.report).filter { !bootCentrals.contains($0) }
        return stored + others.map { .send(report, of: Self.report, to: $0) }
            + bootCentrals.map { .send(report, of: Self.bootKeyboardInput, to: $0) }
    }
}

/// The queue of keyboard reports, which are sent one by one, with a gap after each.
private struct KeyQueue {
    /// The maximum number of reports in the queue.
    private static let longest = 16_384

    private var reports: ArraySlice<(bytes: [UInt8], gap: Duration)> = []
    /// The earliest time at which the next queued report may be sent.
    private var start = Duration.zero

    var count: Int { reports.count }
    var due: Duration? { reports.isEmpty ? nil : start }

    /// Queues a press and a release for each key; returns `false` if the queue would be too long.
    mutating func add(_ strokes: [KeyStroke], every gap: Duration, at now: Duration) -> Bool {
        guard reports.count + 2 * strokes.count <= Self.longest else { return false }
        start = max(start, now)
        for stroke in strokes {
            reports.append((stroke.report, gap))
            reports.append((KeyStroke.released, gap))
        }
        return true
    }

    /// Removes and returns the next report if its time has come, or returns `nil`.
    mutating func next(at now: Duration) -> [UInt8]? {
        guard start <= now, let report = reports.popFirst() else { return nil }
        start = now + report.gap
        return report.bytes
    }
}
