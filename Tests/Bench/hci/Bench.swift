import Glibc
import MynahCore
import MynahHCI
import MynahHost
import MynahSupport
import MynahTestSupport

/// Measures our host, our controllers and the air between them; nothing is asserted.
@main enum Bench {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        func number() -> Int { arguments.popFirst().flatMap { Int($0) } ?? 0 }
        switch arguments.popFirst() {
        case "device":
            // Plays a device on the air of a directory, until it is ended.
            let air = try SharedAir(directory: arguments.popFirst())
            let device = try await Device(on: air.transport(address: Device.address))
            print("ready")
            fflush(nil)
            await device.play()
        case "reads":
            try await ReadBench.run(
                directory: arguments.popFirst(), count: arguments.popFirst().flatMap { Int($0) } ?? 5000)
        case "exchange":
            try await ExchangeBench.run(
                reads: number(), notifications: number(), writes: number(), commands: number())
        case "advertising":
            try await CrowdBench.advertising(number(), seconds: number(), interval: max(20, number()))
        case "hear":
            try await CrowdBench.hearing(
                number(), in: arguments.popFirst(), seconds: number(), interval: max(20, number()))
        case "scan":
            try await ScanBench.run(max(1, number()))
        case "connected":
            try await CrowdBench.connected(number())
        default:
            print(
                """
                usage: mynah-bench-hci device DIRECTORY | reads [DIRECTORY [COUNT]] |
                       exchange READS NOTIFICATIONS [WRITES [COMMANDS]] |
                       advertising DEVICES SECONDS MILLISECONDS | connected DEVICES | scan DEVICES |
                       hear DEVICES DIRECTORY SECONDS MILLISECONDS
                """)
            exit(64)
        }
    }

    /// The processor time of this process, in microseconds.
    static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// In microseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
