import MynahCore

/// The section `phone`: what the phone is that an app is on.
///
/// The apps of one phone have to describe it alike (`Profile.PhoneDescription.differences(from:)`).
enum PhoneSection {
    // In UTF-8, so that its folder in a state directory has a name of its own.
    private static let longestName = 64

    static let name = Field(
        "name", called: "phone.name", .text, missing: "phone needs a name, as in phone: {name: Anna}",
        doc: "The name of its owner, up to 64 bytes: apps with the same name share the phone.")
    static let table = Section("phone", what: "phone", [name])

    static func read(_ node: YAMLNode, isApp: Bool, _ reader: FormatReader) -> Profile.PhoneDescription? {
        guard let fields = reader.fields(node, table) else { return nil }
        if !isApp {
            reader.error(at: node, "phone says which phone an app is on, so it needs app:")
        }
        guard let name = fields.read(name) else { return nil }
        let count = name.utf8.count
        guard (1...longestName).contains(count) else {
            reader.error(
                at: fields[Self.name],
                "phone.name must have 1 to \(longestName) bytes in UTF-8, and has \(count)")
            return nil
        }
        reader.checkName(name, "phone.name", at: fields[Self.name])
        return Profile.PhoneDescription(name: name, marks: fields.marks)
    }
}
