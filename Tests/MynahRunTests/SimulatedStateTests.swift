import Glibc
import Mynah
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahRun

/// State directories of runs with virtual time, which are then played with the machine's.
@Suite(.timeLimit(.minutes(5))) struct SimulatedStateTests {
    private static func app(_ phone: String = "") -> String {
        """
        mynah: 1
        name: App
        \(phone)
        app: {backgroundModes: [bluetooth-central], restoreIdentifier: beats}
        central:
          restoreIdentifier: doors
          scan: {services: [180D]}
          peripherals: [{name: Door, match: {services: [180D]}, read: [180D/2A38]}]
        """
    }

    private static let lock = RunRig.lock.replacing(
        "{2A38, properties: [read]", with: "{2A38, properties: [read], permissions: {read: encrypted}")

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func warnings(in log: RunLog) -> [String] {
        log.events(.warning).filter { $0.string("code") == "simulatedState" }.map {
            $0.string("message") ?? ""
        }
    }

    @Test(arguments: [("", ""), ("phone: {name: Anna}", "phone+Anna")])
    func `a run with the machine's time begins without what a simulated one left`(
        phone: String, subfolder: String
    ) async throws {
        let first = try await RunRig.playFast([Self.lock, Self.app(phone)], in: folder)
        #expect(first.devices(.valueRead).contains("App"))
        let again = try await RunRig.playFast([Self.lock, Self.app(phone)], in: folder)
        #expect(again.devices(.appRestored).contains("App") && warnings(in: again).isEmpty)
        let left = Set(folder.files(of: subfolder)).filter { $0.hasSuffix(".json") }
        #expect(left.contains("known-peripherals.json") && left.contains("central+App+doors.json"))

        var plan = try RunRig.plan([Self.lock, Self.app(phone)])
        plan.stateDirectory = try StateDirectory(path: folder.path)
        let rig = RunRig(plan)
        try await rig.log.wait(for: .valueRead)
        await rig.end()
        // The files of a phone with a name are in a directory of their own, and so in another warning.
        let warnings = warnings(in: rig.log)
        #expect(warnings.count == (phone.isEmpty ? 1 : 2), "\(warnings)")
        let names = (left.map { $0 } + ["bonds+Lock.json"]).map { $0 + ".unusable-1" }
        #expect(names.allSatisfy { name in warnings.contains { $0.contains(name) } }, "\(warnings)")
        #expect(rig.log.events(.appRestored).isEmpty)
        #expect(!rig.log.values("code", of: .warning).contains("bondsUnusable"))
        #expect(folder.files.contains("bonds+Lock.json.unusable-1"))
    }

    @Test func `only the files that a simulated run has changed are renamed`() throws {
        try folder.write(#"{"mynahState": 1, "peripherals": []}"#, to: "known-peripherals.json")
        try folder.write(#"{"mynahState": 1, "simulated": true}"#, to: "app+A.json")
        for text in ["", "[1", "[]", #"{"simulated": 1}"#, #"{"simulated": false}"#] {
            try folder.write(text, to: "app+\(text.utf8.count).json")
        }
        mkfifo(folder.path + "/app+fifo.json", 0o600)
        symlink("nowhere", folder.path + "/app+link.json")
        let before = Set(folder.files)
        let directory = try StateDirectory(path: folder.path)
        #expect(Set(folder.files).subtracting(before) == ["app+A.json.unusable-1", "lock"])
        #expect(before.subtracting(folder.files) == ["app+A.json"])
        #expect(directory.takeWarning()?.message.contains("app+A.json.unusable-1") == true)
        #expect(directory.takeWarning() == nil)
    }
}
