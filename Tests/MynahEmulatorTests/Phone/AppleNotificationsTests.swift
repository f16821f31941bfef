import MynahCore
import MynahProfiles
import Testing

@testable import MynahEmulator

/// The codes and octets here are those of Apple's ANCS Specification.
@Suite struct AppleNotificationsTests {
    static let source = AppleNotifications.source
    static let point = AppleNotifications.controlPoint
    static let data = AppleNotifications.dataSource
    /// 2026-01-01T08:30:00Z.
    static let start: Int64 = 1_767_256_200

    static var message: Profile.PhoneNotification {
        var message = Profile.PhoneNotification(
            app: "com.apple.MobileSMS", appName: "Messages", message: "Are you there?")
        message.title = "Anna"
        message.category = .social
        message.negativeAction = "Clear"
        return message
    }

    static var call: Profile.PhoneNotification {
        var call = Profile.PhoneNotification(app: "com.apple.mobilephone")
        call.title = "Zoë"
        call.category = .incomingCall
        (call.positiveAction, call.negativeAction) = ("Answer", "Decline")
        call.flags = [.important]
        return call
    }

    static func rig(
        _ initial: [Profile.PhoneNotification] = [message, call]
    ) -> (AppleNotifications, TestService) {
        let service = TestService(subscribed: [source, data])
        var center = AppleNotifications(initial, start: start)
        _ = center.begin(service)
        return (center, service)
    }

    /// Sends until nothing waits.
    static func run(_ center: inout AppleNotifications, _ service: inout TestService) -> [Sent] {
        var sent: [Sent] = []
        while center.due(service) != nil { sent += service.take(center.tick(service)) }
        return sent
    }

    static func write(
        _ center: inout AppleNotifications, _ value: [UInt8], _ service: inout TestService
    ) -> WriteOutcome { center.outcome(of: value, to: point, &service) }

    static func add(
        _ center: inout AppleNotifications, _ content: Profile.PhoneNotification, _ now: Duration = .zero
    ) -> UInt32? { center.add(content, at: now) }

    static func modify(
        _ center: inout AppleNotifications, _ uid: UInt32, _ content: Profile.PhoneNotification
    ) -> Bool { center.modify(uid, content) }

    static func remove(_ center: inout AppleNotifications, _ uid: UInt32) -> Bool { center.remove(uid) }

    static func tick(_ center: inout AppleNotifications, _ service: TestService) -> [ServiceEffect] {
        center.tick(service)
    }

    static func subscribe(
        _ center: inout AppleNotifications, to characteristic: BluetoothUUID, _ service: TestService
    ) -> [ServiceEffect] { center.subscribed(TestService.phone, to: characteristic, service) }

    /// The values that a write to the Control Point makes the Data Source send, or the error.
    static func answer(
        _ value: [UInt8], _ center: inout AppleNotifications, _ service: inout TestService
    ) -> Result<[UInt8], ATTError> {
        switch center.outcome(of: value, to: point, &service) {
        case .error(let code): return .failure(ATTError(code: code))
        case .sent:
            let sent = run(&center, &service).filter { $0.characteristic == data }
            return .success(sent.flatMap(\.value))
        }
    }

    static func text(_ code: UInt8, _ text: String) -> [UInt8] {
        [code, UInt8(text.utf8.count), 0] + Array(text.utf8)
    }

    // MARK: Every command and error

    struct Row: Sendable, CustomTestStringConvertible {
        var write: [UInt8]
        var error: UInt8?
        var data: [UInt8] = []
        var testDescription: String { "\(write)" }

        static func refused(_ write: [UInt8], _ error: UInt8) -> Row { Row(write: write, error: error) }
    }

    static let uid1: [UInt8] = [1, 0, 0, 0]
    static let messages = Array("com.apple.MobileSMS".utf8)

