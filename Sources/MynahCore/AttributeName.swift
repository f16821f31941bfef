import MynahSupport

/// The name of an attribute: `2A37`, `heart-rate-measurement`, `180D/2A37`, `180F~2/2A19`, `2A37/2901`, or
/// `@18`, a handle.
///
/// Each step is a UUID or the SIG's name. `~N` after a step selects the Nth matching attribute, in attribute
/// order.
package struct AttributeName: Hashable, Sendable {
    /// The reason that a name is not valid or not found, as a sentence without its full stop.
    package struct Problem: Error, Hashable, Sendable {
        /// The problem, as a sentence.
        package var message: String
    }

    private enum Form: Hashable, Sendable {
        case handle(AttributeHandle)
        case steps([Step])
    }

    /// A step of a name.
    ///
    /// A step may have several UUIDs, because the SIG uses some names for both a service and a
    /// characteristic.
    private struct Step: Hashable, Sendable {
        var uuids: Set<BluetoothUUID>
        var ordinal: Int?
    }

    /// The name as written.
    package let text: String
    private let form: Form

    /// Parses a name.
    package init(parsing text: String) throws(Problem) {
        self.text = text
        if text.hasPrefix("@") {
            guard let number = UInt16(text.dropFirst()), number > 0 else {
                throw Problem(message: "\(text) is not a handle; a handle is written as @12")
            }
            form = .handle(AttributeHandle(rawValue: number))
            return
        }
        var steps: [Step] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            steps.append(try Self.step(String(part)))
        }
        guard steps.count <= 3 else {
            throw Problem(message: "\(text) has more parts than SERVICE/CHARACTERISTIC/DESCRIPTOR")
        }
        form = .steps(steps)
    }

    private static func step(_ text: String) throws(Problem) -> Step {
        let (word, ordinal) = try splitOrdinal(text)
        // No name has the form of a UUID, and searching for a name takes long.
        if let uuid = BluetoothUUID(word) { return Step(uuids: [uuid], ordinal: ordinal) }
        let uuids = Set(
            [
                AssignedNumbers.service(named: word), AssignedNumbers.characteristic(named: word),
                AssignedNumbers.descriptor(named: word),
                AssignedNumbers.vendor(named: word),
            ].compactMap { $0 })
        guard !uuids.isEmpty else {
            let names = AssignedNumbers.characteristicNames + AssignedNumbers.serviceNames
            let near = NearestName.of(word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            throw Problem(message: "\"\(word)\" is neither a UUID nor a name\(near)")
        }
        return Step(uuids: uuids, ordinal: ordinal)
    }

    /// Splits a step into its UUID or name, and the number after `~`, or `nil` if there is no number.
    package static func splitOrdinal(_ step: String) throws(Problem) -> (word: String, ordinal: Int?) {
        guard let tilde = step.lastIndex(of: "~") else { return (step, nil) }
        let digits = step[step.index(after: tilde)...]
        guard (1...5).contains(digits.utf8.count), digits.first != "0",
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let ordinal = Int(digits)
        else { throw Problem(message: "\"\(step)\" needs a number of at least 1 after ~, as in 180F~2") }
        return (String(step[..<tilde]), ordinal)
    }

    // MARK: - What it says

    /// The possible UUIDs of the service in this characteristic's name, or `nil` if it names no service.
    package var serviceTypes: Set<BluetoothUUID>? {
        guard case .steps(let steps) = form, steps.count > 1 else { return nil }
        return steps[0].uuids
    }

    /// The possible UUIDs of the last step; empty if the name is a handle.
    package var types: Set<BluetoothUUID> {
        guard case .steps(let steps) = form else { return [] }
        return steps.last?.uuids ?? []
    }

    /// `true` if this can be the name of a characteristic, and is not a handle.
    package var mayNameCharacteristic: Bool {
        guard case .steps(let steps) = form, steps.count < 3 else { return false }
        return !types.allSatisfy { AssignedNumbers.isDescriptor($0) }
    }

    // MARK: - Comparing

    /// A step of the unambiguous path to an attribute.
    package struct Element: Hashable, Sendable {
        /// The type of the service, the characteristic or the descriptor.
        package var uuid: BluetoothUUID
        /// The number of the attribute among siblings with the same UUID, counted from 1.
        package var ordinal: Int

        /// Makes a step.
        package init(uuid: BluetoothUUID, ordinal: Int = 1) {
            self.uuid = uuid
            self.ordinal = ordinal
        }
    }

    /// Whether this name matches the characteristic or descriptor at the end of a path, which begins with a
    /// service.
    ///
    /// A handle never matches, because a path contains no handles.
    package func names(_ path: [Element]) -> Bool {
        guard case .steps(let steps) = form else { return false }
        let levels = Array(path.indices)
        // A name may leave out the leading parts of the path, but not the attribute itself.
        let readings = [levels.suffix(steps.count)] + (levels.count == 3 && steps.count == 2 ? [[0, 2]] : [])
        return readings.contains { reading in
            reading.count == steps.count
                && zip(steps, reading).allSatisfy { step, level in
                    step.uuids.contains(path[level].uuid)
                        && (step.ordinal == nil || step.ordinal == path[level].ordinal)
                }
        }
    }

    // MARK: - Resolving

    /// Returns the position of the characteristic or descriptor with this name.
    ///
    /// Throws if there is none, or more than one.
    package func resolve(in tree: AttributeTree) throws(Problem) -> AttributeTree.Position {
        try resolve(in: AttributeIndex(tree))
    }

    /// Resolves the name with an index instead of searching the whole device.
    package func resolve(in index: AttributeIndex) throws(Problem) -> AttributeTree.Position {
        let tree = index.tree
        let found = positions(in: index)
        guard let first = found.first else {
            let others = withoutOrdinals.positions(in: index)
            throw Problem(
                message: "the device has no \(text)"
                    + (others.isEmpty ? "" : "; it has \(Self.list(others, in: tree))"))
        }
        guard found.count == 1 else {
            throw Problem(
                message:
                    """
                    the device has \(found.count) attributes called \(text): name one of \
                    \(Self.list(found, in: tree))
                    """
            )
        }
        return first
    }

    private var withoutOrdinals: AttributeName {
        guard case .steps(let steps) = form else { return self }
        return AttributeName(text: text, form: .steps(steps.map { Step(uuids: $0.uuids) }))
    }

    private init(text: String, form: Form) {
        self.text = text
        self.form = form
    }

    /// Returns the matches of the first interpretation of the steps that has any.
    ///
    /// A characteristic is tried before a descriptor.
    private func positions(in index: AttributeIndex) -> [AttributeTree.Position] {
        let steps: [Step]
        switch form {
        case .handle(let handle):
            let tree = index.tree
            return (tree.positions(at: .characteristic) + tree.positions(at: .descriptor))
                .filter { tree.handle(at: $0) == handle }
        case .steps(let parsed): steps = parsed
        }
        let readings: [[AttributeTree.Level]] =
            switch steps.count {
            case 1: [[.characteristic], [.descriptor]]
            case 2: [[.service, .characteristic], [.service, .descriptor], [.characteristic, .descriptor]]
            default: [[.service, .characteristic, .descriptor]]
            }
        return readings.lazy.map { Self.find(steps, at: $0, in: index) }.first { !$0.isEmpty } ?? []
    }

    private static func find(
        _ steps: [Step], at levels: [AttributeTree.Level], in index: AttributeIndex
    ) -> [AttributeTree.Position] {
        var scope: (level: AttributeTree.Level, positions: Set<AttributeTree.Position>)?
        var found: [AttributeTree.Position] = []
        for (step, level) in zip(steps, levels) {
            found = index.positions(at: level, of: step.uuids).filter { position in
                scope.map { $0.positions.contains(position.ancestor(at: $0.level)) } ?? true
            }
            if let ordinal = step.ordinal {
                found = found.indices.contains(ordinal - 1) ? [found[ordinal - 1]] : []
            }
            scope = (level, Set(found))
        }
        return found
    }

    /// The most matches that a message lists.
    private static let listed = 8

    private static func list(_ positions: [AttributeTree.Position], in tree: AttributeTree) -> String {
        let names = positions.prefix(listed).map { position in
            tree.path(of: position) + (tree.handle(at: position).map { " (@\($0))" } ?? "")
        }
        let rest = positions.count > listed ? " and \(positions.count - listed) more" : ""
        return names.joined(separator: ", ") + rest
    }
}
