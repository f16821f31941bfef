import Mynah
import MynahCore
import MynahSupport

/// Writes events down for whoever hears them; without anyone no event is made at all, which is the fastest.
struct Teller: Sendable {
    let wallTime: @Sendable () -> WallTime
    let observer: (@Sendable (DeviceEvent) -> Void)?
    /// Whose events they are, where several devices are played together.
    var device: String?

    var isHeard: Bool { observer != nil }

    func tell(_ name: DeviceEvent.Name, _ fields: [JSON.Member] = []) {
        guard let observer else { return }
        let owner = device.map { [JSON.Member("device", .string($0))] } ?? []
        observer(DeviceEvent(time: wallTime(), name: name, fields: owner + fields))
    }
}

// What is told.
extension DevicePlayer {
    func tellRead(
        _ request: ReadRequest, _ central: Central, _ value: [UInt8], _ outcome: PendingReply.Outcome
    ) {
        tell(.read, on: request.attribute, central) {
            var fields: [JSON.Member] = []
            if request.offset > 0 { fields.append(.init("offset", .integer(request.offset))) }
            switch outcome {
            case .success: fields.append(.init("value", .string(Hex.encode(value))))
            case .failure(let error): fields.append(.init("error", EventFields.code(error)))
            }
            return fields
        }
    }

    func tellWrite(_ request: WriteRequest, _ central: Central, _ outcome: PendingReply.Outcome) {
        for part in request.parts {
            tell(.write, on: part.attribute, central) {
                var fields: [JSON.Member] = []
                if part.offset > 0 { fields.append(.init("offset", .integer(part.offset))) }
                fields.append(.init("value", .string(Hex.encode(part.value))))
                fields.append(.init("withResponse", .bool(request.wantsResponse)))
                if case .failure(let error) = outcome {
                    fields.append(.init("error", EventFields.code(error)))
                }
                return fields
            }
        }
    }

    func tell(
        _ name: DeviceEvent.Name, on attribute: AttributeKey, _ central: Central?, _ more: () -> [JSON.Member]
    ) {
        guard teller.isHeard else { return }
        var fields: [JSON.Member] = []
        if let central { fields.append(EventFields.central(central)) }
        if let entry = table.entries[attribute] {
            fields.append(.init("service", .string(entry.service.description)))
            fields.append(.init("characteristic", .string(entry.characteristic.description)))
            if let descriptor = entry.descriptor {
                fields.append(.init("descriptor", .string(descriptor.description)))
            }
            if let path = entry.path { fields.append(.init("path", .string(path))) }
        }
        fields += more()
        // What waited while the app did not run may not hold any more.
        if let app, app.assumeIsolated({ $0.isDeliveringQueued }) {
            fields.append(.init("queued", .bool(true)))
        }
        teller.tell(name, fields)
    }
}
