import Foundation
import Glibc
import MynahBlueZStandIn
import MynahTestSupport
import Testing

/// An app's life, as the program is told to play it.
@Suite struct RunAppTests {
    static let profile = "\(repository)/profiles/everything-app.yaml"

    /// A folder of a test's own.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "mynah-\(UUID().uuidString)").path

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var files: [String] {
            let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return all.filter { $0 != "lock" }.sorted()
        }
    }

    private func names(_ output: String) throws -> [String] {
        try output.split(separator: "\n").compactMap { try json(String($0))["event"] as? String }
    }

    @Test func `what is planned for an app happens in its order`() async throws {
        let stage = try await RunTests.Stage(
            [
                "--events", "json", "--state", "foreground", "--at", "1ms=background", "--at",
                "2ms=suspended",
                "--at", "3ms=quit",
            ], profiles: [Self.profile])
        #expect(await stage.program.output.line(containing: "\"app.quit\"") != nil)
        stage.program.child.send(SIGTERM)
        let result = await stage.program.end()
        #expect(result.status == .exited(0))
        let life = try names(result.output).filter { $0.hasPrefix("app.") }
        #expect(life == ["app.launched", "app.foreground", "app.background", "app.suspended", "app.quit"])
        await stage.expectNothingIsLeft()
    }

    @Test func `SIGTERM keeps what an app preserves, and Ctrl-C forgets it`() async throws {
        let folder = Folder()
        let bus = try PrivateBus()
        let standIn = try await BlueZStandIn.start(on: bus.address)
        for (number, signal) in [SIGTERM, SIGINT, SIGTERM].enumerated() {
            let program = try Program(
                ["run", Self.profile, "--events", "json", "--state-dir", folder.path], bus: bus.address)
            #expect(await program.output.line(containing: "\"ready\"") != nil)
            program.child.send(signal)
            let result = await program.end()
            #expect(result.status == .exited(0))
            #expect(try names(result.output).contains("app.restored") == (number == 1))
            // What is restored goes onto the radio once, when there is one.
            #expect(!result.output.contains("restoredServicesRefused"))
            #expect(folder.files == (signal == SIGTERM ? ["peripheral-com.example.hrm.json"] : []))
            #expect(await standIn.applicationCount() == 0)
        }
        #expect(await standIn.violations == [])
        await standIn.stop()
    }

    @Test(arguments: [
        "", "[", "{}", #"{"mynahState": 2}"#,
        #"{"mynahState": 1, "restoreIdentifier": "other", "services": []}"#,
        #"{"mynahState":1,"restoreIdentifier":"com.example.hrm","services":[[{"uuid":"1800"}]]}"#,
        #"{"mynahState":1,"restoreIdentifier":"com.example.hrm","services":[],"subscribers":[{"characteristic":-1}]}"#,
        String(repeating: "[", count: 100_000),
    ])
    func `a preserved state that makes no sense is set aside, and said`(text: String) async throws {
        let folder = Folder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try text.write(
            toFile: folder.path + "/peripheral-com.example.hrm.json", atomically: false, encoding: .utf8)
        let stage = try await RunTests.Stage(
            ["--events", "json", "--state-dir", folder.path], profiles: [Self.profile])
        #expect(await stage.program.output.line(containing: "\"ready\"") != nil)
        stage.program.child.send(SIGTERM)
        let result = await stage.program.end()
        #expect(result.status == .exited(0))
        #expect(result.output.contains("cannot be used"))
        #expect(folder.files.contains("peripheral-com.example.hrm.json.unusable-1"))
        await stage.expectNothingIsLeft()
    }

    @Test func `a state directory that cannot be had is an error`() async throws {
        let file = try ProfileFile("")
        let none = try await Program.run("run", Self.profile, "--state-dir", file.path)
        #expect(none.status == .exited(1))
        #expect(none.error.contains("error: "))
        let folder = Folder()
        let stage = try await RunTests.Stage(
            ["--events", "json", "--state-dir", folder.path], profiles: [Self.profile])
        #expect(await stage.program.output.line(containing: "\"ready\"") != nil)
        let second = try await Program.run("run", Self.profile, "--state-dir", folder.path)
        #expect(second.status == .exited(1))
        #expect(second.error.contains("another process uses it"))
        stage.program.child.send(SIGTERM)
        #expect(await stage.program.end().status == .exited(0))
        await stage.expectNothingIsLeft()
    }
}
