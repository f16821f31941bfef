import MynahCore
import MynahLifecycle
import Testing

@Suite struct AppStateTests {
    @Test func `states are named as the event stream and the command line name them`() {
        let names = ["notRunning", "foreground", "background", "suspended", "terminated", "quit"]
        #expect(AppState.allCases.map(\.rawValue) == names)
    }

    @Test func `transitions are named as the command line names them`() {
        let names = [
            "foreground", "background", "suspended", "terminated", "quit", "memoryPressure", "crash",
        ]
        #expect(AppTransition.allCases.map(\.rawValue) == names)
    }

    @Test func `background modes are spelt as an app's Info.plist spells them`() {
        #expect(BackgroundMode(rawValue: "bluetooth-peripheral") == .bluetoothPeripheral)
        #expect(BackgroundMode(rawValue: "bluetooth-central") == .bluetoothCentral)
    }
}