    static let rows: [Row] = [
        // Get Notification Attributes
        Row(
            write: [0] + uid1 + [0, 1, 0xFF, 0xFF],
            data: [0] + uid1 + text(0, "com.apple.MobileSMS") + text(1, "Anna")),
        Row(
            write: [0] + uid1 + [2, 16, 0, 3, 3, 0, 4, 5, 6, 7],
            data: [0] + uid1 + text(2, "") + text(3, "Are") + text(4, "14") + text(5, "20260101T083000")
                + text(6, "") + text(7, "Clear")),
        // A character is not cut in two, and a length may be 0.
        Row(write: [0, 2, 0, 0, 0, 1, 3, 0], data: [0, 2, 0, 0, 0] + text(1, "Zo")),
        Row(write: [0, 2, 0, 0, 0, 1, 4, 0], data: [0, 2, 0, 0, 0] + text(1, "Zoë")),
        Row(write: [0, 2, 0, 0, 0, 1, 0, 0], data: [0, 2, 0, 0, 0, 1, 0, 0]),
        Row(write: [0, 2, 0, 0, 0, 6, 6], data: [0, 2, 0, 0, 0] + text(6, "Answer") + text(6, "Answer")),
        .refused([0, 9, 0, 0, 0, 0], 0xA2), .refused([0, 1, 0, 0, 1, 0], 0xA2),
        .refused([0] + uid1 + [8], 0xA2), .refused([0] + uid1 + [0xFF], 0xA2),
        .refused([0], 0xA1), .refused([0, 1], 0xA1), .refused([0, 1, 0, 0], 0xA1),
        .refused([0] + uid1, 0xA1), .refused([0] + uid1 + [1], 0xA1), .refused([0] + uid1 + [3, 1], 0xA1),
        .refused([0] + uid1 + [0, 2, 1], 0xA1),
        // Get App Attributes
        Row(write: [1] + messages + [0, 0], data: [1] + messages + [0] + text(0, "Messages")),
        Row(
            write: [1] + Array("com.apple.mobilephone".utf8) + [0, 0],
            data: [1] + Array("com.apple.mobilephone".utf8) + [0] + text(0, "mobilephone")),
        .refused([1] + Array("com.example".utf8) + [0, 0], 0xA2), .refused([1] + messages + [0, 1], 0xA2),
        .refused([1, 0xFF, 0, 0], 0xA2),
        .refused([1], 0xA1), .refused([1, 0], 0xA1), .refused([1, 0, 0], 0xA1),
        .refused([1] + messages, 0xA1),
        .refused([1] + messages + [0], 0xA1),
        // Perform Notification Action
        Row(write: [2] + uid1 + [1]), Row(write: [2, 2, 0, 0, 0, 0]), Row(write: [2, 2, 0, 0, 0, 1]),
        .refused([2] + uid1 + [0], 0xA3), .refused([2] + uid1 + [2], 0xA2),
        .refused([2, 3, 0, 0, 0, 0], 0xA2),
        .refused([2], 0xA1), .refused([2] + uid1, 0xA1), .refused([2] + uid1 + [0, 0], 0xA1),
        // Others
        .refused([], 0xA1), .refused([3], 0xA0), .refused([0xFF, 1, 2, 3, 4, 5], 0xA0),
    ]

    @Test(arguments: rows) func `every command gets its answer or its error`(_ row: Row) {
        var (center, service) = Self.rig()
        let answer = Self.answer(row.write, &center, &service)
        switch row.error {
        case let error?: #expect(answer == .failure(ATTError(code: error)))
        case nil: #expect(answer == .success(row.data))
        }
    }

    @Test func `no write of any length harms it`() {
        for command: UInt8 in [0, 1, 2, 3, 0xFF] {
            for length in 0...24 {
                for filler: UInt8 in [0, 1, 2, 3, 7, 0x41, 0xFF] {
                    var (center, service) = Self.rig()
                    let value = [command] + [UInt8](repeating: filler, count: length)
                    _ = Self.answer(value, &center, &service)
                    _ = Self.answer(Array(value.dropLast()), &center, &service)
                }
            }
        }
        var (center, service) = Self.rig()
        let flood = Array([[0], Self.uid1, [UInt8](repeating: 0, count: 507)].joined())
        var refused: UInt8?
        for _ in 0..<100 where refused == nil {
            if case .error(let code) = center.outcome(of: flood, to: Self.point, &service) { refused = code }
        }
        #expect(refused == ATTError.insufficientResources.code)
        #expect(Self.run(&center, &service).count > 1000)
    }

    @Test func `a response goes out in parts of what a notification carries`() {
        var (center, service) = Self.rig()
        let write = [0] + Self.uid1 + [0, 3, 0xFF, 0xFF]
        let whole = [0] + Self.uid1 + Self.text(0, "com.apple.MobileSMS") + Self.text(3, "Are you there?")
        for longest in [20, 1, 44, whole.count, whole.count + 1, 512] {
            service.longest = longest
            #expect(Self.write(&center, write, &service) == .sent([]))
            let parts = Self.run(&center, &service).map(\.value)
            #expect(parts.flatMap { $0 } == whole)
            #expect(parts.dropLast().allSatisfy { $0.count == longest })
        }
    }

