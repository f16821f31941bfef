import Glibc
import MynahCore
import MynahTestSupport
import Testing

@testable import MynahHCI

/// Facts about controllers, adapters and the air, without opening them.
@Suite struct OutlookTests {
    // MARK: - The kernel's management channel

    /// The event Command Complete of Read Controller Information, with these settings.
    private func answer(
        event: UInt16 = ManagementChannel.commandComplete, index: UInt16 = 0, status: UInt8 = 0,
        supported: UInt32, current: UInt32
    ) -> [UInt8] {
        func little(_ number: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return little(UInt32(event), 2) + little(UInt32(index), 2) + little(283, 2) + little(4, 2) + [status]
            + [1, 2, 3, 4, 5, 6, 9] + little(2, 2) + little(supported, 4) + little(current, 4)
            + [UInt8](repeating: 0, count: 263)
    }

    private let lowEnergy: UInt32 = 1 << 9

    @Test func `an adapter's settings are the bits of the kernel's answer`() throws {
        let on = try ManagementChannel.settings(
            in: answer(supported: lowEnergy | 1, current: lowEnergy | 1)[...], of: 0)
        #expect(on == .init(isPowered: true, supportsLE: true, isLEOn: true))
        let classic = try ManagementChannel.settings(in: answer(supported: 0xFF, current: 0x80)[...], of: 0)
        #expect(classic == .init(isPowered: false, supportsLE: false, isLEOn: false))
        let off = try ManagementChannel.settings(in: answer(supported: lowEnergy, current: 1)[...], of: 0)
        #expect(off == .init(isPowered: true, supportsLE: true, isLEOn: false))
    }

    @Test func `events of others are passed over`() throws {
        let other = answer(index: 1, supported: 0, current: 0)
        #expect(try ManagementChannel.settings(in: other[...], of: 0) == nil)
        #expect(
            try ManagementChannel.settings(in: answer(event: 6, supported: 0, current: 0)[...], of: 0) == nil)
        for count in 0..<9 {
            #expect(
                try ManagementChannel.settings(in: answer(supported: 0, current: 0)[..<count], of: 0) == nil)
        }
    }

    @Test func `an answer that refuses, or is too short, is a problem`() throws {
        #expect(throws: ManagementChannel.Problem.self) {
            try ManagementChannel.settings(in: answer(status: 0x11, supported: 0, current: 0)[...], of: 0)
        }
        for count in 9..<26 {
            #expect(throws: ManagementChannel.Problem.self) {
                try ManagementChannel.settings(in: answer(supported: 0, current: 0)[..<count], of: 0)
            }
        }
    }

    @Test func `the command is in little-endian order`() {
        #expect(
            ManagementChannel.command(ManagementChannel.readControllerInformation, of: 0x0102)
                == [4, 0, 2, 1, 0, 0])
    }

    // MARK: - Controllers

    private func outlook(_ text: String) throws -> ControllerOutlook {
        ControllerOutlook(try HCITransportAddress(parsing: text), mayTakeAdapters: false)
    }

    @Test func `a file is a controller if it is of the right kind`() throws {
        let directory = try TemporaryDirectory()
        let missing = try outlook("unix:\(directory.path)/none")
        guard case .failed(let error) = missing else {
            Issue.record("\(missing)")
            return
        }
        #expect(error.message.contains("No such file"))
        guard case .failed = try outlook("unix:\(directory.path)") else {
            Issue.record("a directory is no socket")
            return
        }
        #expect(try outlook("pty:/dev/tty") == .open || access("/dev/tty", R_OK) != 0)
        #expect(try outlook("serial:/dev/null") == .open)
    }

    @Test func `a port of this machine has a listener or not, and another machine is not asked`() throws {
        guard case .failed(let error) = try outlook("tcp-client:127.0.0.1:1") else {
            Issue.record("nobody listens on port 1")
            return
        }
        #expect(error.remedy == "start the controller first")
        for text in ["tcp-client:192.0.2.1:6402", "tcp-server:0", "unix-server:/tmp/x"] {
            guard case .unknown = try outlook(text) else {
                Issue.record("\(text) is not known")
                return
            }
        }
    }

    @Test func `an adapter that the kernel does not have says what a run says`() throws {
        guard case .failed(let error) = try outlook("user:65000") else {
            Issue.record("there is no hci65000")
            return
        }
        #expect(error.code == .noAdapter)
        #expect(error.remedy != nil)
    }

    // MARK: - The air

    @Test func `an air is judged without making its directory`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/air"
        #expect(AirDirectory(path: path).problem == nil)
        #expect(access(path, F_OK) != 0)
        #expect(AirDirectory(path: "/nonexistent/air").problem?.message.contains("cannot be created") == true)
        mkdir(path, 0o777)
        chmod(path, 0o777)
        #expect(AirDirectory(path: path).problem?.remedy?.contains("chmod go-w") == true)
        chmod(path, 0o700)
        #expect(AirDirectory(path: path).problem == nil)
        rmdir(path)
        let file = try #require(fopen(path, "w"))
        fclose(file)
        #expect(AirDirectory(path: path).problem?.message.contains("is not a directory") == true)
    }
}
