import MynahCore
import MynahHCI
import MynahHost
import MynahSupport
import MynahTestSupport

/// How long a read takes, from a central's request to its answer: in one process, or to another that plays
/// the device.
enum ReadBench {
    static func run(directory: String?, count: Int) async throws {
        let transport: VirtualTransport
        var device: Device?
        let configuration = ControllerConfiguration(
            address: DeviceAddress(value: 0xC000_0000_0002, kind: .public))
        if let directory {
            transport = try SharedAir(directory: directory).transport(configuration)
        } else {
            let air = LiveAir()
            device = try await Device(on: air.transport(ControllerConfiguration(address: Device.address)))
            transport = air.transport(configuration)
        }
        let phone = HCIProbe(transport)
        try await phone.open()
        let asked = Bench.now
        _ = try await phone.scan { $0.address == Device.address }
        print("heard_ms \(Double(Bench.now - asked) / 1000)")
        let link = try await phone.connect(to: Device.address)
        _ = try await phone.exchange("02 F700", of: link)
        var times: [Int64] = []
        let began = Bench.now
        for _ in 0..<count {
            let before = Bench.now
            _ = try await phone.exchange("0A 1200", of: link)
            times.append(Bench.now - before)
        }
        let whole = Bench.now - began
        times.sort()
        print("reads_per_s \(Int64(count) * 1_000_000 / max(whole, 1))")
        print("read_p50_us \(times[times.count / 2])")
        print("read_p99_us \(times[times.count * 99 / 100])")
        if let device { await device.radio.stop() }
    }
}
