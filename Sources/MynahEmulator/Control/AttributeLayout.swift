import MynahCore
package import MynahSupport
package import MynahValues

/// The names of an attribute and the fields of its value, from which a client can make an input form.
package struct AttributeLayout: Hashable, Sendable {
    /// The unambiguous name of the attribute, such as `180D/2A37`.
    package var path: String
    /// The fields of the attribute's value; empty if they are not known.
    package var fields: [FieldShape]

    /// Makes the description of an attribute; `layout` is `nil` if the layout of its value is not known.
    package init(path: String, layout: ValueLayout?) {
        self.path = path
        fields = layout?.shapes ?? []
    }

    /// A readable name for each step of the path, such as `Heart Rate Measurement`, assigned by the SIG or a
    /// vendor.
    ///
    /// A step without such a name is used as it is.
    package var names: [String] {
        path.split(separator: "/").map { step in
            let parts = step.split(separator: "~", maxSplits: 1)
            guard let uuid = parts.first.flatMap({ BluetoothUUID(String($0)) }),
                let name = AssignedNumbers.displayName(of: uuid)
            else { return String(step) }
            return parts.count == 1 ? name : "\(name)~\(parts[1])"
        }
    }

    /// The attribute as one JSON object.
    package var json: JSON {
        .object([
            .init("path", .string(path)), .init("names", .array(names.map { .string($0) })),
            .init("fields", .array(fields.map(\.json))),
        ])
    }
}

extension FieldShape {
    /// The field as one JSON object, whose `kind` determines the other members.
    package var json: JSON {
        var members: [JSON.Member] = [.init("name", .string(name))]
        if case .list(let item) = content {
            members += [.init("kind", .string(item.kind))] + item.members + [.init("list", .bool(true))]
        } else {
            members += [.init("kind", .string(content.kind))] + content.members
        }
        if let unit { members.append(.init("unit", .string(unit))) }
        if isOptional { members.append(.init("optional", .bool(true))) }
        return .object(members)
    }
}

extension FieldShape.Content {
    /// The JSON words for the kinds of a field.
    package static let kinds = ["number", "choice", "boolean", "text", "bytes", "dateTime"]

    fileprivate var kind: String {
        switch self {
        case .number, .float: "number"
        case .choice: "choice"
        case .boolean: "boolean"
        case .text: "text"
        case .bytes: "bytes"
        case .dateTime: "dateTime"
        case .list(let item): item.kind
        }
    }

    fileprivate var members: [JSON.Member] {
        switch self {
        case .number(let lower, let upper, let step, let short):
            [
                .init("minimum", .number(lower)), .init("maximum", Self.limit(upper)),
                .init("step", .number(step)),
            ]
                + (short.map { [.init("shortMaximum", .number($0))] } ?? [])
        case .choice(let names): [.init("names", .array(names.map { .string($0) }))]
        case .float, .boolean, .text, .bytes, .dateTime, .list: []
        }
    }

    /// Returns the largest number of a type as JSON.
    ///
    /// `upper` is that number as a `Double`, which is not exact for a 64-bit integer; the result is exact.
    private static func limit(_ upper: Double) -> JSON {
        switch upper {
        case 0x1p64.nextDown: .unsigned(.max)
        case 0x1p63.nextDown: .integer(.max)
        default: .number(upper)
        }
    }
}
