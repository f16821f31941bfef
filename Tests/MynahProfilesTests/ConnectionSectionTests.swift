import MynahCore
import MynahTestSupport
import Testing

@testable import MynahProfiles

/// The section `connection`, with the connection parameters that an accessory requests.
@Suite struct ConnectionSectionTests {
    private static func read(_ connection: String, app: String = "") throws(ProfileIssues) -> Profile {
        try ProfileLoader.load(
            text: "mynah: 1\nname: P\n\(app)connection: \(connection)\n", file: "p.yaml")
    }

    private static func errors(_ connection: String, app: String = "") -> [String] {
        do throws(ProfileIssues) {
            _ = try read(connection, app: app)
            return []
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test(
        arguments: [
            ("{interval: 30 ms, timeout: 4 s}", [24, 24, 0, 400], 1000),
            (
                "{interval: {min: 7.5 ms, max: 4 s}, latency: 0, timeout: 32 s, after: 0 s}",
                [6, 3200, 0, 3200], 0
            ),
            ("{interval: {min: 15 ms, max: 30 ms}, latency: 30, timeout: 1.87 s}", [12, 24, 30, 187], 1000),
        ] as [(String, [UInt16], Int)])
    func `the parameters are read in the units of the specification`(
        text: String, numbers: [UInt16], delay: Int
    ) throws {
        let request = try #require(try Self.read(text).parameterRequest)
        let wanted = request.wanted
        #expect([wanted.minimum, wanted.maximum, wanted.latency, wanted.timeout] == numbers)
        #expect(request.delay == .milliseconds(delay))
    }

    private static let wrong: [(connection: String, message: String)] = [
        ("{timeout: 4 s}", "3:13: error: connection needs an interval, as in"),
        ("{interval: 30 ms}", "3:13: error: connection needs a supervision timeout, as in timeout: 4 s"),
        ("{interval: {max: 30 ms}, timeout: 4 s}", "3:24: error: an interval needs min"),
        ("{interval: {min: 30 ms}, timeout: 4 s}", "3:24: error: an interval needs max"),
        (
            "{interval: {min: 30 ms, max: 15 ms}, timeout: 4 s}",
            "3:42: error: max must not be below min"
        ),
        ("{interval: 5 ms, timeout: 4 s}", "error: interval must be at least 7.5 ms"),
        ("{interval: 5 s, timeout: 4 s}", "error: interval must be at most 4 s"),
        (
            "{interval: 31 ms, timeout: 4 s}",
            "3:24: error: interval must be a multiple of 1.25 ms, as 30 ms"
        ),
        ("{interval: 30 ms, timeout: 4.005 s}", "error: timeout must be a multiple of 10 ms, as 4 s"),
        ("{interval: 30 ms, timeout: 90 ms}", "error: timeout must be at least 100 ms"),
        (
            "{interval: 30 ms, latency: 500, timeout: 4 s}",
            "error: latency must be between 0 and 499, not 500"
        ),
        (
            "{interval: 30 ms, latency: 99, timeout: 6 s}",
            "3:53: error: timeout must be longer than 2 × the longest interval × (latency + 1), which is 6 s"
        ),
        ("{interval: 30 ms, timeout: 4 s, delay: 1 s}", "error: unknown key \"delay\""),
    ]

    @Test(arguments: wrong.indices) func `each mistake is said where it is`(_ number: Int) {
        let (connection, message) = Self.wrong[number]
        let errors = Self.errors(connection)
        #expect(errors.count == 1 && errors[0].contains(message), "\(errors)")
    }

    @Test func `an app requests nothing`() {
        let errors = Self.errors("{interval: 30 ms, timeout: 4 s}", app: "app: {}\n")
        #expect(errors.count == 1 && errors[0].contains("4:13: error: connection is for accessories"))
    }

    @Test func `a radio that requests nothing leaves it out, and that is a warning`() throws {
        let profile = try Self.read("{interval: 30 ms, timeout: 4 s}")
        var capabilities = RadioCapabilities(name: "BlueZ")
        #expect(profile.issues(with: capabilities, isChosen: true).isEmpty)
        capabilities.requestsConnectionLatency = false
        let issues = profile.issues(with: capabilities, isChosen: true)
        #expect(issues.map(\.severity) == [.warning])
        #expect(issues.first?.message.hasPrefix("BlueZ leaves out connection, because") == true)
    }
}
