import Mynah
import MynahCore
import MynahLifecycle

/// The state of a device and of the app that plays it, for tests.
struct PlayedState {
    private let player: DevicePlayer

    init(of player: DevicePlayer) {
        self.player = player
    }

    /// The device's services and advertising on the radio.
    var status: ManagerStatus {
        guard player.memory.device.app != nil else { return player.manager?.access.status ?? ManagerStatus() }
        return player.memory.appSide.app?.access.status ?? ManagerStatus()
    }

    /// The state of the app that plays the device.
    var app: AppState { player.memory.appSide.app?.access.state ?? .notRunning }

    /// Whether the device has attribute values: an app without a process has none.
    var hasMemory: Bool {
        guard player.memory.device.app != nil else { return true }
        return switch app {
        case .foreground, .background, .suspended: true
        case .notRunning, .terminated, .quit: false
        }
    }

    /// Returns the message that an app has no process, followed by `consequence`.
    func noProcess(_ consequence: String) -> String {
        "the app \(player.memory.device.label) is not running, it is \(app.rawValue): \(consequence)"
    }
}

extension [String] {
    /// The names in quotation marks, separated by commas.
    var quoted: String { map { "\"\($0)\"" }.joined(separator: ", ") }
}
