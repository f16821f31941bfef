import MynahProfiles
import Testing

/// The parts of a profile whose number is limited.
@Suite struct ProfileLimitTests {
    /// A profile with so many of something.
    private static func text(_ limit: ProfileLimit, _ count: Int) -> String {
        func list(_ element: (Int) -> String) -> String { (0..<count).map(element).joined(separator: ", ") }
        return switch limit {
        case .answers:
            characteristic(
                "properties: [write, notify]\n        on: {write: [{answer: [\(list { _ in "{hex: 00}" })]}]}"
            )
        case .faults:
            characteristic(
                "properties: [read]\nfaults: [\(list { "{name: f\($0), on: read, delay: 1 ms}" })]")
        case .notifications:
            head("app: {}\nphone: {services: [ancs], notifications: [\(list { _ in "{app: a}" })]}\n")
        case .scenarios: head("scenarios: [\(list { "{name: s\($0), steps: [{after: 1 s}]}" })]\n")
        case .steps: head("scenarios: [{name: s, steps: [\(list { _ in "{after: 1 s}" })]}]\n")
        case .tracks: head("app: {}\nphone: {services: [ams], media: {tracks: [\(list { _ in "{}" })]}}\n")
        case .variables: head("variables: {\(list { "v\($0): 1" })}\n")
        case .variableBytes: head("variables: {v: \"\(String(repeating: "a", count: count))\"}\n")
        }
    }

    @Test(arguments: ProfileLimit.allCases)
    func `a profile has as many as the limit, and no more`(limit: ProfileLimit) {
        let errors = [limit.count, limit.count + 1].map { count in
            problems(Self.text(limit, count)).filter { $0.contains("error: ") }
        }
        #expect(errors[0] == [])
        #expect(errors[1].count == 1 && errors[1][0].contains("\(limit.count)"))
    }

    @Test func `a text that a scenario sets has the limit of a variable's`() {
        let limit = ProfileLimit.variableBytes.count
        func errors(_ count: Int) -> [String] {
            let text = String(repeating: "a", count: count)
            return problems(
                head("variables: {v: \"\"}\nscenarios: [{name: s, steps: [{set: {v: \"\(text)\"}}]}]\n"))
        }
        #expect(errors(limit) == [])
        #expect(errors(limit + 1).map { $0.hasSuffix("at most \(limit) are allowed") } == [true])
    }
}
