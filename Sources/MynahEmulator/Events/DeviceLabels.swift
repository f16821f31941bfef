/// The names of a run's devices in events.
public enum DeviceLabels {
    /// Returns a label for each name, in order: the name itself, and `name~2`, `name~3` for duplicates.
    ///
    /// A device whose own name is `name~2` keeps it.
    public static func unique(_ names: [String]) -> [String] {
        var taken = Set(names)
        // The number of the last device with each name.
        var numbers: [String: Int] = [:]
        return names.map { name in
            guard var number = numbers[name] else {
                numbers[name] = 1
                return name
            }
            repeat { number += 1 } while !taken.insert("\(name)~\(number)").inserted
            numbers[name] = number
            return "\(name)~\(number)"
        }
    }

    /// Returns the label of a new device, which differs from those in `taken`.
    package static func next(_ name: String, after taken: [String]) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while taken.contains("\(name)~\(number)") { number += 1 }
        return "\(name)~\(number)"
    }
}
