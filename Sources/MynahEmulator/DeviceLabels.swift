/// The names of a run's devices in events.
public enum DeviceLabels {
    /// A label for each name, in order: the name, and `name~2`, `name~3` for the next devices of that name.
    ///
    /// A device whose own name is `name~2` keeps it.
    public static func unique(_ names: [String]) -> [String] {
        var taken = Set(names)
        var seen: Set<String> = []
        return names.map { name in
            guard !seen.insert(name).inserted else { return name }
            var number = 2
            while !taken.insert("\(name)~\(number)").inserted { number += 1 }
            return "\(name)~\(number)"
        }
    }

    /// The label of one more device, beside those that are taken.
    package static func next(_ name: String, after taken: [String]) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while taken.contains("\(name)~\(number)") { number += 1 }
        return "\(name)~\(number)"
    }
}
