import MynahSupport
import Testing

@testable import MynahControl

/// Faults over the API.
@Suite(.timeLimit(.minutes(15))) struct FaultAPITests {
    private static let faults =
        APIRig.lock + """

            faults:
              - {name: gone, on: write, of: 2A39, nth: 2, do: disconnect, off: true}
              - {name: lost values, on: notify, do: drop}
            """

    private func texts(_ answer: APIRig.Answer) -> [String] {
        (answer.json["faults"]?.arrayValue ?? []).map(\.text)
    }

    @Test func `the faults of a device are listed, turned on and off, added and removed`() async throws {
        let rig = try await APIRig([Self.faults])
        let profile = [
            #"{"name":"gone","off":true,"applied":0}"#, #"{"name":"lost values","off":false,"applied":0}"#,
        ]
        let listed = try await rig.send("GET /v1/devices/Lock/faults")
        #expect(listed.status == 200 && texts(listed) == profile)
        #expect(texts(try await rig.send("GET /v1/devices/Lock")) == profile)

        let on = try await rig.send("PATCH /v1/devices/Lock/faults/gone", #"{"off": false}"#)
        #expect(on.status == 200 && on.json.text == #"{"name":"gone","off":false,"applied":0}"#)
        let off = try await rig.send("PATCH /v1/devices/Lock/faults/lost%20values", #"{"off": true}"#)
        #expect(off.json["off"] == .bool(true))

        let fault = #"{"name": "slow", "on": "read", "of": "2A37", "times": 1, "error": "0x80"}"#
        let added = try await rig.send("POST /v1/devices/Lock/faults", fault)
        #expect(added.status == 201 && added.json.text == #"{"name":"slow","off":false,"applied":0}"#)
        #expect(try await rig.send("POST /v1/devices/Lock/faults", fault).status == 409)

        #expect(try await rig.send("DELETE /v1/devices/Lock/faults/gone").status == 200)
        #expect(try await rig.send("DELETE /v1/devices/Lock/faults/gone").status == 404)
        #expect(texts(try await rig.send("GET /v1/devices/Lock/faults")).count == 2)
        #expect(try await rig.send("POST /v1/reset", #"{"faults": true}"#).status == 200)
        #expect(texts(try await rig.send("GET /v1/devices/Lock/faults")) == profile)
        await rig.stop()
    }

    @Test func `a fault that a request turned on is applied, counted and in the journal`() async throws {
        let rig = try await APIRig([Self.faults])
        let phone = try await rig.connect()
        try await rig.send("PATCH /v1/devices/Lock/faults/gone", #"{"off": false}"#)
        try await phone.write([1])
        // The fault ends the link.
        _ = try? await phone.write([2])
        let found = try await rig.send(
            "POST /v1/wait", #"{"match": {"event": "fault.applied", "fault": "gone"}, "within": "30 s"}"#)
        #expect(found.json["events"]?.arrayValue?.first?["on"] == "write")
        let listed = try await rig.send("GET /v1/devices/Lock/faults")
        #expect(texts(listed).first == #"{"name":"gone","off":false,"applied":1}"#)
        await rig.stop()
    }

    @Test(arguments: [
        ("POST", "", "[]", "the body is not a JSON object"),
        (
            "POST", "", "{}",
            """
            a fault needs a name, which its events and a test call it by
            a fault needs on or after, as in on: read or after: 20 s
            a fault needs an effect: error, truncate, corrupt, value, mtu, do or delay
            """
        ),
        (
            "POST", "", #"{"name": "a"}"#,
            """
            a fault needs on or after, as in on: read or after: 20 s
            a fault needs an effect: error, truncate, corrupt, value, mtu, do or delay
            """
        ),
        (
            "POST", "", #"{"name": "a", "on": "read", "do": "drip"}"#,
            #"unknown effect "drip"; did you mean "drop"?"#
        ),
        (
            "POST", "", #"{"name": "a", "on": "read", "of": "2A39/2902", "error": 128}"#,
            #""2A39/2902" belongs to the radio, which has no faults for it"#
        ),
        (
            "POST", "", #"{"name": "a", "on": "read", "truncate": null}"#, "truncate is empty"
        ),
        ("PATCH", "/gone", "{}", #""off" is missing: true turns the fault off, false turns it on"#),
        ("PATCH", "/gone", #"{"on": true}"#, #"unknown member "on"; known are off"#),
        ("PATCH", "/gone", #"{"off": "no"}"#, #""off" must be true or false, not "no""#),
    ])
    func `a wrong request about faults is refused with the reason`(
        method: String, path: String, body: String, detail: String
    ) async throws {
        let rig = try await APIRig([Self.faults])
        let answer = try await rig.send("\(method) /v1/devices/Lock/faults\(path)", body)
        #expect(answer.status == 400 && answer.detail == detail, "\(answer.detail)")
        await rig.stop()
    }

    @Test func `a device or a fault that does not exist is 404`() async throws {
        let rig = try await APIRig()
        #expect(try await rig.send("GET /v1/devices/Lokc/faults").status == 404)
        let answer = try await rig.send("PATCH /v1/devices/Lock/faults/gone", #"{"off": true}"#)
        #expect(answer.status == 404 && answer.detail == #"Lock has no fault "gone"; it has none"#)
        #expect(texts(try await rig.send("GET /v1/devices/Lock/faults")) == [])
        await rig.stop()
    }
}
