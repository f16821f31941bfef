import MynahCore

/// Removes the least important parts of a profile that is too large to load.
///
/// No real device needs such a large profile, but a capture of file transfers, or a forged one, may lead to
/// one.
struct ProfileReduction {
    private enum Step {
        case longRules
        case rules(Int)
        case longValues
        case values
        case descriptors
        case services
    }

    private var steps: [Step] = [
        .rules(512), .longRules, .rules(128), .rules(16), .rules(4), .rules(0), .longValues, .values,
        .descriptors, .services,
    ]
    /// The minimum number of values of a long answer; long answers are removed first.
    private static let longAnswer = 64

    private var rules = 0
    private var values = 0
    private var descriptors = 0
    private var services = 0

    /// Notes about removed parts, each a sentence without its full stop.
    var notes: [String] {
        let parts = [
            ("answers to writes", rules), ("values", values), ("descriptors", descriptors),
            ("services", services),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        guard !parts.isEmpty else { return [] }
        let size = ProfileText.maximumSize >> 20
        return ["\(parts.joined(separator: ", ")) are left out: a profile has at most \(size) MiB"]
    }

    /// Removes the next least important parts; returns `false` if there are none.
    mutating func reduce(_ profile: inout ImportedProfile) -> Bool {
        guard let step = steps.first else { return false }
        if case .services = step {
            guard profile.services.count > 1 else { return false }
            removeServices(&profile, downTo: profile.services.count / 2)
            return true
        }
        steps.removeFirst()
        for service in profile.services.indices {
            for index in profile.services[service].characteristics.indices {
                reduce(&profile.services[service].characteristics[index], step)
            }
        }
        return true
    }

    private mutating func reduce(_ characteristic: inout ImportedProfile.Characteristic, _ step: Step) {
        switch step {
        case .longRules:
            let count = characteristic.rules.count
            characteristic.rules.removeAll { $0.answers.count > Self.longAnswer }
            rules += count - characteristic.rules.count
        case .rules(let count):
            rules += max(0, characteristic.rules.count - count)
            characteristic.rules = Array(characteristic.rules.prefix(count))
        case .longValues: removeValues(&characteristic, longerThan: 64)
        case .values: removeValues(&characteristic, longerThan: 0)
        case .descriptors:
            descriptors += characteristic.descriptors.count
            characteristic.descriptors = []
        case .services: break
        }
    }

    private mutating func removeValues(
        _ characteristic: inout ImportedProfile.Characteristic, longerThan limit: Int
    ) {
        if case .bytes(let bytes)? = characteristic.value, bytes.count > limit {
            characteristic.value = nil
            values += 1
        }
        for index in characteristic.descriptors.indices {
            guard let value = characteristic.descriptors[index].value, value.count > limit else { continue }
            characteristic.descriptors[index].value = nil
            values += 1
        }
    }

    private mutating func removeServices(_ profile: inout ImportedProfile, downTo count: Int) {
        services += profile.services.count - count
        profile.services.removeLast(profile.services.count - count)
        for index in profile.services.indices {
            profile.services[index].includes.removeAll { $0 >= count }
        }
    }
}
