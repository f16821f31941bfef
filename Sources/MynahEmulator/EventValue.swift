package import MynahCore
package import MynahSupport

// The fields of the value in an event. They are decoded when somebody reads them, not when the event is made.
extension DeviceEvent {
    /// The fields of its value, or `nil` if it has none, no layout is known, or the value does not fit it.
    package var valueFields: [NamedField]? {
        // A part of a value fits no layout.
        guard let hex = string("value"), self["offset"] == nil, self["descriptor"] == nil,
            let layout = layout ?? knownLayout, let bytes = Hex.decode(hex)
        else { return nil }
        return layout.decode(bytes)
    }

    /// The SIG's layout of its characteristic.
    private var knownLayout: ValueLayout? {
        string("characteristic").flatMap { BluetoothUUID($0) }.flatMap { KnownLayouts.layout(of: $0) }
    }

    /// Its fields, with those of its value (`fields`) after it.
    var fieldsWithValueFields: [JSON.Member] {
        guard let index = fields.firstIndex(where: { $0.key == "value" }), self["fields"] == nil,
            let decoded = valueFields
        else { return fields }
        var fields = fields
        fields.insert(.init("fields", decoded.json), at: index + 1)
        return fields
    }
}

extension EventFields {
    /// A value in hexadecimal, and its fields if it fits the layout.
    package static func of(_ value: [UInt8], _ layout: ValueLayout?) -> [JSON.Member] {
        [.init("value", .string(Hex.encode(value)))]
            + (layout?.decode(value).map { [.init("fields", $0.json)] } ?? [])
    }
}
