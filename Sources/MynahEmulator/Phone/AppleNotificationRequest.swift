import MynahCore

/// A write to ANCS's Control Point (ANCS Specification, Control Point and Data Source).
enum AppleNotificationRequest: Hashable {
    /// An attribute of a notification, by its NotificationAttributeID.
    enum Attribute: UInt8, CaseIterable {
        case appIdentifier, title, subtitle, message, messageSize, date
        case positiveActionLabel, negativeActionLabel

        /// `true` if a request has a maximum length after this attribute.
        var hasLength: Bool { [.title, .subtitle, .message].contains(self) }
    }

    /// A requested attribute, with the maximum length of its value in bytes.
    struct Wanted: Hashable {
        var attribute: Attribute
        var longest = Int(UInt16.max)
    }

    /// An attribute of an app, by its AppAttributeID.
    enum AppAttribute: UInt8, CaseIterable {
        case displayName
    }

    /// An action, by its ActionID.
    enum Action: UInt8, CaseIterable {
        case positive, negative
    }

    /// Get Notification Attributes.
    case notification(UInt32, [Wanted])
    /// Get App Attributes.
    case app(String, [AppAttribute])
    /// Perform Notification Action.
    case perform(Action, on: UInt32)

    /// Parses a write, or throws the ATT error of the response.
    ///
    /// Apple does not document the error for an empty list of attributes or for an unknown attribute, so the
    /// error is an assumption.
    init(_ value: [UInt8]) throws(ATTError) {
        switch value.first {
        case nil: throw .ancsInvalidCommand
        case 0: self = try Self.notification(value.dropFirst())
        case 1: self = try Self.app(value.dropFirst())
        case 2: self = try Self.action(value.dropFirst())
        default: throw .ancsUnknownCommand
        }
    }

    private static func notification(_ rest: ArraySlice<UInt8>) throws(ATTError) -> Self {
        guard let uid = UInt32(littleEndian: rest.prefix(4)) else { throw .ancsInvalidCommand }
        var rest = rest.dropFirst(4)
        guard !rest.isEmpty else { throw .ancsInvalidCommand }
        var wanted: [Wanted] = []
        while let code = rest.popFirst() {
            guard let attribute = Attribute(rawValue: code) else { throw .ancsInvalidParameter }
            guard attribute.hasLength else {
                wanted.append(Wanted(attribute: attribute))
                continue
            }
            guard let low = rest.popFirst(), let high = rest.popFirst() else { throw .ancsInvalidCommand }
            wanted.append(Wanted(attribute: attribute, longest: Int(low) | Int(high) << 8))
        }
        return .notification(uid, wanted)
    }

    private static func app(_ rest: ArraySlice<UInt8>) throws(ATTError) -> Self {
        guard let end = rest.firstIndex(of: 0), end > rest.startIndex, rest.index(after: end) < rest.endIndex
        else { throw .ancsInvalidCommand }
        guard let identifier = String(validating: rest[..<end], as: UTF8.self) else {
            throw .ancsInvalidParameter
        }
        var attributes: [AppAttribute] = []
        for code in rest[(end + 1)...] {
            guard let attribute = AppAttribute(rawValue: code) else { throw .ancsInvalidParameter }
            attributes.append(attribute)
        }
        return .app(identifier, attributes)
    }

    private static func action(_ rest: ArraySlice<UInt8>) throws(ATTError) -> Self {
        guard rest.count == 5, let uid = UInt32(littleEndian: rest.prefix(4)), let code = rest.last else {
            throw .ancsInvalidCommand
        }
        guard let action = Action(rawValue: code) else { throw .ancsInvalidParameter }
        return .perform(action, on: uid)
    }
}

extension ATTError {
    /// The error codes of ANCS (Appendix, Error Codes).
    static let ancsUnknownCommand = ATTError(code: 0xA0)
    static let ancsInvalidCommand = ATTError(code: 0xA1)
    static let ancsInvalidParameter = ATTError(code: 0xA2)
    static let ancsActionFailed = ATTError(code: 0xA3)
}

extension UInt32 {
    /// Parses four bytes, least significant first; returns `nil` if there are not exactly four.
    fileprivate init?(littleEndian bytes: ArraySlice<UInt8>) {
        guard bytes.count == 4 else { return nil }
        self = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension [UInt8] {
    /// Encodes a number as four bytes, least significant first.
    init(littleEndian number: UInt32) {
        self = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    /// Encodes a text as UTF-8, cut to `longest` bytes at a character boundary.
    init(_ text: String, longest: Int) {
        let bytes = Array(text.utf8)
        guard bytes.count > longest else {
            self = bytes
            return
        }
        var end = Swift.max(0, longest)
        // 10xxxxxx is a continuation byte of a character.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        self = Array(bytes[..<end])
    }
}
