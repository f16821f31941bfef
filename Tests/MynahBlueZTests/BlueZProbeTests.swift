import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahBlueZ

@Suite(.timeLimit(.minutes(15))) struct BlueZProbeTests {
    private func probe(_ address: String) -> BlueZProbe {
        var probe = BlueZProbe()
        probe.bus = .address(address)
        // As on a machine whose kernel has no adapter, even if this one has.
        probe.startsDaemon = false
        // A busy machine is no daemon that never answers.
        probe.limit = .seconds(50)
        return probe
    }

    private func trouble(_ probe: BlueZProbe, _ waiting: @Sendable (String) -> Void = { _ in }) async
        -> RadioError?
    {
        do throws(RadioError) {
            try await probe.run(whenWaiting: waiting)
            return nil
        } catch {
            return error
        }
    }

    @Test func `an adapter is found, and nothing of it is changed`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        var probe = probe(bus.address)
        #expect(await trouble(probe) == nil)
        probe.adapter = "HCI0"
        #expect(await trouble(probe) == nil)
        probe.adapter = "hci7"
        #expect(await trouble(probe)?.message == "there is no adapter hci7")
        #expect(await standIn.alias() == "stand-in")
        #expect(await standIn.agentCapability == nil)
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test func `a daemon without an adapter says so`() async throws {
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address, StandInConfiguration(adapters: []))
        #expect(await trouble(probe(bus.address))?.code == .noAdapter)
        await standIn.stop()
    }

    @Test func `without a daemon, and without a bus, the answer comes at once`() async throws {
        let bus = try PrivateBus()
        #expect(await trouble(probe(bus.address))?.message == "bluetoothd is not running")
        #expect(await trouble(probe("unix:path=/nonexistent/bus"))?.code == .unreachable)
    }

    @Test func `a bus that never answers is given up, and the waiting is reported before`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        var probe = probe(bus.address)
        probe.limit = .milliseconds(50)
        probe.silence = .milliseconds(10)
        let messages = Lock<[String]>([])
        let error = await trouble(probe) { message in messages.withLock { $0.append(message) } }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("on the D-Bus system bus (\(bus.address))") == true)
        let told = messages.withLock { $0 }
        #expect(told.count == 1)
        #expect(told.first?.contains("bluetoothd on the D-Bus system bus (\(bus.address))") == true)
    }

    @Test func `a daemon that never answers is given up as well`() async throws {
        let bus = try PrivateBus()
        let mute = try await DBusConnection.connect(to: .address(bus.address))
        let daemon = SilentDaemon()
        try await GLibExecutor.shared.perform { () throws(DBusError) in try mute.export(daemon, at: "/") }
        try await mute.requestName(BlueZ.service)
        var probe = probe(bus.address)
        probe.limit = .milliseconds(300)
        #expect(await trouble(probe)?.code == .timedOut)
        await mute.close()
    }

    @Test func `it can be interrupted`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        var slow = probe(bus.address)
        slow.limit = .seconds(1000)
        slow.silence = .milliseconds(1)
        let probe = slow
        let waits = Mailbox<Void>("the waits of the probe")
        let running = Task {
            await self.trouble(probe) { _ in waits.put(()) }
        }
        _ = try await waits.take()
        running.cancel()
        #expect(await running.value?.code == .lost)
    }
}
