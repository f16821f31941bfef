import MynahCore

/// The requests to a characteristic that a test answers.
package struct AskedAccess: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Reads.
    package static let read = AskedAccess(rawValue: 1)
    /// Writes with a response.
    package static let write = AskedAccess(rawValue: 2)

    /// The words of the key `ask`.
    static let named: [(name: String, access: AskedAccess)] = [("read", .read), ("write", .write)]
}

// `ask:`
extension ProfileDecoder {
    mutating func asked(_ node: YAMLNode, of characteristic: Profile.Characteristic) -> AskedAccess {
        var asked: AskedAccess = []
        let elements = elements(node, "ask")
        if elements.isEmpty, case .sequence = node { error(at: node, "ask needs read, write or both") }
        for element in elements {
            guard let word = text(element, "a request") else { continue }
            let names = AskedAccess.named.map(\.name)
            guard let access = AskedAccess.named.first(where: { $0.name == word })?.access else {
                error(at: element, Self.unknown("request \(Self.quote(word))", word, among: names))
                continue
            }
            if asked.contains(access) { error(at: element, "ask: \(word) is repeated") }
            if let problem = problem(of: access, word, characteristic) { error(at: element, problem) }
            asked.insert(access)
        }
        return asked
    }

    /// Why a test is never asked for a request, or `nil` if it may be.
    private func problem(
        of access: AskedAccess, _ word: String, _ characteristic: Profile.Characteristic
    ) -> String? {
        let properties = characteristic.properties
        let error: ATTError?
        if access == .read {
            guard properties.contains(.read) else {
                return "ask: read has no effect: the characteristic has no read property"
            }
            error = characteristic.readError
        } else {
            guard !properties.isDisjoint(with: .anyWrite) else {
                return "ask: write has no effect: the characteristic has no write property"
            }
            guard !properties.isDisjoint(with: [.write, .reliableWrite]) else {
                return """
                    ask: write has no effect: a write without response gets no answer; add the property write
                    """
            }
            error = characteristic.writeError
        }
        return error.map { _ in
            "ask: \(word) has no effect: errors.\(word) answers each \(word); remove one of them"
        }
    }
}
