import MynahCore
import MynahProfiles

/// The Apple Notification Center Service of a phone: a state machine without I/O (ANCS Specification).
struct AppleNotifications: ServiceBehavior {
    static let service: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
    static let source: BluetoothUUID = "9FBF120D-6301-42D9-8C58-25E699A21DBD"
    static let controlPoint: BluetoothUUID = "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9"
    static let dataSource: BluetoothUUID = "22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB"

    /// The most bytes that may be queued for one central.
    static let mostWaiting = 1 << 16
    /// The most values that are passed to a link at once.
    private static let burst = 16

    /// The EventID of a Notification Source value.
    enum Event: UInt8 {
        case added, modified, removed
    }

    /// The EventFlags of a Notification Source value.
    struct Flags: OptionSet {
        let rawValue: UInt8

        static let silent = Flags(rawValue: 1 << 0)
        static let important = Flags(rawValue: 1 << 1)
        static let preExisting = Flags(rawValue: 1 << 2)
        static let positiveAction = Flags(rawValue: 1 << 3)
        static let negativeAction = Flags(rawValue: 1 << 4)
    }

    /// A notification that the phone shows.
    struct Notification: Hashable {
        let uid: UInt32
        var content: Profile.PhoneNotification
        /// The time at which the notification was shown, in seconds since 1970.
        var date: Int64

        var flags: Flags {
            var flags: Flags = []
            if content.flags.contains(.silent) { flags.insert(.silent) }
            if content.flags.contains(.important) { flags.insert(.important) }
            if content.positiveAction != nil { flags.insert(.positiveAction) }
            if content.negativeAction != nil { flags.insert(.negativeAction) }
            return flags
        }
    }

    /// The values that are queued for a central.
    private struct Waiting {
        var values: [(characteristic: BluetoothUUID, bytes: ArraySlice<UInt8>)] = []
        /// The total number of bytes in `values`.
        var count = 0
        var isSubscribed = false
    }

    let handled = [controlPoint]
    let sent = [source, dataSource]
    private let initial: [Profile.PhoneNotification]
    /// The start of the phone's time, in seconds since 1970.
    private let start: Int64
    private(set) var notifications: [Notification] = []
    private var lastUID: UInt32 = 0
    /// The apps that have shown a notification.
    private var apps: [(identifier: String, name: String)] = []
    private var waiting: [Peer.ID: Waiting] = [:]
    private var centrals: [Peer.ID] { waiting.keys.sorted { $0.rawValue < $1.rawValue } }

    init(_ notifications: [Profile.PhoneNotification], start: Int64) {
        initial = notifications
        self.start = start
    }

    // MARK: Notifications

    /// Shows a notification and returns its UID, or returns `nil` if the phone shows the maximum number.
    mutating func add(_ content: Profile.PhoneNotification, at now: Duration) -> UInt32? {
        guard notifications.count < ProfileLimit.notifications.count else { return nil }
        lastUID &+= 1
        let date = content.date ?? start + now.components.seconds
        let new = Notification(uid: lastUID, content: content, date: date)
        notifications.append(new)
        learn(of: content)
        report(.added, new, new.flags)
        return new.uid
    }

    /// Changes a notification; returns `false` if the phone shows no notification with this UID.
    mutating func modify(_ uid: UInt32, _ content: Profile.PhoneNotification) -> Bool {
        guard let place = notifications.firstIndex(where: { $0.uid == uid }) else { return false }
        notifications[place].content = content
        if let date = content.date { notifications[place].date = date }
        learn(of: content)
        report(.modified, notifications[place], notifications[place].flags)
        return true
    }

    /// Removes a notification; returns `false` if the phone shows no notification with this UID.
    mutating func remove(_ uid: UInt32) -> Bool {
        guard let place = notifications.firstIndex(where: { $0.uid == uid }) else { return false }
        let gone = notifications.remove(at: place)
        report(.removed, gone, gone.flags)
        return true
    }

    private mutating func learn(of content: Profile.PhoneNotification) {
        apps.removeAll { $0.identifier == content.app }
        apps.append((content.app, content.displayName))
        if apps.count > ProfileLimit.notifications.count { apps.removeFirst() }
    }

    private mutating func report(_ event: Event, _ notification: Notification, _ flags: Flags) {
        let value = value(of: event, notification, flags)
        for central in centrals where waiting[central]?.isSubscribed == true {
            wait(value, of: Self.source, for: central)
        }
    }

    /// Makes a value of the Notification Source characteristic.
    private func value(of event: Event, _ notification: Notification, _ flags: Flags) -> [UInt8] {
        let category = notification.content.category
        let count = notifications.count { $0.content.category == category }
        return [event.rawValue, flags.rawValue, category.code, UInt8(clamping: count)]
            + [UInt8](littleEndian: notification.uid)
    }

    /// Queues a value for a central; returns `false` if the queue is full.
    @discardableResult
    private mutating func wait(
        _ value: [UInt8], of characteristic: BluetoothUUID, for central: Peer.ID
    ) -> Bool {
        guard (waiting[central]?.count ?? 0) + value.count <= Self.mostWaiting else { return false }
        var waiting = waiting[central] ?? Waiting()
        waiting.values.append((characteristic, value[...]))
        waiting.count += value.count
        self.waiting[central] = waiting
        return true
    }

