import MynahSupport
import Testing

@testable import MynahControl

/// Metrics and the report of marks.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIReportTests {
    @Test func `metrics count devices and events in the text format of Prometheus`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.write([1])
        try await phone.write([2])
        let answer = try await rig.send("GET /metrics")
        let lines = answer.text.split(separator: "\n")
        #expect(lines.contains("mynah_devices 1"))
        #expect(lines.contains(#"mynah_events_total{event="write"} 2"#))
        #expect(answer.text.hasSuffix("\n") && answer.type.hasPrefix("text/plain; version=0.0.4"))
        await rig.stop()
    }

    @Test func `a report has a case for each mark, as JSON and for JUnit`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await rig.send("POST /v1/mark", #"{"name": "a<\"b\">&\u0001"}"#)
        try await phone.write([1])
        try await rig.send("POST /v1/mark", #"{"name": "second"}"#)
        let json = try await rig.send("GET /v1/report").json["cases"]?.arrayValue ?? []
        #expect(json.map { $0["events"] } == [.integer(1), .integer(0)])
        #expect(try await rig.send("GET /v1/report?format=json").json["cases"] == .array(json))
        let junit = try await rig.send("GET /v1/report?format=junit")
        #expect(junit.type.hasPrefix("application/xml"))
        #expect(junit.text.contains(#"tests="2" failures="0""#))
        #expect(junit.text.contains("name=\"a&lt;&quot;b&quot;&gt;&amp;\u{FFFD}\""))
        await rig.stop()
    }
}
