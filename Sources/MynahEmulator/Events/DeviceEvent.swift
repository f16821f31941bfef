import MynahCore
public import MynahProfiles
public import MynahSupport

/// One thing that happened to an emulated device, as the event stream reports it.
public struct DeviceEvent: Hashable, Sendable {
    /// The names of the event stream.
    public typealias Name = EventName

    /// When it happened.
    public var time: WallTime
    /// The device, or the devices of a phone; `nil` if it is played alone.
    package var device: String?
    /// The event's name.
    public var name: Name
    /// The event's fields, as values.
    package var payload: EventPayload
    /// `true` if the event has waited while its app did not run, and may not hold any more.
    package var isQueued: Bool
    /// The members of an event that was read and that this version has no fields for, and those of its value.
    private var others: [JSON.Member] = []

    /// An event.
    package init(
        time: WallTime, _ name: Name, _ payload: EventPayload = .none, of device: String? = nil,
        isQueued: Bool = false
    ) {
        self.time = time
        self.device = device
        self.name = name
        self.payload = payload
        self.isQueued = isQueued
    }

    /// An event with these fields, as JSON has them.
    package init(time: WallTime, name: Name, fields: [JSON.Member]) {
        self.init(time: time, name)
        let known = EventTable.fields(of: name)
        for member in fields {
            switch (member.key, member.value) {
            case ("device", .string(let text)): device = text
            case ("queued", .bool(true)): isQueued = true
            default:
                let field = known.first { $0.key == member.key }
                if field?.take(&payload, member.value) != true { others.append(member) }
            }
        }
    }

    /// Adds `device`, unless the event has a device already.
    package func named(_ device: String?) -> DeviceEvent {
        guard self.device == nil else { return self }
        var event = self
        event.device = device
        return event
    }

    /// Adds the address of the control API to `ready`.
    package mutating func serve(at address: String) {
        guard case .ready(var ready) = payload else { return }
        ready.control = address
        payload = .ready(ready)
    }

    // MARK: JSON

    /// The event's fields as JSON has them, in their order, without those of its value.
    public var fields: [JSON.Member] { fields(payload.members(of: name), others) }

    private func fields(_ members: [JSON.Member], _ others: [JSON.Member]) -> [JSON.Member] {
        (device.map { [.init("device", .string($0))] } ?? []) + members + others
            + (isQueued ? [.init("queued", .bool(true))] : [])
    }

    /// The field of this key.
    public subscript(key: String) -> JSON? {
        switch key {
        case "device": device.map { .string($0) }
        case "queued": isQueued ? .bool(true) : nil
        default:
            EventTable.fields(of: name).first { $0.key == key }?.json(payload)
                ?? others.first { $0.key == key }?.value
        }
    }

    /// The text of a field that holds text.
    public func string(_ key: String) -> String? { self[key]?.stringValue }

    /// The fields of its value as the device that reported it has them, or `nil` if it was not read.
    package var readFields: JSON? { others.first { $0.key == "fields" }?.value }

    /// The whole event as one JSON object, with the fields of its value (`fields`).
    public var json: JSON {
        let members = payload.whole(EventTable.fields(of: name), read: readFields)
        return .object(
            [.init("time", .string(time.rfc3339)), .init("event", .string(name.rawValue))]
                + fields(members, others.filter { $0.key != "fields" }))
    }

    /// Reads an event as `json` writes it, or the journal; `nil` if it is none of this version.
    package init?(json: JSON) {
        guard case .object(let members) = json,
            let name = members.first(where: { $0.key == "event" })?.value.stringValue.flatMap(Name.init),
            let time = members.first(where: { $0.key == "time" })?.value.stringValue.flatMap(
                WallTime.init(rfc3339:))
        else { return nil }
        self.init(
            time: time, name: name,
            fields: members.filter { !["seq", "time", "event", "differs"].contains($0.key) })
    }

    /// The memory of the event in bytes, as an estimate.
    package var memory: Int {
        MemoryLayout<DeviceEvent>.stride + payload.memory
            + others.reduce(0) { $0 + $1.value.text.utf8.count + MemoryLayout<JSON.Member>.stride }
    }
}
