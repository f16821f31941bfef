import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl

/// The requests of the API and their answers; the rig compares each with the route's schema.
@Suite(.timeLimit(.minutes(15))) struct ControlAPITests {
    // MARK: Requests that cannot be done

    @Test func `a path that does not exist is 404, and names the document`() async throws {
        let rig = try await APIRig()
        let answer = try await rig.send("GET /v1/devises")
        #expect(answer.status == 404)
        #expect(answer.detail == "there is no path /v1/devises; GET /v1/openapi.json lists all of them")
        await rig.run.stop()
    }

    @Test func `a method that a path does not take is 405 with Allow`() async throws {
        let rig = try await APIRig()
        let answer = try await rig.send("PATCH /v1/devices/Lock")
        #expect(answer.status == 405)
        #expect(answer.headers["Allow"] == "GET, DELETE")
        #expect(answer.detail == "/v1/devices/Lock takes GET, DELETE, not PATCH")
        await rig.run.stop()
    }

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
            #"there is no change: give "on", "localName" or "serviceUUIDs""#
        ),
        ("POST /v1/mark", "{}", 400, #""name" is missing: give the name of the mark"#),
        ("POST /v1/devices", "{}", 400, #""profile" is missing: a profile as an object, or its file's path"#),
        ("GET /v1/devices/Lock/values/2A00", "", 404, "the device has no 2A00"),
        (
            "PUT /v1/devices/Lock/values/2A39", "{}", 400,
            #"there is no value: give "hex", "text" or "fields""#
        ),
        (
            "PUT /v1/devices/Lock/values/2A39", #"{"hex": "00", "text": "a"}"#, 400,
            #""hex", "text" and "fields" exclude each other"#
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
        await rig.run.stop()
    }

    @Test(arguments: [
        ("POST", "/v1/devices/Lock/advertise", #"{"serviceUUIDs": ["180D", 7]}"#, 400),
        ("POST", "/v1/devices/Lock/disconnect", #"{"central": "11:22"}"#, 404),
        ("POST", "/v1/devices/Lock/disconnect", #"{"reason": "0x00"}"#, 400),
        ("POST", "/v1/devices/Lock/disconnect", #"{"reason": 21}"#, 400),
        ("POST", "/v1/devices/Lock/forget", #"{"central": "11:22"}"#, 404),
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
        await rig.run.stop()
    }

    // MARK: The instance and its devices

    @Test func `the instance, its health and its document are answered`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.lock])
        let instance = try await rig.send("GET /v1")
        #expect(instance.json.text == #"{"mynah":"1.2.3","radios":["fake"],"devices":["Lock","Lock~2"]}"#)
        #expect(try await rig.send("GET /v1/health").json.text == #"{"status":"ok","devices":2}"#)
        #expect(
            try await rig.send("GET /v1/openapi.json").json.text == OpenAPI.document(version: "1.2.3").text)
        await rig.run.stop()
    }

    @Test func `a device is found by its name and by its file's`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        for name in ["Lock", "lock-file", "App", "app-file"] {
            #expect(try await rig.send("GET /v1/devices/\(name)").status == 200)
        }
        let list = try await rig.send("GET /v1/devices").json["devices"]?.arrayValue ?? []
        #expect(list.map { $0["device"] } == ["Lock", "App"])
        #expect(list.map { $0["app"]?["state"] } == [nil, "foreground"])
        await rig.run.stop()
    }

    @Test func `a device's name in events goes before the name of another device's file`() async throws {
        let other = APIRig.lock.replacing("name: Lock", with: "name: lock-file")
        let rig = try await APIRig([APIRig.lock, other])
        let answer = try await rig.send("GET /v1/devices/lock-file")
        #expect(answer.json["device"]?.stringValue == "lock-file")
        await rig.run.stop()
    }

    @Test func `a device with a connected central has everything that is known of it`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        let radio = try rig.radio()
        await radio.simulate(.mtuChanged(rig.peer.id, 185))
        await radio.simulate(.subscribed(try await rig.key("2A37"), rig.peer.id, .notification))
        let device = try await rig.send("GET /v1/devices/Lock").json
        let central = device["centrals"]?.arrayValue?.first
        #expect(central?["mtu"] == .integer(185) && central?["subscriptions"] == .array(["180D/2A37"]))
        await rig.run.stop()
    }

    @Test func `a device is added as an object, and removed`() async throws {
        let rig = try await APIRig()
        let profile = """
            {"profile": {"mynah": 1, "name": "Lock", "services": [{"uuid": "180F", "characteristics":
            [{"uuid": "2A19", "properties": ["read"], "value": {"hex": "64"}}]}]}, "seed": 7}
            """
        let added = try await rig.send("POST /v1/devices", profile, isUnixSocket: false)
        #expect(added.status == 201)
        #expect(added.json["device"] == "Lock~2")
        #expect(
            try await rig.send("GET /v1/devices/Lock~2/values/2A19").json.text
                == #"{"value":"64","fields":{"level":100}}"#)
        #expect(try await rig.send("DELETE /v1/devices/Lock~2").status == 200)
        #expect(try await rig.send("DELETE /v1/devices/Lock~2").status == 404)
        #expect(rig.run.devices.map(\.label) == ["Lock"])
        await rig.run.stop()
    }

    // MARK: Profiles' files

    @Test func `a file is named over a Unix socket, and over TCP only in the directory of profiles`()
        async throws
    {
        let (inside, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        for directory in [inside, outside] { try directory.write(APIRig.lock, to: "lock.yaml") }
        let linked = symlink("\(outside.path)/lock.yaml", "\(inside.path)/link.yaml") == 0
        try #require(linked)
        let rig = try await APIRig([], directory: inside.path)
        let name = outside.path.split(separator: "/").last.map(String.init) ?? ""
        for path in [
            "\(outside.path)/lock.yaml", "link.yaml", "\(inside.path)/link.yaml", "../\(name)/lock.yaml",
            "\(inside.path)/../\(name)/lock.yaml", "missing.yaml", "/nowhere/lock.yaml", "", ".", "..",
        ] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 403, "\(path)")
            // It does not tell whether the file is there.
            #expect(!answer.detail.contains("mynah-state") && !answer.detail.contains("No such"))
        }
        #expect(rig.run.devices.isEmpty)
        for path in ["lock.yaml", "\(inside.path)/lock.yaml", "./lock.yaml"] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 201, "\(path)")
        }
        let trusted = try await rig.send("POST /v1/devices", #"{"profile": "\#(outside.path)/lock.yaml"}"#)
        #expect(trusted.status == 201)
        await rig.run.stop()
    }

    @Test func `without a directory of profiles no file is named over TCP`() async throws {
        let rig = try await APIRig([])
        for path in ["/etc/passwd", "lock.yaml", "/"] {
            let answer = try await rig.send(
                "POST /v1/devices", #"{"profile": "\#(path)"}"#, isUnixSocket: false)
            #expect(answer.status == 403, "\(path)")
        }
    }

    // MARK: Values and actions

    @Test func `a value is set, sent and read`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        let radio = try rig.radio()
        await radio.simulate(.subscribed(try await rig.key("2A37"), rig.peer.id, .notification))
        for path in ["2A37", "180D/2A37", "180d/heart-rate-measurement"] {
            let answer = try await rig.send(
                "PUT /v1/devices/Lock/values/\(path)", #"{"hex": "00 63", "notify": true}"#)
            #expect(answer.json.text == #"{"value":"0063","fields":{"heartRate":99},"sent":1}"#)
        }
        #expect(await radio.sent.map(\.value) == [[0, 99], [0, 99], [0, 99]])
        let fields = try await rig.send(
            "PUT /v1/devices/Lock/values/2A37",
            #"{"fields": {"heartRate": 300, "contact": true, "rrIntervals": ["0.5 s", 1]}}"#)
        #expect(fields.json["value"]?.stringValue == "172C0100020004", "\(fields.text)")
        let text = try await rig.send("PUT /v1/devices/Lock/values/2A39", #"{"text": "A"}"#)
        #expect(text.json.text == #"{"value":"41","fields":{"command":65},"sent":0}"#)
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"41","fields":{"command":65}}"#)
        await rig.run.stop()
    }

    @Test func `links end, bonds go, advertising changes and an app changes its state`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        try await rig.connect()
        await (try rig.radio()).bond(rig.peer)
        #expect(try await rig.send("POST /v1/devices/Lock/disconnect", "{}").status == 200)
        #expect(try await rig.send("POST /v1/devices/Lock/forget").status == 200)
        #expect(await (try rig.radio()).bondedAddresses == [])
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
        await rig.run.stop()
    }

    // MARK: Requests

    private static let asking = """
        mynah: 1
        name: Lock
        advertising: {serviceUUIDs: [180D]}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read], ask: [read]}
              - {uuid: 2A39, properties: [read, write], value: {hex: "00"}, maxLength: 2, ask: [write]}
        """

    @Test func `requests are answered by their numbers, which are unique over all devices`() async throws {
        let rig = try await APIRig([Self.asking, Self.asking])
        var reads: [Task<PendingReply.Outcome?, any Error>] = []
        for (index, label) in ["Lock", "Lock~2"].enumerated() {
            let radio = try rig.radio(label)
            await radio.simulate(.connected(rig.peer))
            let read = ReadRequest(central: rig.peer.id, attribute: try await rig.key("2A37", of: label))
            reads.append(Task { try await radio.request(.read(read)) })
            let asked = try await rig.send(
                "POST /v1/wait",
                #"{"match": {"event": "request.asked", "device": "\#(label)"}, "within": "10 min"}"#)
            #expect(asked.json["events"]?.arrayValue?.first?["id"] == .integer(index + 1))
        }
        let late = try await rig.send("POST /v1/requests/2/answer", #"{"text": "A"}"#)
        #expect(late.status == 200 && late.json.text == "{}")
        let empty = try await rig.send("POST /v1/requests/1/answer", "{}")
        #expect(empty.status == 400)
        #expect(empty.detail == "request 1 is a read: answer it with a value or an error")
        #expect(try await rig.send("POST /v1/requests/1/answer", #"{"hex": "01 02"}"#).status == 200)
        #expect(try await reads[0].value == .success([1, 2]))
        #expect(try await reads[1].value == .success([0x41]))
        let again = try await rig.send("POST /v1/requests/1/answer", #"{"hex": "01 02"}"#)
        #expect(again.status == 409 && again.detail == "request 1 was answered before")
        await rig.run.stop()
    }

    @Test(
        arguments: [
            ("unlikelyError", 0x0E), ("0x80", 0x80), ("0x1", 0x01), ("insufficientAuthorization", 0x08),
            ("invalidPDU", 0x04), ("0xff", 0xFF),
        ] as [(String, UInt8)])
    func `a write is refused with an error, by its name or its code`(error: String, code: UInt8) async throws
    {
        let rig = try await APIRig([Self.asking])
        try await rig.connect()
        let part = WriteRequest.Part(attribute: try await rig.key("2A39"), value: [1])
        let radio = try rig.radio()
        let write = Task {
            try await radio.request(
                .write(WriteRequest(central: rig.peer.id, parts: [part], wantsResponse: true)))
        }
        try await rig.send("POST /v1/wait", #"{"match": "request.asked by=write", "within": "10 min"}"#)
        let answer = try await rig.send("POST /v1/requests/1/answer", #"{"error": "\#(error)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await write.value == .failure(ATTError(code: code)))
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"00","fields":{"command":0}}"#)
        await rig.run.stop()
    }

    @Test(arguments: [
        ("7", "{}", 404, "there is no request 7"), ("x", "{}", 404, "there is no request x"),
        ("99999999999999999999", "{}", 404, "there is no request 99999999999999999999"),
        ("0", "{}", 404, "there is no request 0"), ("-1", "{}", 404, "there is no request -1"),
        ("1", #"{"error": "0x80", "hex": "00"}"#, 400, #""error" excludes "hex", "text" and "fields""#),
        (
            "1", #"{"hex": "00", "text": "a"}"#, 400,
            #""hex", "text" and "fields" exclude each other"#
        ),
        ("1", #"{"eror": "0x80"}"#, 400, #"unknown member "eror"; did you mean "error"?"#),
        ("1", #"{"error": 128}"#, 400, #""error" must be text, not 128"#),
        (
            "1", #"{"error": "0x00"}"#, 400,
            #""error" must be an ATT error, as in "0x80" or "insufficientAuthorization", not 0x00"#
        ),
        (
            "1", #"{"error": "unlikelyEror"}"#, 400,
            """
            "error" must be an ATT error, as in "0x80" or "insufficientAuthorization", not unlikelyEror; did \
            you mean "unlikelyError"?
            """
        ),
    ])
    func `an answer that cannot be given is a problem`(
        id: String, body: String, status: Int, detail: String
    ) async throws {
        let rig = try await APIRig([Self.asking])
        let answer = try await rig.send("POST /v1/requests/\(id)/answer", body)
        #expect(answer.status == status)
        #expect(answer.detail == detail)
        await rig.run.stop()
    }

    @Test(arguments: ["01", "+1", "1.0", "0x1"])
    func `a number of a request has one spelling`(id: String) async throws {
        let rig = try await APIRig([Self.asking])
        try await rig.connect()
        let key = try await rig.key("2A37")
        let (radio, central) = (try rig.radio(), rig.peer.id)
        let read = Task { try await radio.request(.read(ReadRequest(central: central, attribute: key))) }
        try await rig.send("POST /v1/wait", #"{"match": "request.asked id=1", "within": "10 min"}"#)
        let answer = try await rig.send("POST /v1/requests/\(id)/answer", #"{"hex": "01"}"#)
        #expect(answer.status == 404 && answer.detail == "there is no request \(id)")
        #expect(try await rig.send("POST /v1/requests/1/answer", #"{"hex": "02"}"#).status == 200)
        #expect(try await read.value == .success([2]))
        await rig.run.stop()
    }

    // MARK: Events

    @Test func `a wait finds an event that has happened, and goes on from its next`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        try await rig.write([2])
        let first = try await rig.send("POST /v1/wait", #"{"match": "write value=01"}"#)
        #expect(first.json["events"]?.arrayValue?.compactMap { $0["value"] } == ["01"])
        let next = try #require(first.json["next"]?.integerValue)
        let second = try await rig.send(
            "POST /v1/wait",
            #"{"match": {"event": "write", "device": "lock-file"}, "since": \#(next), "within": "10 min"}"#)
        #expect(second.json["events"]?.arrayValue?.compactMap { $0["value"] } == ["02"])
        await rig.run.stop()
    }

    @Test func `a wait ends with an event that comes later`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        async let answer = rig.send("POST /v1/wait", #"{"match": "write value=07", "within": "10 min"}"#)
        try await rig.write([7])
        #expect(try await answer.json["events"]?.arrayValue?.count == 1)
        await rig.run.stop()
    }

    @Test func `a wait in vain says what came nearest and what was seen`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        let answer = try await rig.send("POST /v1/wait", #"{"match": "write value=02", "within": "0 s"}"#)
        #expect(answer.status == 408)
        #expect(answer.json["nearest"]?.arrayValue?.first?["differs"] == .array(["value"]))
        #expect(answer.json["seen"]?["write"] == .integer(1))
        await rig.run.stop()
    }

    @Test func `a verification counts what has happened since the last mark`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        let mark = try await rig.send("POST /v1/mark", #"{"name": "second"}"#)
        try await rig.write([2])
        let one = try await rig.send("POST /v1/verify", #"{"match": "write", "exactly": 1}"#)
        #expect(one.json.text == #"{"count":1}"#)
        let never = try await rig.send("POST /v1/verify", #"{"match": "write", "never": true}"#)
        #expect(never.status == 422)
        #expect(never.json["timeline"]?.arrayValue?.count == 1)
        let all = try await rig.send(
            "POST /v1/verify",
            #"{"order": ["write value=01", {"event": "write", "value": "02"}], "since": 1}"#)
        #expect(all.status == 200)
        let page = try await rig.send("GET /v1/events?match=write&since=1&limit=1")
        #expect(page.json["events"]?.arrayValue?.count == 1)
        let rest = try await rig.send("GET /v1/events")
        #expect(rest.json["events"]?.arrayValue?.first?["seq"] == mark.json["seq"])
        await rig.run.stop()
    }

    @Test func `events that are not kept any more are counted in every answer`() async throws {
        let run = FakeRun()
        let journal = Journal(capacity: 2, epoch: "e")
        for number in 1...5 { journal.append(Events.numbered(number)) }
        let api = ControlAPI(run, journal, version: "1")
        func answer(_ operation: Operation, _ body: String) async throws -> JSON {
            let route = try #require(Route.all.first { $0.operation == operation })
            let path = route.segments.map { if case .literal(let text) = $0 { text } else { "" } }
            let response = await api.answer(
                HTTPRequest(
                    method: route.method, path: path, headers: [HTTPField("Accept", "application/json")],
                    body: Array(body.utf8)))
            guard case .bytes(let bytes) = response.body else { return .null }
            let json = try JSON(parsing: bytes)
            let schema = route.answers[response.status]?.schema ?? .named("Problem")
            #expect(SchemaCheck.faults(of: json, in: schema) == [], "\(operation)")
            return json
        }
        let match = #""match": "mtu.changed mtu=5", "since": 1"#
        #expect(try await answer(.listEvents, "")["lost"] == .integer(3))
        #expect(try await answer(.wait, "{\(match)}")["lost"] == .integer(3))
        #expect(
            try await answer(.wait, #"{"match": "read", "since": 1, "within": "0 s"}"#)["lost"] == .integer(3)
        )
        #expect(try await answer(.verify, "{\(match)}")["lost"] == .integer(3))
        #expect(try await answer(.verify, "{\(match), \"never\": true}")["lost"] == .integer(3))
        _ = journal.mark("end")
        for number in 6...9 { journal.append(Events.numbered(number)) }
        #expect(try await answer(.getReport, "")["lost"] == .integer(2))
    }

    @Test func `a stream without events gets a comment every 15 s`() async throws {
        let journal = Journal(epoch: "e")
        let clock = ManualClock()
        let api = ControlAPI(FakeRun(), journal, version: "1", clock: clock)
        let response = await api.answer(HTTPRequest(method: "GET", path: ["v1", "events"]))
        guard case .stream(let body) = response.body else {
            Issue.record("the response is not a stream")
            return
        }
        let written = Mailbox<String>("pieces of the stream")
        let task = Task {
            await body(
                HTTPStreamWriter { bytes in
                    written.put(String(decoding: bytes, as: UTF8.self))
                    return true
                })
        }
        #expect(try await written.take() == [":\n\n"])
        for _ in 0..<2 {
            try await until("the stream waits") { journal.waiterCount == 1 && clock.sleeperCount == 1 }
            clock.advance(by: .seconds(15))
            #expect(try await written.take() == [":\n\n"])
        }
        try await until("the stream waits again") { journal.waiterCount == 1 }
        journal.append(Events.numbered(1))
        #expect(try await written.take().first?.hasPrefix("id: e-1\n") == true)
        journal.end()
        await task.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a comment that cannot be written ends a stream`() async throws {
        let journal = Journal()
        let clock = ManualClock()
        let api = ControlAPI(FakeRun(), journal, version: "1", clock: clock)
        let response = await api.answer(HTTPRequest(method: "GET", path: ["v1", "events"]))
        guard case .stream(let body) = response.body else {
            Issue.record("the response is not a stream")
            return
        }
        let count = Lock(0)
        let task = Task {
            await body(
                HTTPStreamWriter { _ in
                    count.withLock { count in
                        count += 1
                        return count == 1
                    }
                })
        }
        try await until("the stream waits") { journal.waiterCount == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(15))
        await task.value
        #expect(count.withLock { $0 } == 2)
        #expect(journal.waiterCount == 0)
    }

    @Test func `a body that is not UTF-8 is refused`() async {
        let problem = await thrown { () throws(ControlProblem) in
            _ = try ControlBody(
                parsing: Array(#"{"name": ""#.utf8) + [0xFF] + Array(#""}"#.utf8), known: ["name"])
        }
        #expect(problem?.status == 400 && problem?.detail == "the body is not UTF-8")
    }

    @Test func `a whole number may be written with a fraction of zero`() throws {
        let body = try ControlBody(
            parsing: Array(#"{"a": 2.0, "b": 2.5, "c": 1e300}"#.utf8), known: ["a", "b", "c"])
        #expect(try body.number("a", in: 0...3) == 2)
        for name in ["b", "c"] {
            #expect(throws: ControlProblem.self) { try body.number(name, in: 0 ... .max) }
        }
    }

    @Test func `the titles of problems are those of RFC 9110`() {
        let titles = [413, 415, 422].map { ControlProblem($0, "").json["title"]?.stringValue }
        #expect(titles == ["Content Too Large", "Unsupported Media Type", "Unprocessable Content"])
    }

    // MARK: Reset and reports

    @Test func `a reset brings everything back, and numbers of events go on`() async throws {
        let rig = try await APIRig([APIRig.lock, APIRig.app])
        try await rig.connect()
        try await rig.write([1])
        try await rig.send("POST /v1/devices/Lock/advertise", #"{"localName": "Ned"}"#)
        try await rig.send("POST /v1/devices/App/app", #"{"state": "quit"}"#)
        let before =
            try await rig.send("POST /v1/mark", #"{"name": "before"}"#).json["seq"]?.integerValue ?? 0
        #expect(try await rig.send("POST /v1/reset").json == .object([]))
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"00","fields":{"command":0}}"#)
        let lock = try await rig.send("GET /v1/devices/Lock").json
        #expect(lock["centrals"] == .array([]) && lock["advertising"]?["on"] == .bool(true))
        #expect(try await rig.send("GET /v1/devices/App").json["app"]?["state"] == "foreground")
        #expect(try await rig.send("GET /v1/events").json["events"] == .array([]))
        let after = try await rig.send("POST /v1/mark", #"{"name": "after"}"#).json["seq"]?.integerValue ?? 0
        #expect(after > before)
        await rig.run.stop()
    }

    @Test(arguments: ["values", "bonds", "connections", "journal"])
    func `a part that is reset leaves the others as they are`(part: String) async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        #expect(try await rig.send("POST /v1/reset", "{\"\(part)\": true}").status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (part == "values" ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (part == "connections" ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" } == (part != "journal"))
        await rig.run.stop()
    }

    @Test(arguments: [
        (#"{"values": false, "journal": false}"#, false, true),
        (#"{"values": false, "connections": true}"#, false, true),
        (#"{"values": true, "connections": false}"#, true, false),
        (#"{"values": false, "bonds": false, "connections": false, "journal": false}"#, false, false),
    ])
    func `a reset without a true part resets all but the false ones`(
        body: String, values: Bool, connections: Bool
    ) async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        #expect(try await rig.send("POST /v1/reset", body).status == 200)
        let value = try await rig.send("GET /v1/devices/Lock/values/2A39").json["value"]
        #expect(value == (values ? "00" : "01"))
        let centrals = try await rig.send("GET /v1/devices/Lock").json["centrals"]?.arrayValue?.count
        #expect(centrals == (connections ? 0 : 1))
        let events = try await rig.send("GET /v1/events").json["events"]?.arrayValue ?? []
        #expect(events.contains { $0["event"] == "write" })
        await rig.run.stop()
    }

    @Test func `metrics count devices and events in the text format of Prometheus`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.write([1])
        try await rig.write([2])
        let answer = try await rig.send("GET /metrics")
        let lines = answer.text.split(separator: "\n")
        #expect(lines.contains("mynah_devices 1"))
        #expect(lines.contains(#"mynah_events_total{event="write"} 2"#))
        #expect(answer.text.hasSuffix("\n") && answer.type.hasPrefix("text/plain; version=0.0.4"))
        await rig.run.stop()
    }

    @Test func `a report has a case for each mark, as JSON and for JUnit`() async throws {
        let rig = try await APIRig()
        try await rig.connect()
        try await rig.send("POST /v1/mark", #"{"name": "a<\"b\">&\u0001"}"#)
        try await rig.write([1])
        try await rig.send("POST /v1/mark", #"{"name": "second"}"#)
        let json = try await rig.send("GET /v1/report").json["cases"]?.arrayValue ?? []
        #expect(json.map { $0["events"] } == [.integer(1), .integer(0)])
        #expect(try await rig.send("GET /v1/report?format=json").json["cases"] == .array(json))
        let junit = try await rig.send("GET /v1/report?format=junit")
        #expect(junit.type.hasPrefix("application/xml"))
        #expect(junit.text.contains(#"tests="2" failures="0""#))
        #expect(junit.text.contains("name=\"a&lt;&quot;b&quot;&gt;&amp;\u{FFFD}\""))
        await rig.run.stop()
    }
}
