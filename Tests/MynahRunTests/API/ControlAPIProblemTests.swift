import MynahSupport
import Testing

@testable import MynahControl

/// Requests of the API that cannot be done.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIProblemTests {
    @Test func `a path that does not exist is 404, and names the document`() async throws {
        let rig = try await APIRig()
        let answer = try await rig.send("GET /v1/devises")
        #expect(answer.status == 404)
        #expect(answer.detail == "there is no path /v1/devises; GET /v1/openapi.json lists all of them")
        await rig.stop()
    }

    @Test func `a method that a path does not take is 405 with Allow`() async throws {
        let rig = try await APIRig()
        let answer = try await rig.send("PATCH /v1/devices/Lock")
        #expect(answer.status == 405)
        #expect(answer.headers["Allow"] == "GET, DELETE")
        #expect(answer.detail == "/v1/devices/Lock takes GET, DELETE, not PATCH")
        await rig.stop()
    }

    private static let noYAML = """
        a profile in YAML is added by its file's path, as in {"profile": "lock.yaml"}, or as JSON, as in \
        {"profile": {"mynah": 1, "name": "Lock"}}
        """

    @Test(arguments: [
        ("GET /v1/devices/Lokc", "", 404, #"there is no device "Lokc"; did you mean "Lock"?"#),
        ("GET /v1/devices?x=1", "", 400, #"unknown query parameter "x"; there are none"#),
        ("GET /v1/events?sinse=1", "", 400, #"unknown query parameter "sinse"; did you mean "since"?"#),
        ("GET /v1/report?format=junot", "", 400, #"unknown format "junot"; did you mean "junit"?"#),
        ("POST /v1/reset", #"{"valeus": true}"#, 400, #"unknown member "valeus"; did you mean "values"?"#),
        (
            "POST /v1/wait", #"{"match": "read", "coun": 1}"#, 400,
            #"unknown member "coun"; did you mean "count"?"#
        ),
        ("POST /v1/mark", "[]", 400, "the body is not a JSON object"),
        (
            "POST /v1/devices/Lock/advertise", "", 400,
            #"there is no change: give "on", or what is to be advertised, as "localName""#
        ),
        ("POST /v1/mark", "{}", 400, #""name" is missing: give the name of the mark"#),
        (
            "POST /v1/mark", #"{"name": "\u200b "}"#, 400,
            #""name" has no visible character; give the mark another name"#
        ),
        (
            "POST /v1/devices/Lock/advertise", #"{"localName": "\u3164"}"#, 400,
            "localName has no visible character"
        ),
        (
            "POST /v1/devices/Lock/advertise", #"{"localName": "\u0301"}"#, 400,
            "localName has no visible character"
        ),
        (
            "POST /v1/mark", #"{"name": "\ue000"}"#, 400,
            #""name" has no visible character; give the mark another name"#
        ),
        (
            "POST /v1/wait", #"{"match": "read", "count": 18446744073709551616}"#, 400,
            """
            the body, byte 27: the whole number 18446744073709551616 needs more than 64 bits; where \
            a number may be rounded, write 1.8446744073709552e+19
            """
        ),
        (
            "POST /v1/devices/Lock/advertise", #"{"localName": "a\u001b"}"#, 400,
            "localName has a control character in it"
        ),
        ("POST /v1/devices", "{}", 400, #""profile" is missing: a profile as an object, or its file's path"#),
        ("POST /v1/devices", "mynah: 1\nname: Lock\n", 400, noYAML),
        ("POST /v1/devices", ##"{"profile": "# Mine\nmynah: 1\nname: Lock\n"}"##, 400, noYAML),
        ("POST /v1/devices", #"{"profile": "{mynah: 1, name: Lock}"}"#, 400, noYAML),
        ("POST /v1/devices", "name: Lock", 400, "the body is not JSON: a value is expected at byte 0"),
        ("GET /v1/devices/Lock/values/2A00", "", 404, "the device has no 2A00"),
        (
            "PUT /v1/devices/Lock/values/2A39", "{}", 400,
            #"there is no value: give "hex", "text" or "fields""#
        ),
        (
            "PUT /v1/devices/Lock/values/2A39", #"{"hex": "00", "text": "a"}"#, 400,
            #"only one of "hex", "text" and "fields" is allowed"#
        ),
        (
            "PUT /v1/devices/Lock/values/2A37", #"{"fields": {"heartrate": 72}}"#, 400,
            #"unknown key "heartrate" in fields; did you mean "heartRate"?"#
        ),
        (
            "PUT /v1/devices/Lock/values/2A37/2901", #"{"fields": {"text": "A"}}"#, 404,
            "the device has no 2A37/2901"
        ),
        (
            "PUT /v1/devices/Lock/values/2A39", #"{"hex": "0"}"#, 400,
            #""hex" must be hexadecimal, as in "01 ff", not 0"#
        ),
        (
            "PUT /v1/devices/Lock/values/2A39", #"{"hex": "010203"}"#, 400,
            "the value has 3 bytes and 180D/2A39 takes 2 at most"
        ),
        (
            "PUT /v1/devices/Lock/values/2A37", #"{"hex": "00", "to": "x"}"#, 400,
            #""to" names who is notified, so it needs "notify": true"#
        ),
        (
            "POST /v1/devices/Lock/disconnect", #"{"reason": "21"}"#, 400,
            #""reason" must be an error code, as in "0x15", not 21"#
        ),
        (
            "POST /v1/devices/Lock/app", #"{"state": "backgruond"}"#, 400,
            #"unknown state "backgruond"; did you mean "background"?"#
        ),
        (
            "POST /v1/devices/Lock/app", #"{"state": "background"}"#, 409,
            "Lock is an accessory: no app plays it"
        ),
        (
            "POST /v1/devices/Lock/passkey", #"{"passkey": "+12345", "central": "x"}"#, 400,
            #""passkey" is a number of six digits, as in "042042""#
        ),
        (
            "POST /v1/devices/Lock/passkey", #"{"passkey": "042042"}"#, 400,
            #""central" is missing: the address or name in pairing.passkey"#
        ),
    ])
    func `a request that cannot be done is a problem that says why`(
        line: String, body: String, status: Int, detail: String
    ) async throws {
        let rig = try await APIRig()
        let answer = try await rig.send(line, body)
        #expect(answer.status == status)
        #expect(answer.detail == detail)
        await rig.stop()
    }

    @Test(arguments: [
        ("POST", "/v1/devices/Lock/advertise", #"{"serviceUUIDs": ["180D", 7]}"#, 400),
        ("POST", "/v1/devices/Lock/disconnect", #"{"central": "11:22"}"#, 404),
        ("POST", "/v1/devices/Lock/disconnect", #"{"reason": "0x00"}"#, 400),
        ("POST", "/v1/devices/Lock/disconnect", #"{"reason": 21}"#, 400),
        ("POST", "/v1/devices/Lock/forget", #"{"central": "11:22"}"#, 404),
        ("POST", "/v1/devices/Lock/forget", #"{"peripheral": "Strap"}"#, 404),
        ("POST", "/v1/devices/Lock/forget", #"{"central": "11:22", "peripheral": "Strap"}"#, 400),
        ("POST", "/v1/wait", #"{"match": "raed"}"#, 400),
        ("POST", "/v1/wait", #"{"match": "read", "within": "11 min"}"#, 400),
        ("POST", "/v1/wait", #"{"match": "read", "since": 9999}"#, 400),
        ("POST", "/v1/verify", #"{"match": "read", "never": true, "exactly": 1}"#, 400),
        ("POST", "/v1/verify", "{", 400),
        ("POST", "/v1/devices", #"{"profile": 3}"#, 400),
        ("POST", "/v1/devices", #"{"profile": {"mynah": 1}}"#, 400),
        ("POST", "/v1/devices", #"{"profile": {}, "seed": -1}"#, 400),
        ("DELETE", "/v1/devices/Nobody", "", 404),
    ])
    func `other requests that cannot be done are problems too`(
        method: String, path: String, body: String, status: Int
    ) async throws {
        let rig = try await APIRig()
        let answer = try await rig.send("\(method) \(path)", body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(!answer.detail.isEmpty)
        await rig.stop()
    }
}
