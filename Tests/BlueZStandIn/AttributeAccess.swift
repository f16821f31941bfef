/// The access that an attribute's flags allow, as bluetoothd parses them.
struct AttributeAccess: Hashable, Sendable {
    enum Level: Int, Comparable, Hashable, Sendable {
        case open, encrypted, authenticated

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// nil: not at all.
    var read: Level?
    var write: Level?
    /// The security that a write of the Client Characteristic Configuration requires.
    var subscribe = Level.open
    var hasNotify = false
    var hasIndicate = false
    var hasWriteWithoutResponse = false
    var isReliable = false
    var isExtended = false
    var authorizes = false

    /// Whether there is a client characteristic configuration.
    var notifies: Bool { hasNotify || hasIndicate }

    /// nil when the list is empty or a flag is none.
    init?(characteristicFlags flags: [String]) {
        if flags.isEmpty { return nil }
        for flag in flags {
            switch flag {
            case "broadcast", "extended-properties": break
            case "write-without-response":
                hasWriteWithoutResponse = true
                raise(\.write, .open)
            case "authenticated-signed-writes": raise(\.write, .open)
            case "reliable-write":
                isReliable = true
                isExtended = true
                raise(\.write, .open)
            case "writable-auxiliaries": isExtended = true
            case "authorize": authorizes = true
            default: guard apply(flag, notifying: true) else { return nil }
            }
        }
    }

    /// nil when the list is empty or a flag is none.
    init?(descriptorFlags flags: [String]) {
        if flags.isEmpty { return nil }
        for flag in flags {
            if flag == "authorize" {
                authorizes = true
            } else if !apply(flag, notifying: false) {
                return nil
            }
        }
    }

    /// The flags that are an operation with a level before it.
    private mutating func apply(_ flag: String, notifying: Bool) -> Bool {
        var operation = flag[...]
        var level = Level.open
        for (prefix, means) in [
            ("encrypt-authenticated-", Level.authenticated), ("encrypt-", .encrypted),
            ("secure-", .authenticated),
        ] where flag.hasPrefix(prefix) {
            operation = flag.dropFirst(prefix.count)
            level = means
            break
        }
        switch operation {
        case "read": raise(\.read, level)
        case "write": raise(\.write, level)
        case "notify" where notifying:
            hasNotify = true
            subscribe = max(subscribe, level)
        case "indicate" where notifying:
            hasIndicate = true
            subscribe = max(subscribe, level)
        default: return false
        }
        return true
    }

    private mutating func raise(_ member: WritableKeyPath<AttributeAccess, Level?>, _ level: Level) {
        self[keyPath: member] = max(self[keyPath: member] ?? .open, level)
    }
}
