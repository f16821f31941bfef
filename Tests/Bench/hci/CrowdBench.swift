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

    /// `count` devices advertise every 100 ms, and one scanner listens for so many seconds.
    static func advertising(_ count: Int, seconds: Int) async throws {
        let air = LiveAir()
        let scanner = ScannerSink()
        let phone = HostRadio(
            transport: air.transport(ControllerConfiguration(address: address(count))))
        try await phone.start(DeviceIdentity(name: "Scanner"), central: scanner)
        var devices: [Device] = []
        for number in 0..<count {
            devices.append(
                try await Device(
                    on: air.transport(ControllerConfiguration(address: address(number))),
                    interval: .milliseconds(100)))
        }
        var options = ScanOptions()
        options.allowsDuplicates = true
        options.isActive = false
        try await phone.scan(options)
        let (began, busy) = (Bench.now, Bench.processorTime)
        scanner.reset()
        // So long is counted.
        try await Task.sleep(for: .seconds(seconds))
        let (heard, devicesHeard) = scanner.counts
        let (elapsed, used) = (Bench.now - began, Bench.processorTime - busy)
        // An advertising event every 100 ms and 0 to 10 ms of delay, so every 105 ms.
        let due = Double(elapsed) / 105_000 * Double(count)
        print("devices_heard \(devicesHeard)")
        print("adverts_per_s \(Int64(heard) * 1_000_000 / elapsed)")
        print("adverts_in_time_percent \(Int((Double(heard) / due * 100).rounded()))")
        print("processor_percent \(used * 100 / elapsed)")
        await phone.stop()
        for device in devices { await device.radio.stop() }
    }

    /// The cost of one of `count` connected devices, with its host and its controller.
    static func connected(_ count: Int) async throws {
        let air = LiveAir()
        var configuration = ControllerConfiguration(address: address(count))
        configuration.linkCount = min(255, count)
        let phone = HostRadio(transport: air.transport(configuration))
        try await phone.start(DeviceIdentity(name: "Phone"), central: ScannerSink())
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

/// Counts what is heard.
final class ScannerSink: CentralSink {
    private struct State {
        var heard = 0
        var addresses: Set<DeviceAddress> = []
    }

    private let state = Lock(State())

    func handle(_ event: CentralEvent) -> RadioAnswer {
        guard case .heard(let report) = event else { return .none }
        state.withLock { state in
            state.heard += 1
            state.addresses.insert(report.address)
        }
        return .none
    }

    func reset() { state.withLock { $0 = State() } }

    var counts: (Int, Int) { state.withLock { ($0.heard, $0.addresses.count) } }
}
