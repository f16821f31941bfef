import MynahSupport
import Testing

@testable import MynahProfiles

/// Validates against the keywords of JSON Schema (draft 2020-12) that our schema uses; another one is a
/// mistake of ours.
struct SchemaValidator {
    let root: JSON

    private static let annotations: Set<String> = ["$schema", "$comment", "title", "description", "$defs"]

    /// Each keyword that does not hold, as `path: keyword`.
    func problems(of value: JSON) -> [String] { problems(of: value, by: root, at: "") }

    /// The keywords that are used and that this does not know.
    var unknownKeywords: [String] { unknown(in: root) }

    private func problems(of value: JSON, by schema: JSON, at path: String) -> [String] {
        if case .bool(let isAllowed) = schema { return isAllowed ? [] : ["\(path): false"] }
        guard case .object(let members) = schema else { return ["\(path): no schema"] }
        return members.flatMap { problems(of: value, keyword: $0.key, $0.value, of: schema, at: path) }
    }

    private func problems(
        of value: JSON, keyword: String, _ argument: JSON, of schema: JSON, at path: String
    ) -> [String] {
        func holds(_ isTrue: Bool) -> [String] { isTrue ? [] : ["\(path): \(keyword)"] }
        func isValid(_ schema: JSON) -> Bool { problems(of: value, by: schema, at: path).isEmpty }
        switch keyword {
        case "$ref": return problems(of: value, by: resolve(argument), at: path)
        case "type":
            let names = argument.elements ?? [argument]
            return holds(names.contains { $0.string.map { value.isOfType($0) } ?? false })
        case "enum": return holds(argument.elements?.contains(value) ?? false)
        case "const": return holds(argument == value)
        case "pattern":
            guard let text = value.string, let pattern = argument.string else { return [] }
            return holds((try? Regex(pattern).firstMatch(in: text)) != nil)
        case "minimum": return holds((value.number ?? .infinity) >= (argument.number ?? .infinity))
        case "maximum": return holds((value.number ?? -.infinity) <= (argument.number ?? -.infinity))
        case "minItems": return holds(Double(value.elements?.count ?? .max) >= argument.number ?? 0)
        case "uniqueItems": return holds(value.elements.map { Set($0).count == $0.count } ?? true)
        case "required":
            guard let members = value.members else { return [] }
            return holds(
                (argument.elements ?? []).allSatisfy { key in members.contains { .string($0.key) == key } })
        case "anyOf": return holds((argument.elements ?? []).contains(where: isValid))
        case "not": return holds(!isValid(argument))
        case "oneOf": return holds((argument.elements ?? []).filter(isValid).count == 1)
        case "if":
            return isValid(argument) ? problems(of: value, by: schema["then"] ?? .bool(true), at: path) : []
        case "items":
            return (value.elements ?? []).enumerated().flatMap {
                problems(of: $1, by: argument, at: "\(path)[\($0)]")
            }
        case "properties":
            return (value.members ?? []).flatMap { member in
                argument[member.key].map { problems(of: member.value, by: $0, at: "\(path).\(member.key)") }
                    ?? []
            }
        case "additionalProperties":
            return (value.members ?? []).filter { schema["properties"]?[$0.key] == nil }.flatMap {
                problems(of: $0.value, by: argument, at: "\(path).\($0.key)")
            }
        case "propertyNames":
            return (value.members ?? []).flatMap {
                problems(of: .string($0.key), by: argument, at: "\(path).\($0.key)")
            }
        default: return []
        }
    }

    /// Every key that the schema has, as `definition.key`.
    var allKeys: Set<String> {
        (root["$defs"]?.members ?? []).reduce(into: []) { keys, definition in
            let choices = ["oneOf", "anyOf"].flatMap { definition.value[$0]?.elements ?? [] }
            for property in ([definition.value] + choices).flatMap({ $0["properties"]?.members ?? [] }) {
                keys.insert("\(definition.key).\(property.key)")
            }
        }
    }

    /// The keys that a valid value has, as `definition.key`.
    func keys(of value: JSON) -> Set<String> { keys(of: value, by: root, in: "") }

