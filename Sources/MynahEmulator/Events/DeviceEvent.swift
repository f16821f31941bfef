import MynahCore
public import MynahProfiles
public import MynahSupport

/// An event of an emulated device, as in the event stream.
public struct DeviceEvent: Hashable, Sendable {
    /// The names of events.
    public typealias Name = EventName

    /// The time at which the event happened.
    public var time: WallTime
    /// The device's name, or the names of all devices of a phone, or `nil` if the device is played alone.
    package var device: String?
    /// The event's name.
    public var name: Name
    /// The event's fields, as values.
    package var payload: EventPayload
    /// `true` if the event was queued while its app did not run, and may be outdated.
    package var isQueued: Bool
    /// The members of a parsed event that this version does not know, and the decoded fields of its value.
    private var others: [JSON.Member] = []

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

    /// Makes an event from fields in JSON form.
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

    /// Returns the event with `device` added, or unchanged if it already has one.
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

    /// The event's fields in JSON form, in order, without the decoded fields of its value.
    public var fields: [JSON.Member] { fields(payload.members(of: name), others) }

    private func fields(_ members: [JSON.Member], _ others: [JSON.Member]) -> [JSON.Member] {
        (device.map { [.init("device", .string($0))] } ?? []) + members + others
            + (isQueued ? [.init("queued", .bool(true))] : [])
    }

    /// The field with this key.
    public subscript(key: String) -> JSON? {
        switch key {
        case "device": device.map { .string($0) }
        case "queued": isQueued ? .bool(true) : nil
        default:
            EventTable.fields(of: name).first { $0.key == key }?.json(payload)
                ?? others.first { $0.key == key }?.value
        }
    }

    /// Returns the text of a field, or `nil` if the field is missing or is not a text.
    public func string(_ key: String) -> String? { self[key]?.stringValue }

    /// The decoded fields of the value, as the reporting device wrote them, or `nil` if the event was not
    /// parsed.
    package var readFields: JSON? { others.first { $0.key == "fields" }?.value }

    /// The whole event as one JSON object, including the decoded fields of its value (`fields`).
    public var json: JSON {
        let members = payload.whole(EventTable.fields(of: name), read: readFields)
        return .object(
            [.init("time", .string(time.rfc3339)), .init("event", .string(name.rawValue))]
                + fields(members, others.filter { $0.key != "fields" }))
    }

    /// Parses an event from the JSON of `json` or of the journal; returns `nil` if this version has no such
    /// event.
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

    /// The estimated memory of the event, in bytes.
    package var memory: Int {
        MemoryLayout<DeviceEvent>.stride + payload.memory
            + others.reduce(0) { $0 + $1.value.text.utf8.count + MemoryLayout<JSON.Member>.stride }
    }
}
