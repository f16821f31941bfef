import MynahCore

/// The attributes of one device by their handles, as far as a capture shows them.
struct ObservedServer {
    /// A service declaration.
    struct Service: Hashable {
        /// `nil` if only an include of another service shows it.
        var uuid: BluetoothUUID?
        var end: AttributeHandle
        var isPrimary: Bool
    }

    /// An include declaration.
    struct Include: Hashable {
        var start: AttributeHandle
        var end: AttributeHandle
        /// 128-bit UUIDs are not in the declaration (Core Specification, Vol 3, Part G, 3.2).
        var uuid: BluetoothUUID?
    }

    /// A characteristic declaration.
    struct Declaration: Hashable {
        var uuid: BluetoothUUID
        var properties: UInt8
        var value: AttributeHandle
    }

    /// A value that was read.
    struct Reading: Hashable {
        /// The first value.
        var value: [UInt8]
        /// Whether it is all of the value.
        var isWhole: Bool
        /// Whether a later read had another value.
        var hasChanged = false
    }

    /// A write, when it was answered or, without an answer, sent.
    struct Write: Hashable {
        enum Outcome: Hashable {
            case stored
            case refused(UInt8)
            /// A command, or the capture ended before the answer.
            case unanswered
        }
        var handle: AttributeHandle
        var value: [UInt8]
        var time: Int64
        var link: Int
        var outcome: Outcome
    }

    /// A notification or an indication.
    struct Sent: Hashable {
        var handle: AttributeHandle
        var value: [UInt8]
        var time: Int64
        var link: Int
    }

    /// An access that was refused.
    struct Refusal: Hashable {
        var isWrite: Bool
        var code: UInt8
        var isEncrypted: Bool
    }

    /// How many attributes of a kind are kept: no device has as many, and a capture may be made up.
    static let limit = 2048

    var services: [AttributeHandle: Service] = [:]
    var includes: [AttributeHandle: Include] = [:]
    var declarations: [AttributeHandle: Declaration] = [:]
    /// The types of attributes that Find Information or a read by type shows.
    var types: [AttributeHandle: BluetoothUUID] = [:]
    var readings: [AttributeHandle: Reading] = [:]
    var writes: [Write] = []
    var sent: [Sent] = []
    private(set) var refusals: [AttributeHandle: [Refusal]] = [:]
    /// When each link began, as far as that is in the capture.
    var linkStarts: [Int: Int64] = [:]

    /// Whether anything of the attribute table was seen.
    var isDiscovered: Bool { !services.isEmpty }

    // MARK: Values

    /// A value was read from its beginning.
    mutating func read(_ value: [UInt8], of handle: AttributeHandle, isWhole: Bool) {
        guard var reading = readings[handle] else {
            readings[handle] = Reading(value: value, isWhole: isWhole)
            return
        }
        // A first read may have been broken off.
        if !reading.isWhole, value.starts(with: reading.value) {
            reading.value = value
            reading.isWhole = isWhole
        } else if reading.isWhole ? reading.value != value : !reading.value.starts(with: value) {
            reading.hasChanged = true
        }
        readings[handle] = reading
    }

    /// More of a value was read; it counts only if it continues what was read.
    mutating func readOn(_ part: [UInt8], of handle: AttributeHandle, at offset: Int, isLast: Bool) {
        guard var reading = readings[handle], !reading.isWhole, reading.value.count == offset else { return }
        reading.value += part
        reading.isWhole = isLast
        readings[handle] = reading
    }

    mutating func refuse(
        _ handle: AttributeHandle, isWrite: Bool, _ code: UInt8, isEncrypted: Bool
    ) {
        let refusal = Refusal(isWrite: isWrite, code: code, isEncrypted: isEncrypted)
        // Of one handle there are few: 256 codes, reads and writes, with and without encryption.
        if refusals[handle]?.contains(refusal) != true { refusals[handle, default: []].append(refusal) }
    }

    // MARK: Declarations

    mutating func declare(_ declaration: Declaration, at handle: AttributeHandle) {
        guard declarations[handle] != nil || declarations.count < Self.limit else { return }
        declarations[handle] = declaration
    }

    mutating func declare(
        _ uuid: BluetoothUUID?, _ handles: ClosedRange<AttributeHandle>, isPrimary: Bool
    ) {
        // The last handle of a device's last service may be reported as 0xFFFF.
        let known = services[handles.lowerBound]
        guard known != nil || services.count < Self.limit else { return }
        services[handles.lowerBound] = Service(
            uuid: uuid?.shortest ?? known?.uuid, end: handles.upperBound,
            isPrimary: isPrimary || known?.isPrimary == true)
    }

    /// An include declaration, which also shows a secondary service.
    mutating func include(_ include: Include, at handle: AttributeHandle) {
        guard includes.count < Self.limit else { return }
        includes[handle] = include
        guard services[include.start] == nil, include.start <= include.end else { return }
        declare(include.uuid, include.start...include.end, isPrimary: false)
    }
}