    private func keys(of value: JSON, by schema: JSON, in definition: String) -> Set<String> {
        var found: Set<String> = []
        for member in schema.members ?? [] {
            switch member.key {
            case "$ref":
                let name = member.value.string?.split(separator: "/").last.map(String.init) ?? ""
                found.formUnion(keys(of: value, by: resolve(member.value), in: name))
            case "anyOf", "oneOf":
                for choice in member.value.elements ?? []
                where problems(of: value, by: choice, at: "").isEmpty {
                    found.formUnion(keys(of: value, by: choice, in: definition))
                }
            case "if" where problems(of: value, by: member.value, at: "").isEmpty:
                found.formUnion(keys(of: value, by: schema["then"] ?? .bool(true), in: definition))
            case "items":
                for element in value.elements ?? [] {
                    found.formUnion(keys(of: element, by: member.value, in: definition))
                }
            case "additionalProperties":
                for property in value.members ?? [] where schema["properties"]?[property.key] == nil {
                    found.formUnion(keys(of: property.value, by: member.value, in: definition))
                }
            case "properties":
                for property in value.members ?? [] {
                    guard let schema = member.value[property.key] else { continue }
                    found.insert("\(definition).\(property.key)")
                    found.formUnion(keys(of: property.value, by: schema, in: definition))
                }
            default: break
            }
        }
        return found
    }

    private func resolve(_ reference: JSON) -> JSON {
        guard let name = reference.string?.split(separator: "/").last else { return .bool(false) }
        return root["$defs"]?[String(name)] ?? .bool(false)
    }

    private func unknown(in schema: JSON) -> [String] {
        let known: Set<String> = [
            "$ref", "type", "enum", "const", "pattern", "minimum", "maximum", "minItems", "uniqueItems",
            "required",
            "anyOf", "oneOf", "not", "if", "then", "items", "properties", "additionalProperties",
            "propertyNames",
        ]
        return (schema.members ?? []).flatMap { member -> [String] in
            switch member.key {
            case "properties", "$defs": return (member.value.members ?? []).flatMap { unknown(in: $0.value) }
            case "anyOf", "oneOf": return (member.value.elements ?? []).flatMap { unknown(in: $0) }
            case "items", "if", "then", "not", "additionalProperties", "propertyNames":
                return unknown(in: member.value)
            default:
                return known.contains(member.key) || Self.annotations.contains(member.key) ? [] : [member.key]
            }
        }
    }
}

extension JSON {
    var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    var members: [JSON.Member]? { if case .object(let members) = self { members } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    subscript(key: String) -> JSON? { members?.first { $0.key == key }?.value }

    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    fileprivate func isOfType(_ name: String) -> Bool {
        switch (self, name) {
        case (.null, "null"), (.bool, "boolean"), (.integer, "integer"), (.integer, "number"),
            (.number, "number"),
            (.string, "string"), (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }
}

/// A YAML file as an editor sees it: its scalars by YAML 1.2's core schema (10.3.2).
enum EditorYAML {
    static func json(_ text: String) throws -> JSON {
        json(try #require(YAMLDocument(YAMLText(Array(text.utf8))).root))
    }

    private static func json(_ node: YAMLNode) -> JSON {
        switch node {
        case .mapping(let mapping):
            .object(mapping.map { JSON.Member($0.key.scalar?.string ?? "", json($0.value)) })
        case .sequence(let sequence): .array(sequence.map(json))
        case .scalar(let scalar): scalar.isPlain ? plain(scalar.string) : .string(scalar.string)
        }
    }

    private static func plain(_ text: String) -> JSON {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        if text.wholeMatch(of: /[-+]?[0-9]+/) != nil, let value = Int(text) { return .integer(value) }
        if text.wholeMatch(of: /0x[0-9a-fA-F]+/) != nil, let value = Int(text.dropFirst(2), radix: 16) {
            return .integer(value)
        }
        if text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil,
            let value = Double(text)
        {
            return .number(value)
        }
        return .string(text)
    }
}
