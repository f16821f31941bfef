import MynahProfiles
import Testing
import MynahSupport

@Suite struct DurationTextTests {
    @Test(
        "a number and a unit are a duration",
        arguments: [
            ("100 ms", .milliseconds(100)), ("100ms", .milliseconds(100)), (" 1 s ", .seconds(1)),
            ("2 min", .seconds(120)), ("1h", .seconds(3600)), ("1.5 h", .seconds(5400)),
            ("8784 h", .seconds(8784 * 3600)),
            ("1.5 s", .milliseconds(1500)), ("181.25 ms", .microseconds(181_250)),
            ("0.5 us", .nanoseconds(500)),
            ("0 s", .zero), ("0.000000001 s", .nanoseconds(1)), ("527040 min", .seconds(527040 * 60)),
        ] as [(String, Duration)])
    func parses(_ text: String, _ expected: Duration) throws {
        #expect(try DurationText.parse(text) == expected)
    }

    private static let tooLong = "is longer than a year; the maximum is 8784 h"

    @Test(
        "what is no duration says why",
        arguments: [
            ("", "must be a duration such as 100 ms, not \"\""),
            ("ms", "must be a duration such as 100 ms, not \"ms\""),
            ("-1 s", "must be a duration such as 100 ms, not \"-1 s\""),
            ("1", "has no unit; write 1 us, 1 ms, 1 s, 1 min or 1 h"),
            ("1 d", "has the unknown unit \"d\"; units are us, ms, s, min and h"),
            ("1 S", "has the unknown unit \"S\"; units are us, ms, s, min and h"),
            ("1.2.3 s", "must be a duration such as 100 ms, not \"1.2.3 s\""),
            (".5 s", "must be a duration such as 100 ms, not \".5 s\""),
            ("1. s", "must be a duration such as 100 ms, not \"1. s\""),
            ("99999999999999999999 s", tooLong), ("9999999999999 min", tooLong), ("8785 h", tooLong),
            ("8784.5 h", tooLong), ("8784.000000001 h", tooLong),
            ("1.0000000001 s", "has at most nine decimals, unlike \"1.0000000001 s\""),
            ("٣ s", "must be a duration such as 100 ms, not \"٣ s\""),
        ])
    func refuses(_ text: String, _ message: String) {
        let problem = #expect(throws: DurationText.Problem.self) { try DurationText.parse(text) }
        #expect(problem?.message == message)
    }

    @Test(
        "a duration is written in the largest unit that it has whole, or in milliseconds",
        arguments: [
            (.milliseconds(100), "100 ms"), (.seconds(60), "1 min"), (.seconds(90), "90 s"),
            (.seconds(7200), "2 h"),
            (.microseconds(181_250), "181.25 ms"), (.microseconds(7500), "7.5 ms"),
            (.microseconds(1250), "1.25 ms"), (.microseconds(625), "625 us"), (.microseconds(1), "1 us"),
            (.nanoseconds(500), "0.0005 ms"), (.zero, "0 s"),
        ] as [(Duration, String)])
    func formats(_ duration: Duration, _ expected: String) throws {
        #expect(duration.text == expected)
        #expect(try DurationText.parse(expected) == duration)
    }
}
