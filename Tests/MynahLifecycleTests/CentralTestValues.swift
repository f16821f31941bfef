import MynahCore
import MynahLifecycle
import MynahTestSupport

extension DeviceAddress {
    /// A device of a test, by a number.
    static func device(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0xC000_0000_0000 + number, kind: .random)
    }
}

extension ManagerKey {
    /// The first manager of an app, which the tests call by a letter: A is app 1.
    static func app(_ number: UInt64) -> ManagerKey { ManagerKey(app: number, manager: number * 10) }

    static let a = app(1)
    static let b = app(2)

    var letter: String { ["?", "A", "B", "C", "D"][Int(min(app, 4))] }
}

extension Peer.ID {
    static let first = Peer.ID(1)
    static let second = Peer.ID(2)
}

extension RadioError {
    static let lostLink = RadioError(.disconnected, "the connection has timed out")
}

extension ConnectOptions {
    static let none = ConnectOptions()
    static var reconnecting: ConnectOptions {
        var options = ConnectOptions()
        options.autoReconnect = true
        return options
    }
    static var delayed: ConnectOptions {
        var options = ConnectOptions()
        options.startDelay = .seconds(3)
        return options
    }
}
