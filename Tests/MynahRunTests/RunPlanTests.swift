import MynahCore
import MynahEmulator
import MynahHCI
import MynahProfiles
import MynahSupport
import Testing

@testable import MynahRun

/// The plan of a run, and what is known to be wrong with it before it begins.
@Suite struct RunPlanTests {
    private static let central = """
        mynah: 1
        name: Finder
        app: {}
        central: [{peripherals: [{name: Strap}]}]
        """

    private func misuse(
        _ texts: [String], _ radio: RadioChoice, actions: [String] = [], hasStateDirectory: Bool = false,
        _ change: (inout RunPlan, inout RadioPlan) -> Void = { _, _ in }
    ) throws -> String? {
        var plan = try RunRig.plan(texts)
        var radios = RadioPlan(radio)
        change(&plan, &radios)
        return plan.misuse(
            of: radios, try actions.map { try PlannedAction(parsing: $0) },
            hasStateDirectory: hasStateDirectory)
    }

    @Test func `a plan that fits its radios has no misuse`() throws {
        for radio in [RadioChoice.auto, .bluez, .virtual, .netsim(instance: nil)] {
            #expect(try misuse([RunRig.lock], radio) == nil)
        }
        #expect(try misuse([RunRig.app, RunRig.lock, RunRig.lock], .virtual) == nil)
        #expect(
            try misuse([RunRig.app], .bluez, actions: ["1s=background"], hasStateDirectory: true) == nil)
    }

    @Test func `each radio is one radio, and BlueZ's adapters are named`() throws {
        let hci = RadioChoice.hci(try HCITransportAddress(parsing: "user:0"))
        #expect(try misuse([RunRig.lock, RunRig.app], hci)?.hasSuffix("--radio hci: is one radio") == true)
        let two = [RunRig.lock, RunRig.lock]
        #expect(try misuse(two, .bluez)?.contains("repeat --adapter 2 times") == true)
        #expect(try misuse(two, .bluez) { $1.adapters = ["hci0", "hci1"] } == nil)
        #expect(
            try misuse([RunRig.lock], .bluez) { $1.adapters = ["hci0", "hci1"] }
                == "--adapter is given 2 times for 1 radio")
    }

    @Test func `options of one radio do not go with another`() throws {
        let other = "is for BlueZ, and --radio selects another radio"
        #expect(try misuse([RunRig.lock], .virtual) { $1.adapters = ["hci0"] } == "--adapter \(other)")
        #expect(
            try misuse([RunRig.lock], .virtual) { $1.namesSubscribers = true }
                == "--name-subscribers \(other)")
        #expect(
            try misuse([RunRig.lock], .virtual) { $1.notificationRate = 0 } == "--notification-rate \(other)")
        #expect(try misuse([RunRig.lock], .auto) { $1.address = .private }?.hasPrefix("--address is") == true)
        #expect(
            try misuse([RunRig.lock], .bluez) { $1.capture = .file("a.pcapng") }?
                .contains("--capture cannot record BlueZ") == true)
        #expect(
            try misuse([RunRig.lock], .bluez, actions: ["1s=poweredOff"])?
                .contains("--at cannot turn BlueZ's adapter off") == true)
        // BlueZ plays no central, so its adapters are not used.
        #expect(try misuse([Self.central], .auto) { $1.adapters = ["hci0"] } == "--adapter \(other)")
    }

    @Test func `options for apps need one`() throws {
        let needs = "needs a profile with app:, and no profile here has one"
        #expect(
            try misuse([RunRig.lock], .auto) { plan, _ in plan.state = .background } == "--state \(needs)")
        for action in ["1s=background", "1s=settingsOff"] {
            #expect(
                try misuse([RunRig.lock], .auto, actions: ["2s=poweredOff", action])
                    == "--at \(action) \(needs); accessories have forget, poweredOff, poweredOn, "
                    + RangeChange.words.joined(separator: ", "))
        }
        #expect(try misuse([RunRig.lock], .bluez, hasStateDirectory: true) == "--state-dir \(needs)")
        #expect(
            try misuse([RunRig.app], .auto) { plan, _ in plan.state = .terminated }?
                .contains("--state-dir: add it") == true)
    }

    @Test func `profiles that BlueZ cannot play have issues with it alone`() throws {
        let plan = try RunRig.plan([Self.central])
        #expect(plan.issues(on: .bluez).count == 1)
        #expect(plan.issues(on: .virtual).isEmpty)
        #expect(try RunRig.plan([RunRig.app, RunRig.app]).issues(on: .virtual).count == 1)
    }

    // MARK: Names

    @Test func `apps are numbered phone by phone, as they start`() throws {
        let on = ["One": "Anna", "Two": "Bob", "Three": "Anna"]
        let apps = ["One", "Two", "Three"].map { name in
            "mynah: 1\nname: \(name)\napp: {}\nphone: {name: \(on[name] ?? "")}"
        }
        let plan = try RunRig.plan([RunRig.lock] + apps)
        #expect(plan.names == ["Lock", "One", "Two", "Three"])
        #expect(plan.apps == ["One", "Three", "Two"])
    }

    @Test func `devices are named as in events`() throws {
        var plan = try RunRig.plan([RunRig.lock, RunRig.app])
        try plan.add(
            [try PlannedAction(parsing: "1s=app-file:background")],
            until: [try EventMatch(parsing: "write device=lock-file")], scenario: nil)
        #expect(plan.planned.map(\.target) == [.named("App")])
        #expect(plan.matches.map(\.device) == ["Lock"])
        #expect(plan.namesDevices)
        #expect(try !RunRig.plan([RunRig.lock]).namesDevices)
    }

    @Test(
        arguments: [
            (["1s=Lokc:outOfRange"], "write", nil, "--at 1s=Lokc:outOfRange: there is no device \"Lokc\""),
            ([], "write device=Lokc", nil, "--until write device=Lokc: there is no device \"Lokc\""),
            ([], "write", "a write", "--scenario: there is no scenario \"a write\""),
        ] as [([String], String, String?, String)])
    func `a name that no profile has is a problem`(
        actions: [String], match: String, scenario: String?, message: String
    ) throws {
        var plan = try RunRig.plan([RunRig.lock])
        let planned = try actions.map { try PlannedAction(parsing: $0) }
        let match = try EventMatch(parsing: match)
        do throws(RunPlan.Problem) {
            try plan.add(planned, until: [match], scenario: scenario)
            Issue.record("the plan was made")
        } catch {
            #expect(error.message.hasPrefix(message), "\(error.message)")
        }
    }
}
