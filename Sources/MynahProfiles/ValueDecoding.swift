import MynahSupport

// `value:`
extension ProfileDecoder {
    mutating func value(_ node: YAMLNode) -> Profile.Value? {
        guard case .mapping(let mapping) = node else {
            error(
                at: node,
                """
                a value must say its form, as in {hex: 01 02}, {text: Pulse}, {base64: AQI=} \
                or {generate: heart-rate}
                """
            )
            return nil
        }
        if let merge = mapping.first(where: { $0.key.scalar?.string == "<<" }) {
            noteMerge(merge.key, "a value")
            return nil
        }
        let forms = mapping.compactMap { pair in pair.key.scalar.map(\.string) }
            .filter { ProfileKeys.valueForms.contains($0) }
        guard forms.count == 1, let form = forms.first else {
            error(
                at: node,
                forms.isEmpty
                    ? "a value needs one of \(Self.list(ProfileKeys.valueForms))\(Self.nearForm(mapping))"
                    : "a value has one form, and this one has \(Self.list(forms))")
            return nil
        }
        if form == "generate" { return generated(node, mapping) }
        if form == "fields" {
            error(at: node, "only the value of a characteristic of a service has fields")
            return nil
        }
        guard let fields = fields(node, "a value", known: [form]), let content = fields[form] else {
            return nil
        }
        switch form {
        case "hex": return bytes(content, "hex").map { .bytes($0) }
        case "text":
            guard let scalar = content.scalar else {
                error(at: content, "text must be one value, not \(Self.shape(of: content))")
                return nil
            }
            return .bytes(Array(scalar.string.utf8))
        default:
            guard let text = text(content, "base64") else { return nil }
            guard let bytes = Base64.decode(text) else {
                error(
                    at: content, "base64 must be groups of four of A-Z, a-z, 0-9, + and /, with = at the end")
                return nil
            }
            return .bytes(bytes)
        }
    }

    private static func nearForm(_ mapping: YAMLNode.Mapping) -> String {
        let near = mapping.lazy.compactMap { $0.key.scalar?.string }
            .compactMap { NearestName.of($0, among: ProfileKeys.valueForms) }
        return near.first.map { "; did you mean \"\($0)\"?" } ?? ""
    }

    private mutating func generated(_ node: YAMLNode, _ mapping: YAMLNode.Mapping) -> Profile.Value? {
        guard let nameNode = mapping["generate"], let name = text(nameNode, "generate") else { return nil }
        guard let kind = Generators.all.first(where: { $0.name == name }) else {
            error(
                at: nameNode,
                Self.unknown("generator \(Self.quote(name))", name, among: Generators.all.map { $0.name }))
            return nil
        }
        guard let fields = fields(node, "generate: \(name)", known: ["generate"] + kind.keys) else {
            return nil
        }
        return kind.decode(fields, &self).map { .generated($0) }
    }
}
