import Glibc
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// Many devices on one air: whether a scanner hears them all in time, and what one that is connected costs.
enum CrowdBench {
    private static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC100_0000_0000 + UInt64(number), kind: .public)
    }

    /// `count` devices of this process advertise at an interval, and one scanner listens for so many seconds.
    static func advertising(_ count: Int, seconds: Int, interval milliseconds: Int) async throws {
        let air = LiveAir()
        let scanner = ScannerSink(interval: milliseconds)
        let phone = HostRadio(
            transport: air.transport(ControllerConfiguration(address: address(count))))
        try await phone.start(DeviceIdentity(name: "Scanner"), central: scanner)
        var devices: [Device] = []
        let (start, before) = (Bench.now, anonymous)
        for number in 0..<count {
            devices.append(
                try await Device(
                    on: air.transport(ControllerConfiguration(address: address(number))),
                    interval: .milliseconds(milliseconds)))
        }
        print("started_ms \((Bench.now - start) / 1000)")
        print("device_kB \((anonymous - before) / max(1, count))")
        try await listen(phone, scanner, count, seconds)
        for device in devices { await device.radio.stop() }
    }

    /// One scanner listens for so many seconds to `count` devices of other processes on the air of a
    /// directory.
    static func hearing(_ count: Int, in directory: String?, seconds: Int, interval: Int) async throws {
        let air = try SharedAir(directory: directory)
        let scanner = ScannerSink(interval: interval)
        let phone = HostRadio(transport: air.transport(address: address(count)))
        try await phone.start(DeviceIdentity(name: "Scanner"), central: scanner)
        try await listen(phone, scanner, count, seconds)
        air.leave()
    }

    /// Prints what a scanner hears of so many devices, and stops it.
    private static func listen(
        _ phone: HostRadio, _ scanner: ScannerSink, _ count: Int, _ seconds: Int
    ) async throws {
        var options = ScanOptions()
        options.allowsDuplicates = true
        options.isActive = false
        try await phone.scan(options)
        let (began, busy) = (Bench.now, Bench.processorTime)
        scanner.reset()
        // So long is counted.
        try await Task.sleep(for: .seconds(seconds))
        let heard = scanner.heard
        let (elapsed, used) = (Bench.now - began, Bench.processorTime - busy)
        let due = Int64(count) * elapsed / scanner.period
        print("devices_heard \(heard.devices)")
        print("adverts_per_s \(Int64(heard.adverts) * 1_000_000 / elapsed)")
        print("adverts_of_due_percent \(percent(heard.adverts, Int(due)))")
        let silent = count - heard.devices
        print("adverts_in_time_percent \(percent(heard.inTime, heard.inTime + heard.missed + silent))")
        print("processor_percent \(used * 100 / elapsed)")
        print("process_kB \(anonymous)")
        await phone.stop()
    }

    private static func percent(_ part: Int, _ whole: Int) -> Double {
        whole == 0 ? 0 : (Double(part) / Double(whole) * 10_000).rounded() / 100
    }

    /// The cost of one of `count` connected devices, with its host and its controller.
    static func connected(_ count: Int) async throws {
        let air = LiveAir()
        var configuration = ControllerConfiguration(address: address(count))
        configuration.linkCount = min(255, count)
        let phone = HostRadio(transport: air.transport(configuration))
        try await phone.start(DeviceIdentity(name: "Phone"), central: ScannerSink(interval: 20))
        var devices: [Device] = []
        let before = anonymous
        for number in 0..<min(255, count) {
            let device = try await Device(
                on: air.transport(ControllerConfiguration(address: address(number))))
            devices.append(device)
            let peer = try await phone.connect(address(number), timeout: .seconds(10)).id
            _ = try await phone.exchangeMTU(with: peer)
            _ = try await phone.read(device.handle, of: peer)
        }
        print("connected_kB \((anonymous - before) / devices.count)")
        await phone.stop()
        for device in devices { await device.radio.stop() }
    }

    /// In kB.
    private static var anonymous: Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("RssAnon:") {
                return text.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap {
                    Int($0)
                } ?? 0
            }
        }
        return 0
    }
}

/// Counts what is heard, and when.
final class ScannerSink: CentralSink {
    /// The advertisements that were heard.
    struct Heard {
        /// Advertisements of all devices.
        var adverts = 0
        var devices = 0
        /// Advertisements that came when the one before said that they were due.
        var inTime = 0
        /// Those that came later, or not at all.
        var missed = 0
    }

    private struct State {
        var heard = Heard()
        /// When each device was heard last, in microseconds.
        var last: [DeviceAddress: Int64] = [:]
    }

    /// How late an advertisement may be, in microseconds.
    private static let patience: Int64 = 50_000
    /// The longest advDelay, in microseconds (Core Specification, Vol 6, Part B, 4.4.2.2.1).
    private static let longestDelay: Int64 = 10_000

    private let state = Lock(State())
    private let interval: Int64

    /// For devices with this interval, in milliseconds.
    init(interval milliseconds: Int) {
        interval = Int64(milliseconds) * 1000
    }

    /// The time between two advertisements of a device on average, in microseconds.
    var period: Int64 { interval + Self.longestDelay / 2 }

    func handle(_ event: CentralEvent) -> RadioAnswer {
        guard case .heard(let report) = event else { return .none }
        let now = Bench.now
        state.withLock { state in
            state.heard.adverts += 1
            if let last = state.last.updateValue(now, forKey: report.address) {
                let gap = now - last
                if gap <= interval + Self.longestDelay + Self.patience {
                    state.heard.inTime += 1
                } else {
                    state.heard.missed += max(1, Int((gap + period / 2) / period) - 1)
                }
            } else {
                state.heard.devices += 1
            }
        }
        return .none
    }

    func reset() { state.withLock { $0 = State() } }

    /// The advertisements until now; devices that are overdue have missed an advertisement.
    var heard: Heard {
        let now = Bench.now
        return state.withLock { state in
            var heard = state.heard
            heard.missed += state.last.values.count {
                now - $0 > interval + Self.longestDelay + Self.patience
            }
            return heard
        }
    }
}
