import MynahRun
import MynahSupport
import MynahTestSupport
import Testing

/// The stage of the tests, on which several sessions share a time and an air.
@Suite(.timeLimit(.minutes(15))) struct VirtualStageTests {
    /// The texts of devices and of two phones, one after the other.
    private func texts(seed: UInt64) async throws -> [String] {
        try await VirtualStage.play(seed: seed) { stage in
            let devices = try await stage.devices([AirStage.heartRate, "\(repository)/profiles/lock.yaml"])
            let scan = await stage.phone(["scan", "--timeout", "5s", "--format", "json", "--all"])
            let phone = await stage.phone([
                "connect", "Mynah HRM", "--format", "json", "--command", "subscribe 2A37", "--command",
                "wait 30 s",
            ])
            await stage.quit(devices)
            let all = [scan.output, phone.output, phone.error] + devices.map(\.output.text)
            #expect(all.allSatisfy { $0.contains("\n") })
            return all
        }
    }

    @Test func `a seed decides every byte that commands on one air print`() async throws {
        let (first, second, other) = (
            try await texts(seed: 1), try await texts(seed: 1), try await texts(seed: 2)
        )
        #expect(first == second)
        for (one, another) in zip(first, other) where !one.hasPrefix("looking for") {
            #expect(one != another)
        }
    }

    @Test func `no time passes between a line and what the test does after it`() async throws {
        let result = try await VirtualStage.play { stage in
            let device = try await stage.run([AirStage.heartRate])
            let ready = stage.time.clock.now
            device.terminate()
            let result = await device.end()
            #expect(stage.time.clock.now == ready)
            return result
        }
        #expect(result.status == .exited(0))
        let times = try result.output.split(separator: "\n").map { try json(String($0))["time"] as? String }
        #expect(times.count > 3 && Set(times) == ["2026-01-01T00:00:00.000000Z"])
    }

    @Test func `devices of sessions one after the other are different devices`() async throws {
        let addresses = try await VirtualStage.play { stage in
            var addresses: [String] = []
            for _ in 1...3 {
                let device = try await stage.run([AirStage.heartRate])
                addresses.append(try device.address())
                await stage.quit([device])
            }
            return addresses
        }
        #expect(Set(addresses).count == 3)
    }

    @Test func `a command that never ends is ended, and a line that never comes is none`() async throws {
        let (line, status) = try await VirtualStage.play { stage in
            let device = try await stage.run([AirStage.heartRate])
            let line = try await device.output.line(containing: "nothing of the kind")
            return (line, await device.end().status)
        }
        #expect(line == nil && status == .exited(0))
    }
}
