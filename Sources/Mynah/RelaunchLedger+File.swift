import MynahCore
package import MynahLifecycle
import MynahSupport

// The file of the relaunch ledger in a phone's state directory.
extension RelaunchLedger: KeptContent {
    private static let version = 1
    /// The largest number that is accepted from a file, so that later causes can get a higher one.
    private static let highest = 1 << 40

    var fileName: String { "relaunch.json" }
    var subject: String { "what forbids the system to relaunch apps" }

    var json: JSON {
        .object([
            .init("mynahState", .integer(Self.version)),
            .init("turnedOff", .array(turnedOff.map { .string($0.rawValue) })),
            .init("causes", .object(causes.map { .init($0.kind.rawValue, .integer($0.number)) })),
            .init("apps", .object(apps.map { .init($0.name, .integer($0.number)) })),
        ])
    }

    init(json: JSON) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard let words = json["turnedOff"]?.arrayValue else {
            throw .init(description: "turnedOff is missing")
        }
        var turnedOff: [RelaunchCause] = []
        for word in words { turnedOff.append(try Self.kind(word.stringValue ?? "")) }
        var causes: [Cause] = []
        for (name, number) in try Self.numbers(json, "causes") {
            causes.append(Cause(try Self.kind(name), number))
        }
        let apps = try Self.numbers(json, "apps").map { KnownApp($0.name, $0.number) }
        self.init(turnedOff: turnedOff, causes: causes, apps: apps)
    }

    private static func kind(_ word: String) throws(PreservedStateProblem) -> RelaunchCause {
        guard let kind = RelaunchCause(rawValue: word) else {
            throw .init(description: "\"\(word)\" is no cause")
        }
        return kind
    }

    /// Reads the names and numbers in the object with this key.
    ///
    /// Throws if a number is lower than the one before it.
    private static func numbers(
        _ json: JSON, _ key: String
    ) throws(PreservedStateProblem) -> [(name: String, number: Int)] {
        guard case .object(let members)? = json[key] else {
            throw .init(description: "\(key) are missing")
        }
        var numbers: [(name: String, number: Int)] = []
        for member in members {
            let least = numbers.last?.number ?? 0
            guard let number = member.value.integerValue, (least...highest).contains(number) else {
                throw .init(
                    description: "\(member.key) of \(key) has no number from \(least) to \(highest)")
            }
            numbers.append((member.key, number))
        }
        return numbers
    }
}

extension PhoneControl {
    /// The `RelaunchLedger` that an earlier run saved; empty if the file cannot be used.
    package static func relaunchLedger(of phone: isolated Phone) -> RelaunchLedger {
        phone.files.load(insteadOf: RelaunchLedger(), warning: "relaunchUnusable") {
            json throws(PreservedStateProblem) in try RelaunchLedger(json: json)
        }
    }
}

extension AppAccess {
    /// Queues the saving of the ledger, if the phone has a state directory.
    package func save(_ ledger: RelaunchLedger) {
        _ = look { _, phone in phone.files.save(ledger) }
    }
}
