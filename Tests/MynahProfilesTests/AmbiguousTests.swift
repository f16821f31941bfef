import Testing

@testable import MynahProfiles

/// Writings that mean something else than they seem to.
@Suite struct AmbiguousTests {
    private static func rule(_ rule: String) -> String {
        """
        mynah: 1
        name: Test
        variables: {level: 1}
        services:
          - uuid: FFE0
            characteristics:
              - uuid: FFE1
                properties: [read, write, notify]
                value: {layout: [{n: uint16}], fields: {n: 400}}
                on: {write: [\(rule)]}
        """
    }

    @Test func `a number that begins with zero is a warning wherever a field or a variable has it`() {
        let value = "value: {layout: [{n: uint16}], fields: {n: 0400}}"
        #expect(
            problems(characteristic("properties: [read]\n        \(value)"))
                == ["8:52: warning: n 0400 is the number 400; write 400, or 0x0400"])
        #expect(problems(head("variables: {n: 007}\nservices: [{uuid: FFE0}]\n")).count == 1)
        #expect(problems(Self.rule("{match: {n: 0400}, notify: now}")).count == 1)
        #expect(problems(Self.rule("{when: level == 01, notify: now}")).count == 1)
        #expect(problems(Self.rule("{match: {n: 0}, when: level == 0, notify: now}")) == [])
    }

    @Test(arguments: [
        (#"{"<": 3, ">": 5}"#, "no n can be > 5 and < 3: this never matches"),
        (#"{"<=": 3, ">": 3}"#, "no n can be > 3 and <= 3: this never matches"),
        (#"{"<=": 3, ">=": 3}"#, nil), (#"{">": 3, "<": 5}"#, nil),
    ])
    func `a match that no number has is a warning`(match: String, message: String?) {
        #expect(
            problems(Self.rule("{match: {n: \(match)}, notify: now}"))
                == (message.map { ["10:34: warning: " + $0] } ?? []))
    }

    @Test(arguments: [
        ("[now]", "now is no element of a list; write notify: now, or a list as in [2A37]"),
        ("Now", "notify has no \"Now\"; write notify: now"),
        ("FFE9", "notify: the device has no FFE9"),
    ])
    func `now is one word and a characteristic's`(notify: String, message: String) {
        let found = problems(Self.rule("{notify: \(notify)}"))
        #expect(found.count == 1 && found[0].contains("error: \(message)"), "\(found)")
    }

    @Test func `a rule of the device has no characteristic of its own`() {
        #expect(
            problems(head("on: {connect: [{notify: now}]}\nservices: [{uuid: FFE0}]\n")) == [
                "3:25: error: now is a rule's own characteristic, and the device has none; name one, as in "
                    + "notify: 2A37"
            ])
    }
}