    // MARK: Centrals

    /// Resets the notifications to those of the profile.
    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] {
        for notification in notifications { _ = remove(notification.uid) }
        apps = []
        for content in initial { _ = add(content, at: .zero) }
        return []
    }

    /// Sends a new subscriber the notifications that the phone already shows.
    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] {
        guard let central, characteristic == Self.source else { return [] }
        waiting[central, default: Waiting()].isSubscribed = true
        for notification in notifications {
            let flags = notification.flags.union(.preExisting)
            wait(value(of: .added, notification, flags), of: Self.source, for: central)
        }
        return []
    }

    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID) {
        guard let central, var left = waiting[central] else { return }
        left.values.removeAll { $0.characteristic == characteristic }
        left.count = left.values.reduce(0) { $0 + $1.bytes.count }
        if characteristic == Self.source { left.isSubscribed = false }
        waiting[central] = left.isSubscribed || !left.values.isEmpty ? left : nil
    }

    mutating func disconnected(_ central: Peer.ID) {
        waiting[central] = nil
    }

    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect] {
        switch try AppleNotificationRequest(value) {
        case .notification(let uid, let wanted):
            let response = try response(uid, wanted)
            try answer(response, central, service)
        case .app(let identifier, let attributes):
            guard let app = apps.first(where: { $0.identifier == identifier }) else {
                throw .ancsInvalidParameter
            }
            var response = [1] + Array(identifier.utf8) + [0]
            for attribute in attributes { response += Self.tuple(attribute.rawValue, Array(app.name.utf8)) }
            try answer(response, central, service)
        case .perform(let action, let uid):
            guard let notification = notifications.first(where: { $0.uid == uid }) else {
                throw .ancsInvalidParameter
            }
            let needed: Flags = action == .positive ? .positiveAction : .negativeAction
            guard notification.flags.contains(needed) else { throw .ancsActionFailed }
            // A performed action dismisses the notification.
            _ = remove(uid)
        }
        return []
    }

    private mutating func answer(
        _ response: [UInt8], _ central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) {
        // Without a subscription to the Data Source, the response cannot be sent.
        guard service.isSubscribed(central, to: Self.dataSource) else { return }
        guard wait(response, of: Self.dataSource, for: central) else { throw .insufficientResources }
    }

    private func response(
        _ uid: UInt32, _ wanted: [AppleNotificationRequest.Wanted]
    ) throws(ATTError) -> [UInt8] {
        guard let notification = notifications.first(where: { $0.uid == uid }) else {
            throw .ancsInvalidParameter
        }
        return wanted.reduce(into: [0] + [UInt8](littleEndian: uid)) { response, wanted in
            let value = Self.value(of: wanted.attribute, notification)
            response += Self.tuple(wanted.attribute.rawValue, [UInt8](value, longest: wanted.longest))
        }
    }

    private static func value(
        of attribute: AppleNotificationRequest.Attribute, _ notification: Notification
    ) -> String {
        let content = notification.content
        return switch attribute {
        case .appIdentifier: content.app
        case .title: content.title
        case .subtitle: content.subtitle
        case .message: content.message
        case .messageSize: String(content.message.utf8.count)
        // yyyyMMdd'T'HHmmss
        case .date: CivilTime.text(of: notification.date).filter { $0 != "-" && $0 != ":" }
        case .positiveActionLabel: content.positiveAction ?? ""
        case .negativeActionLabel: content.negativeAction ?? ""
        }
    }

    /// Encodes an attribute of a response: its ID, the length of its value, and the value.
    private static func tuple(_ code: UInt8, _ value: [UInt8]) -> [UInt8] {
        [code, UInt8(truncatingIfNeeded: value.count), UInt8(truncatingIfNeeded: value.count >> 8)] + value
    }

    // MARK: Sending

    func due(_ service: some ServiceState) -> Duration? {
        let canSend = centrals.contains { waiting[$0]?.count != 0 && !service.isSending(to: $0) }
        return canSend ? service.now : nil
    }

    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] {
        centrals.filter { !service.isSending(to: $0) }.flatMap { sendNext(to: $0, service) }
    }

    /// Sends queued values, oldest first; splits a response into notifications that fit on the link.
    private mutating func sendNext(to central: Peer.ID, _ service: some ServiceState) -> [ServiceEffect] {
        let longest = max(1, service.longestUpdate(to: central))
        guard var left = waiting[central] else { return [] }
        var effects: [ServiceEffect] = []
        while effects.count < Self.burst, let next = left.values.first {
            let part = next.bytes.prefix(longest)
            effects.append(.send(Array(part), of: next.characteristic, to: central))
            left.count -= part.count
            if part.count == next.bytes.count {
                left.values.removeFirst()
            } else {
                left.values[0].bytes = next.bytes.dropFirst(longest)
            }
        }
        waiting[central] = left.isSubscribed || !left.values.isEmpty ? left : nil
        return effects
    }
}
