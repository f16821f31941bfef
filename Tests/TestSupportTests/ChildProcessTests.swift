import Glibc
import Testing

@testable import MynahTestSupport

@Suite(.timeLimit(.minutes(15))) struct ChildProcessTests {
    @Test func `a child's end is told with its code or its signal`() async throws {
        let seven = try #require(ChildProcess("sh", ["-c", "exit 7"]))
        #expect(try await seven.end() == .exited(7))
        #expect(try await seven.end() == .exited(7))
        let sleeper = try #require(ChildProcess("sleep", ["1000"]))
        sleeper.send(SIGTERM)
        #expect(try await sleeper.end() == .killed(SIGTERM))
        sleeper.send(SIGTERM)
        sleeper.stop()
    }

    @Test func `a program that is not there is not started`() {
        #expect(ChildProcess("no-such-program-of-ours", []) == nil)
    }

    @Test func `a child has the variables that it is given, and its output can be waited for`() async throws {
        let output = try #require(OutputReader())
        let child = try #require(
            ChildProcess(
                "sh", ["-c", "echo one; echo $MYNAH_TEST ${HOME-none}"], passing: [output.writer: 1],
                environment: ["MYNAH_TEST": "two", "HOME": nil]))
        output.start()
        #expect(try await output.line(containing: "two") == "two none")
        #expect(try await output.line(containing: "three") == nil)
        #expect(try await output.text() == "one\ntwo none\n")
        #expect(try await child.end() == .exited(0))
    }

    @Test func `no signal is blocked or ignored in a child`() async throws {
        let output = try #require(OutputReader())
        let child = try #require(
            ChildProcess(
                "grep", ["-E", "^Sig(Blk|Ign)", "/proc/self/status"], passing: [output.writer: 1]))
        output.start()
        // The C library has two of its own, 32 and 33, which it always ignores.
        let lines = try await output.text().split(separator: "\n")
        #expect(lines.map { $0.suffix(7) } == ["0000000", "0000000"])
        #expect(try await child.end() == .exited(0))
    }

    @Test func `processes on the watchdog's list end with the test process, and no others`() throws {
        let watchdog = Watchdog()
        let spared = try #require(ChildProcess("sleep", ["1000"]))
        let ended = try #require(ChildProcess("sleep", ["1000"]))
        for child in [spared, ended] { watchdog.add(child.identifier) }
        watchdog.remove(spared.identifier)
        watchdog.hangUp()
        var information = siginfo_t()
        #expect(waitid(P_PID, id_t(ended.identifier), &information, WEXITED | WNOWAIT) == 0)
        // It stood first on the list.
        #expect(waitid(P_PID, id_t(spared.identifier), &information, WEXITED | WNOWAIT | WNOHANG) == 0)
        #expect(information.si_signo == 0)
    }

    @Test func `a bus that is ended comes back at its address`() throws {
        let bus = try PrivateBus()
        let path = String(bus.address.dropFirst("unix:path=".count))
        bus.stop()
        try bus.restart()
        #expect(access(path, R_OK | W_OK) == 0)
    }
}
