import MynahCore
import MynahHCI
import MynahHost
import MynahSupport

/// Two of our hosts on one air in this process: reads one at a time, writes one at a time, then
/// notifications as fast as they are accepted.
enum ExchangeBench {
    static func run(reads: Int, notifications: Int, writes: Int, commands: Int) async throws {
        let air = LiveAir()
        let device = try await Device(on: air.transport(ControllerConfiguration(address: Device.address)))
        let sink = PhoneSink(expecting: notifications)
        let phone = HostRadio(
            transport: air.transport(
                ControllerConfiguration(address: DeviceAddress(value: 0xC000_0000_0002, kind: .public))))
        try await phone.start(DeviceIdentity(name: "Phone"), central: sink)
        let peer = try await phone.connect(Device.address, timeout: .seconds(10)).id
        _ = try await phone.exchangeMTU(with: peer)
        let value = device.handle

        let began = (now: Bench.now, used: Bench.processorTime)
        // Where the answers are.
        try await withTaskExecutorPreference(phone.taskExecutor) {
            for _ in 0..<reads { _ = try await phone.read(value, of: peer) }
        }
        report("read", reads, since: began)

        let wrote = (now: Bench.now, used: Bench.processorTime)
        try await withTaskExecutorPreference(phone.taskExecutor) {
            for _ in 0..<writes { try await phone.write([1, 2, 3, 4], to: value, of: peer) }
        }
        report("write", writes, since: wrote)

        let commanded = (now: Bench.now, used: Bench.processorTime)
        try await withTaskExecutorPreference(phone.taskExecutor) {
            for number in 0..<commands {
                _ = try await phone.writeWithoutResponse([1, 2, 3, 4], to: value, of: peer)
                // There is room for so many at once, and the answer to a read comes after all of them.
                if number % 16 == 15 { _ = try await phone.read(value, of: peer) }
            }
        }
        report("write_command", commands, since: commanded)

        try await phone.write([1, 0], to: value + 1, of: peer)
        let sent = (now: Bench.now, used: Bench.processorTime)
        // Where it is told that there is room.
        try await withTaskExecutorPreference(device.radio.taskExecutor) {
            try await device.flood(notifications)
        }
        await sink.wait()
        report("notification", notifications, since: sent)
        print("notifications_lost \(sink.lost)")
        await phone.stop()
        await device.radio.stop()
    }

    /// Tells the rate, and how much of a processor one took, which says more on a machine that does something
    /// else too.
    private static func report(_ name: String, _ count: Int, since start: (now: Int64, used: Int64)) {
        guard count > 0 else { return }
        let (elapsed, used) = (max(Bench.now - start.now, 1), Bench.processorTime - start.used)
        print("\(name)s_per_s \(Int64(count) * 1_000_000 / elapsed)")
        print("\(name)_processor_ns \(used * 1000 / Int64(max(count, 1)))")
    }
}

/// Counts what comes, and looks for gaps.
final class PhoneSink: CentralSink {
    private struct State {
        var next: UInt32 = 0
        var lost = 0
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let expected: UInt32
    private let state = Lock(State())

    init(expecting count: Int) {
        expected = UInt32(count)
    }

    var lost: Int { state.withLock { $0.lost } }

    func handle(_ event: CentralEvent) -> RadioAnswer {
        guard case .notified(_, _, let value, _) = event else { return .none }
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let number = value.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            if number != state.next { state.lost += 1 }
            state.next = number + 1
            guard state.next == expected else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
        return .none
    }

    /// Until the last has come.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.next == expected { return true }
                state.waiting = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
