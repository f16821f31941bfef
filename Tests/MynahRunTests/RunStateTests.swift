import MynahEmulator
import MynahProfiles
import Testing

@testable import MynahRun

@Suite struct RunStateTests {
    private static func profile(_ app: String) throws -> Profile {
        try ProfileLoader.load(text: "mynah: 1\nname: App\napp: \(app)\n", file: "app.yaml")
    }

    private static let restored = "{restoreIdentifier: a, backgroundModes: [bluetooth-peripheral]}"

    @Test(
        arguments: [
            (.background, "{}", false, nil), (.terminated, restored, true, nil),
            (.terminated, restored, false, "--state terminated restores apps from --state-dir: add it"),
            (
                .terminated, "{restoreIdentifier: a}", true,
                "--state terminated needs an app with a restoreIdentifier and a background mode"
            ),
        ] as [(RunState, String, Bool, String?)])
    func `an app starts terminated only if it can be restored`(
        state: RunState, app: String, hasStateDirectory: Bool, problem: String?
    ) throws {
        let profiles = [try Self.profile(app)]
        #expect(state.problem(with: profiles, hasStateDirectory: hasStateDirectory) == problem)
    }

    @Test func `each state is the one that the app starts in`() throws {
        for state in RunState.allCases {
            var app = EmulatedDevice(try Self.profile("{}"), seed: 1).app
            state.apply(to: &app)
            #expect(app?.isTerminated == (state == .terminated))
            if state != .terminated { #expect(app?.startState.rawValue == state.rawValue) }
        }
    }
}