    @Test func `nothing goes to a link that has no room, and to nobody who does not listen`() {
        var (center, service) = Self.rig()
        _ = center.subscribed(TestService.phone, to: Self.source, service)
        service.waiting = [TestService.phone]
        #expect(center.due(service) == nil)
        #expect(Self.tick(&center, service).isEmpty)
        service.waiting = []
        #expect(center.due(service) == .zero)
        center.disconnected(TestService.phone)
        #expect(center.due(service) == nil)
        service.subscribed = []
        #expect(Self.answer([0] + Self.uid1 + [0], &center, &service) == .success([]))
    }

    // MARK: The Notification Source

    @Test func `a subscriber gets what is there, and what comes, changes and goes`() throws {
        var (center, service) = Self.rig()
        #expect(Self.subscribe(&center, to: Self.data, service).isEmpty)
        #expect(Self.run(&center, &service).isEmpty)
        _ = center.subscribed(TestService.phone, to: Self.source, service)
        // Pre-existing, and with a negative action; important, pre-existing, with both.
        #expect(
            Self.run(&center, &service).map(\.value) == [
                [0, 0b10100, 4, 1, 1, 0, 0, 0], [0, 0b11110, 1, 1, 2, 0, 0, 0],
            ])
        var silent = Self.message
        silent.flags = [.silent]
        silent.negativeAction = nil
        #expect(Self.add(&center, silent, .seconds(61)) == 3)
        #expect(Self.run(&center, &service).map(\.value) == [[0, 0b1, 4, 2, 3, 0, 0, 0]])
        #expect(
            Self.answer([0, 3, 0, 0, 0, 5], &center, &service)
                == .success([0, 3, 0, 0, 0] + Self.text(5, "20260101T083101")))
        #expect(Self.modify(&center, 3, Self.call))
        #expect(Self.run(&center, &service).map(\.value) == [[1, 0b11010, 1, 2, 3, 0, 0, 0]])
        #expect(Self.remove(&center, 3))
        #expect(Self.run(&center, &service).map(\.value) == [[2, 0b11010, 1, 1, 3, 0, 0, 0]])
        #expect(!Self.remove(&center, 3))
        #expect(!Self.modify(&center, 3, Self.call))
        // An action dismisses.
        #expect(Self.write(&center, [2, 2, 0, 0, 0, 1], &service) == .sent([]))
        #expect(Self.run(&center, &service).map(\.value) == [[2, 0b11010, 1, 0, 2, 0, 0, 0]])
        center.unsubscribed(TestService.phone, from: Self.source)
        #expect(Self.add(&center, silent, .zero) == 4)
        #expect(Self.run(&center, &service).isEmpty)
        // The app is known although it shows nothing any more.
        #expect(
            Self.answer([1] + Array("com.apple.mobilephone".utf8) + [0, 0], &center, &service)
                != .failure(.ancsInvalidParameter))
    }

    @Test func `each category has its number, and a phone shows 255 notifications`() {
        var (center, service) = Self.rig([])
        _ = center.subscribed(TestService.phone, to: Self.source, service)
        for category in Profile.PhoneNotification.Category.allCases {
            var notification = Profile.PhoneNotification(app: "a")
            notification.category = category
            _ = center.add(notification, at: .zero)
        }
        #expect(Self.run(&center, &service).map { $0.value[2] } == Array(0...11))
        while center.notifications.count < 255 { _ = center.add(Self.message, at: .zero) }
        #expect(Self.add(&center, Self.message, .zero) == nil)
        #expect(Self.run(&center, &service).last?.value[3] == 244)
    }

    @Test func `a phone that begins anew shows what it did at first`() {
        var (center, service) = Self.rig([Self.message])
        _ = center.subscribed(TestService.phone, to: Self.source, service)
        _ = Self.run(&center, &service)
        _ = center.add(Self.call, at: .zero)
        _ = center.begin(service)
        #expect(center.notifications.map(\.content) == [Self.message])
        #expect(
            Self.run(&center, &service).map { [$0.value[0], $0.value[4]] } == [
                [0, 2], [2, 1], [2, 2], [0, 3],
            ])
    }
}
