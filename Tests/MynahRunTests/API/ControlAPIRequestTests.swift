import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahControl
@testable import MynahRun

/// Requests that a test answers.
@Suite(.timeLimit(.minutes(15))) struct ControlAPIRequestTests {
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
        var reads: [Task<Result<[UInt8], ATTError>, any Error>] = []
        for (index, label) in ["Lock", "Lock~2"].enumerated() {
            let phone = try await rig.connect(to: label, number: UInt8(index + 1))
            reads.append(Task { try await phone.read("2A37") })
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
        await rig.stop()
    }

    @Test func `a request of a device that is removed has ended, and a later answer is told so`()
        async throws
    {
        let rig = try await APIRig([Self.asking, APIRig.lock])
        let phone = try await rig.connect()
        let outcome = Task { try await phone.read("2A37") }
        try await rig.send("POST /v1/wait", #"{"match": "request.asked", "within": "10 min"}"#)
        #expect(try await rig.send("DELETE /v1/devices/Lock").status == 200)
        // The answer, or the end of the link before it.
        let read = try? await outcome.value
        #expect(read == nil || read == .failure(.unlikelyError))
        let ends = try await rig.send("GET /v1/events?match=request.unanswered").json["events"]
        #expect(ends?.arrayValue?.map { $0["because"] } == ["ended"])
        let answer = try await rig.send("POST /v1/requests/1/answer", #"{"hex": "01"}"#)
        #expect(answer.status == 409)
        #expect(
            answer.detail
                == "request 1 was answered with 0x0E, because its app has ended or its device was removed")
        await rig.stop()
    }

    @Test(
        arguments: [
            ("unlikelyError", 0x0E), ("0x80", 0x80), ("0x1", 0x01), ("insufficientAuthorization", 0x08),
            ("invalidPDU", 0x04), ("0xff", 0xFF),
        ] as [(String, UInt8)])
    func `a write is refused with an error, by its name or its code`(error: String, code: UInt8) async throws
    {
        let rig = try await APIRig([Self.asking])
        let phone = try await rig.connect()
        let write = Task { try await phone.write([1]) }
        try await rig.send("POST /v1/wait", #"{"match": "request.asked by=write", "within": "10 min"}"#)
        let answer = try await rig.send("POST /v1/requests/1/answer", #"{"error": "\#(error)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await write.value == ATTError(code: code))
        #expect(
            try await rig.send("GET /v1/devices/Lock/values/2A39").json.text
                == #"{"value":"00","fields":{"command":0}}"#)
        await rig.stop()
    }

    @Test(arguments: [
        ("7", "{}", 404, "there is no request 7"), ("x", "{}", 404, "there is no request x"),
        ("99999999999999999999", "{}", 404, "there is no request 99999999999999999999"),
        ("0", "{}", 404, "there is no request 0"), ("-1", "{}", 404, "there is no request -1"),
        ("1", #"{"error": "0x80", "hex": "00"}"#, 400, #""error" excludes "hex", "text" and "fields""#),
        (
            "1", #"{"hex": "00", "text": "a"}"#, 400,
            #"only one of "hex", "text" and "fields" is allowed"#
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
        await rig.stop()
    }

    @Test(arguments: ["01", "+1", "1.0", "0x1"])
    func `a number of a request has one spelling`(id: String) async throws {
        let rig = try await APIRig([Self.asking])
        let phone = try await rig.connect()
        let read = Task { try await phone.read("2A37") }
        try await rig.send("POST /v1/wait", #"{"match": "request.asked id=1", "within": "10 min"}"#)
        let answer = try await rig.send("POST /v1/requests/\(id)/answer", #"{"hex": "01"}"#)
        #expect(answer.status == 404 && answer.detail == "there is no request \(id)")
        #expect(try await rig.send("POST /v1/requests/1/answer", #"{"hex": "02"}"#).status == 200)
        #expect(try await read.value == .success([2]))
        await rig.stop()
    }
}
