import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl

/// Values, and what is done to devices.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIValueTests {
    @Test func `a value is set, sent and read`() async throws {
        let rig = try await APIRig()
        let phone = try await rig.connect()
        try await phone.subscribe("2A37")
        for path in ["2A37", "180D/2A37", "180d/heart-rate-measurement"] {
            let answer = try await rig.send(
                "PUT /v1/devices/Lock/values/\(path)", #"{"hex": "00 63", "notify": true}"#)
            #expect(answer.json.text == #"{"value":"0063","fields":{"heartRate":99},"sent":1}"#)
        }
        #expect(try await phone.values.take(3) == [[0, 99], [0, 99], [0, 99]])
        let fields = try await rig.send(
            "PUT /v1/devices/Lock/values/2A37",
            #"{"fields": {"heartRate": 300, "contact": true, "rrIntervals": ["0.5 s", 1]}}"#)
        #expect(fields.json["value"]?.stringValue == "172C0100020004", "\(fields.text)")
        let text = try await rig.send("PUT /v1/devices/Lock/values/2A39", #"{"text": "A"}"#)
        #expect(text.json.text == #"{"value":"41","fields":{"command":65},"sent":0}"#)
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"41","fields":{"command":65}}"#)
        await rig.stop()
    }

    @Test(arguments: [
        ("-9223372036854775808", true), ("18446744073709551615", true), ("9007199254740993", true),
        ("100000000000000000000", true), ("1.5e300", true),
        ("-9223372036854775809", false), ("18446744073709551616", false), ("9223372036854775807999", false),
    ])
    func `a variable has the digits that were sent, or the request is refused`(
        number: String, isTaken: Bool
    ) async throws {
        let rig = try await APIRig([APIRig.lock + "\nvariables: {serial: 1}\n"])
        let answer = try await rig.send("PUT /v1/devices/Lock/variables/serial", #"{"value": \#(number)}"#)
        #expect(answer.status == (isTaken ? 200 : 400))
        let kept = try await rig.send("GET /v1/devices/Lock").json["variables"]?["serial"]
        #expect(kept == (isTaken ? try JSON(parsing: Array(number.utf8)) : .integer(1)))
        if !isTaken { #expect(answer.detail.contains(number), "\(answer.detail)") }
        await rig.stop()
    }

    @Test func `a layout has the names of attributes and the fields of their values`() async throws {
        let text =
            APIRig.lock + """

                      - {uuid: 6D796E61-0201-4C61-8000-6C6162000000, properties: [read], value: {hex: 00}}
                """
        let rig = try await APIRig([text])
        let answer = try await rig.send("GET /v1/devices/Lock/layout")
        let attributes = answer.json["attributes"]?.arrayValue ?? []
        #expect(
            attributes.map { $0["path"]?.stringValue } == [
                "180D/2A37", "180D/2A38", "180D/2A39", "180D/6D796E61-0201-4C61-8000-6C6162000000",
            ])
        #expect(attributes.first?["names"] == .array(["Heart Rate", "Heart Rate Measurement"]))
        #expect(
            attributes.first?["fields"]?.arrayValue?.first?.text == """
                {"name":"heartRate","kind":"number","minimum":0,"maximum":65535,"step":1,"shortMaximum":255,\
                "unit":"bpm"}
                """)
        #expect(
            attributes.last?["names"] == .array(["Heart Rate", "6D796E61-0201-4C61-8000-6C6162000000"]))
        #expect(attributes.last?["fields"] == .array([]))
        #expect(try await rig.send("GET /v1/devices/Nothing/layout").status == 404)
        await rig.stop()
    }

    @Test func `links end, bonds go, advertising changes and an app changes its state`() async throws {
        let open = APIRig.lock.replacing("keyboardOnly", with: "noInputNoOutput")
        let rig = try await APIRig([open, APIRig.app])
        let phone = try await rig.connect()
        try await phone.pair()
        #expect(try await rig.send("POST /v1/devices/Lock/disconnect", "{}").status == 200)
        #expect(try await rig.send("POST /v1/devices/Lock/forget").status == 200)
        #expect(try await rig.send("GET /v1/devices/Lock").json["centrals"] == .array([]))
        let silent = try await rig.send("POST /v1/devices/Lock/advertise", #"{"on": false}"#)
        #expect(silent.json["advertising"]?["on"] == .bool(false))
        let renamed = try await rig.send(
            "POST /v1/devices/Lock/advertise",
            #"{"on": true, "localName": "Ned", "serviceUUIDs": ["180F", "heart-rate"]}"#)
        #expect(renamed.json["advertising"]?["data"]?.stringValue?.contains("0F180D18") == true)
        let background = try await rig.send("POST /v1/devices/App/app", #"{"state": "background"}"#)
        #expect(background.json["app"]?["state"] == "background")
        // The advertising of an app in the background has an interval of two ends, or none that is known.
        let terminated = try await rig.send("POST /v1/devices/App/app", #"{"state": "terminated"}"#)
        #expect(terminated.json["app"]?["state"] == "terminated")
        #expect(try await rig.send("GET /v1/devices/App/values/2A19").status < 500)
        await rig.stop()
    }
}
