import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

import class Mynah.StateDirectory

@testable import MynahControl
@testable import MynahRun

/// Phones in a test's hand: their verbs, their errors and their events.
@Suite(.timeLimit(.minutes(15))) struct PhoneAPITests {
    /// A device for all verbs.
    private static let strap = """
        mynah: 1
        name: Strap
        device: {name: My strap}
        advertising: {localName: My strap, serviceUUIDs: [180D], interval: 20 ms}
        services:
          - uuid: 180F
            characteristics: [{uuid: 2A19, properties: [read], value: {hex: 40}}]
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [read, notify], value: {hex: "0048"}}
              - uuid: 2A38
                properties: [read]
                value: {hex: "01"}
                descriptors: [{uuid: 2901, value: {text: place}}]
              - {uuid: 2A39, properties: [write, writeWithoutResponse], maxLength: 1}
              - {uuid: 2A35, properties: [indicate]}
          - uuid: 1815
            characteristics:
              - {uuid: 2A56, properties: [read], value: {hex: "07"}, permissions: {read: encrypted}}
        faults:
          - {name: mute, on: read, of: 2A38, do: noAnswer, off: true}
          - {name: gone, on: read, of: 2A38, do: disconnect, off: true}
          - {name: busy, on: read, of: 2A38, error: 0x80, off: true}
        """

    /// A run in the time of `manual` with the strap, and a phone that is connected to it.
    private static func connected(_ settings: String = #"{"name": "Anna"}"#) async throws -> ManualRig {
        let rig = try await ManualRig()
        try await rig.add(strap)
        let phone = try await rig.send("POST /v1/phones", settings)
        #expect(phone.status == 201, "\(phone.detail)")
        let device = try await rig.send("POST /v1/phones/Anna/connect", #"{"name": "My strap"}"#)
        #expect(device.status == 200, "\(device.detail)")
        return rig
    }

    /// The events of the phone, without those of its scan, each as its name and some of its fields.
    private static func events(_ rig: ManualRig) async throws -> [String] {
        let all = try await rig.send("GET /v1/events?since=1").json["events"]?.arrayValue ?? []
        return all.filter { $0["device"] == "Anna" }.compactMap { event in
            let name = event["event"]?.stringValue ?? ""
            guard !name.hasPrefix("scan."), name != "peripheral.discovered" else { return nil }
            let parts = ["characteristic", "descriptor", "value", "on", "withResponse", "error", "reason"]
                .compactMap { key in event[key].map { $0.stringValue ?? $0.text } }
            return ([name] + parts).joined(separator: " ")
        }
    }

    @Test func `the actions of a phone are in its answers and in the journal`() async throws {
        let rig = try await Self.connected()
        let value = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "battery-level"}"#)
        #expect(value.json["value"] == "40" && value.json["fields"]?["level"] == .integer(64))
        let place = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38/2901"}"#)
        #expect(place.json["value"]?.stringValue == Hex.encode(Array("place".utf8)))
        let written = try await rig.send("POST /v1/phones/Anna/write", #"{"of": "2A39", "hex": "01"}"#)
        #expect(written.json["value"] == "01")
        let fields = #"{"of": "2A39", "fields": {"command": 1}}"#
        #expect(try await rig.send("POST /v1/phones/Anna/write", fields).json["value"] == "01")
        #expect(
            try await rig.send("POST /v1/phones/Anna/command", #"{"of": "2A39", "hex": "02"}"#).status == 200)
        let on = try await rig.send("POST /v1/phones/Anna/subscribe", #"{"of": "180D/2A37"}"#)
        let seq = try #require(on.json["seq"]?.integerValue)
        try await rig.send("PUT /v1/devices/Strap/values/180D/2A37", #"{"hex": "0050", "notify": true}"#)
        let update = try await rig.wait("value.updated device=Anna characteristic=2A37", since: seq)
        #expect(update["value"] == "0050" && update["fields"]?["heartRate"] == .integer(80))
        #expect(
            try await rig.send("POST /v1/phones/Anna/unsubscribe", #"{"of": "180D/2A37"}"#).status == 200)
        #expect(try await rig.send("POST /v1/phones/Anna/mtu").json["mtu"] == .integer(517))
        let services = try await rig.send("POST /v1/phones/Anna/discover", #"{"services": ["180F"]}"#)
        #expect(services.json["services"]?.arrayValue?.count == 1)
        #expect(try await rig.send("POST /v1/phones/Anna/disconnect").status == 200)
        #expect(
            try await Self.events(rig) == [
                "peripheral.connected", "services.discovered", "value.read 2A19 40",
                "value.read 2A38 2901 706C616365", "value.written 2A39 01 true",
                "value.written 2A39 01 true", "value.written 2A39 02 false",
                "notification.changed 2A37 true", "value.updated 2A37 0050",
                "notification.changed 2A37 false", "services.discovered", "peripheral.disconnected",
            ])
        let verified = try await rig.send(
            "POST /v1/verify", #"{"match": "value.written device=Anna", "exactly": 3}"#)
        #expect(verified.status == 200, "\(verified.detail)")
        await rig.end()
    }

    @Test func `errors have the names and numbers of ATT and of the controller`() async throws {
        let rig = try await Self.connected()
        let refused = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A39"}"#)
        #expect(refused.status == 409 && refused.json["error"] == "0x02")
        #expect(refused.json["name"] == "readNotPermitted")
        try await rig.send("PATCH /v1/devices/Strap/faults/busy", #"{"off": false}"#)
        let busy = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38"}"#)
        #expect(busy.json["error"] == "0x80" && busy.json["name"] == "applicationError")
        try await rig.send("PATCH /v1/devices/Strap/faults/busy", #"{"off": true}"#)
        try await rig.send("PATCH /v1/devices/Strap/faults/gone", #"{"off": false}"#)
        let gone = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38"}"#)
        #expect(gone.status == 409 && gone.json["code"] == "disconnected", "\(gone.text)")
        let end = try await rig.wait("peripheral.disconnected device=Anna")
        #expect(end["reason"] == "0x13")
        let late = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38"}"#)
        #expect(late.status == 409 && late.json["code"] == "disconnected")
        let events = try await Self.events(rig)
        #expect(events.contains("value.read 2A39 0x02") && events.contains("value.read 2A38 0x80"))
        await rig.end()
    }

    @Test func `a verb takes its time limit, and no longer`() async throws {
        let rig = try await Self.connected()
        try await rig.send("PATCH /v1/devices/Strap/faults/mute", #"{"off": false}"#)
        let start = rig.now
        let late = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38", "within": "700 ms"}"#)
        #expect(late.status == 408 && late.json["code"] == "timedOut", "\(late.text)")
        #expect(rig.now - start == .milliseconds(700))
        let nobody = try await rig.send("POST /v1/phones/Anna/connect", #"{"name": "X", "within": "3 s"}"#)
        #expect(nobody.status == 409 && nobody.json["code"] == "unreachable", "\(nobody.text)")
        #expect(nobody.detail.hasPrefix("no device named \"X\" was heard"), "\(nobody.detail)")
        #expect(rig.now - start == .milliseconds(3700))
        await rig.end()
    }

    @Test func `a phone without confirmations gets one indication alone`() async throws {
        let rig = try await Self.connected(#"{"name": "Anna", "confirm": false}"#)
        #expect(try await rig.send("GET /v1/phones/Anna").json["confirm"] == .bool(false))
        try await rig.send("POST /v1/phones/Anna/subscribe", #"{"of": "180D/2A35"}"#)
        for value in ["01", "02"] {
            try await rig.send(
                "PUT /v1/devices/Strap/values/180D/2A35", #"{"hex": "\#(value)", "notify": true}"#)
        }
        try await rig.advance("1 min")
        let counts = [("value.updated device=Anna", 1), ("confirmed device=Strap", 0)]
        for (match, count) in counts {
            let verified = try await rig.send(
                "POST /v1/verify", #"{"match": "\#(match)", "exactly": \#(count)}"#)
            #expect(verified.status == 200, "\(verified.detail)")
        }
        await rig.end()
    }

    @Test func `connection parameters change at both ends`() async throws {
        let rig = try await Self.connected()
        let wanted = #"{"interval": "60 ms", "latency": 2, "supervisionTimeout": "4 s"}"#
        let answer = try await rig.send("POST /v1/phones/Anna/parameters", wanted)
        #expect(answer.status == 200, "\(answer.detail)")
        #expect(answer.json["intervalMilliseconds"]?.text == "60")
        #expect(answer.json["latency"] == .integer(2))
        for device in ["Anna", "Strap"] {
            let event = try await rig.wait("parameters.changed device=\(device)")
            #expect(event["supervisionTimeoutMilliseconds"]?.text == "4000", "\(event.text)")
        }
        let wrong = #"{"interval": "1 ms"}"#
        #expect(try await rig.send("POST /v1/phones/Anna/parameters", wrong).status == 400)
        await rig.end()
    }

    @Test func `one seed gives one history`() async throws {
        var histories: [[String]] = []
        for _ in 0..<2 {
            let rig = try await Self.connected(#"{"name": "Anna", "address": "private"}"#)
            #expect(try await rig.send("POST /v1/phones/Anna/pair").status == 200)
            try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A56"}"#)
            histories.append(try await rig.journal())
            await rig.end()
        }
        #expect(histories[0] == histories[1] && histories[0].contains { $0.contains("paired") })
    }

    @Test func `a reset of the history ends phones, and their names are free`() async throws {
        let rig = try await Self.connected()
        #expect(try await rig.send("POST /v1/reset", "{}").status == 200)
        #expect(try await rig.send("GET /v1/phones").json["phones"] == .array([]))
        #expect(try await rig.send("POST /v1/phones", #"{"name": "Anna"}"#).json["phone"] == "Anna")
        #expect(try await rig.send("DELETE /v1/phones/Anna").status == 200)
        #expect(try await rig.send("DELETE /v1/phones/Anna").status == 404)
        await rig.end()
    }

    @Test func `phones and devices have names of their own`() async throws {
        let rig = try await Self.connected()
        #expect(try await rig.send("POST /v1/phones", #"{"name": "Anna"}"#).json["phone"] == "Anna~2")
        #expect(try await rig.send("POST /v1/phones", #"{"name": "Strap"}"#).json["phone"] == "Strap~2")
        #expect(try await rig.add(Self.strap.replacing("name: Strap", with: "name: Anna")) == "Anna~3")
        let other = try await rig.send("POST /v1/phones/Ana/read", #"{"of": "2A19"}"#)
        #expect(other.status == 404 && other.detail.contains("did you mean \"Anna\""), "\(other.detail)")
        await rig.end()
    }

    @Test func `a hundred phones play in one process`() async throws {
        let rig = try await ManualRig()
        try await rig.add(Self.strap)
        for number in 1...100 {
            let phone = try await rig.send("POST /v1/phones", #"{"name": "P\#(number)"}"#)
            #expect(phone.status == 201, "\(phone.detail)")
        }
        for number in 1...100 {
            let heard = try await rig.send("POST /v1/phones/P\(number)/scan", #"{"count": 1}"#)
            #expect(heard.json["peripherals"]?.arrayValue?.count == 1, "\(heard.text)")
        }
        for number in 1...8 {
            let device = try await rig.send(
                "POST /v1/phones/P\(number)/connect", #"{"services": ["heart-rate"]}"#)
            #expect(device.status == 200, "\(device.detail)")
        }
        let read = try await rig.send("POST /v1/phones/P7/read", #"{"of": "2A19"}"#)
        #expect(read.json["value"] == "40", "\(read.text)")
        #expect(try await rig.send("GET /v1/phones").json["phones"]?.arrayValue?.count == 100)
        await rig.end()
    }

    @Test(
        arguments: [
            ("", #"{"nam": "A"}"#), ("", #"{"name": ""}"#), ("", #"{"io": "brain"}"#),
            ("", #"{"address": "C0"}"#), ("", #"{"address": "00:11:22:33:44:55"}"#),
            ("", #"{"stateDirectory": " "}"#), ("", #"{"holder": "a b"}"#), ("", #"{"radio": "bluez"}"#),
            ("", #"{"passkey": "12"}"#), ("/connect", "{}"), ("/connect", #"{"address": "x"}"#),
            ("/connect", #"{"services": "180D"}"#), ("/connect", #"{"services": ["nothing"]}"#),
            ("/connect", #"{"name": "A", "within": "11 h 1"}"#), ("/read", "{}"), ("/read", #"{"of": "?"}"#),
            ("/read", #"{"of": "2A19", "peripheral": 3}"#), ("/write", #"{"of": "2A39"}"#),
            ("/write", #"{"of": "2A39", "hex": "0"}"#), ("/write", #"{"of": "2A39", "fields": {"x": 1}}"#),
            ("/scan", #"{"count": 0}"#), ("/passkey", "{}"), ("/parameters", "{}"),
            ("/parameters", #"{"interval": "5 s"}"#), ("/mtu", #"{"x": 1}"#),
        ])
    func `a wrong request is refused`(verb: String, body: String) async throws {
        let rig = try await Self.connected()
        let path = verb.isEmpty ? "/v1/phones" : "/v1/phones/Anna\(verb)"
        let answer = try await rig.send("POST \(path)", body)
        #expect(answer.status == 400, "\(answer.text)")
        await rig.end()
    }

    @Test func `an impossible verb is a conflict, and an unknown peripheral is not found`() async throws {
        let rig = try await Self.connected()
        let requests = [
            ("", #"{"stateDirectory": "a"}"#, 409), ("", #"{"holder": "nobody"}"#, 409),
            ("/read", #"{"of": "2A00", "peripheral": "Nobody"}"#, 409), ("/read", #"{"of": "2A6E"}"#, 404),
            ("/subscribe", #"{"of": "2A38/2901"}"#, 404), ("/forget", "{}", 409),
            ("/passkey", #"{"passkey": "000000"}"#, 409),
        ]
        for (verb, body, status) in requests {
            let path = verb.isEmpty ? "/v1/phones" : "/v1/phones/Anna\(verb)"
            let answer = try await rig.send("POST \(path)", body)
            #expect(answer.status == status, "\(verb) \(answer.text)")
        }
        let remote = try await rig.api.send("POST /v1/phones", #"{"radio": "virtual"}"#, isUnixSocket: false)
        #expect(remote.status == 403, "\(remote.detail)")
        let own = try await rig.api.send("POST /v1/phones", #"{"radio": "virtual"}"#)
        #expect(own.status == 201, "\(own.detail)")
        await rig.end()
    }

    @Test func `a phone plays in the time of fast`() async throws {
        let rig = try await ManualRig([Self.strap], .fast)
        #expect(try await rig.send("POST /v1/phones", #"{"name": "Anna"}"#).status == 201)
        let device = try await rig.send("POST /v1/phones/Anna/connect", #"{"name": "My strap"}"#)
        #expect(device.status == 200, "\(device.detail)")
        let read = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A19"}"#)
        #expect(read.json["value"] == "40", "\(read.text)")
        await rig.end()
    }

    // MARK: The machine's time

    @Test func `the folder of a phone's bonds is below the run's, and one phone's at a time`() async throws {
        let folder = try TemporaryDirectory()
        let state = try StateDirectory(path: "\(folder.path)/state")
        let rig = try await APIRig([Self.strap], state: state)
        let body = #"{"name": "Anna", "stateDirectory": "../x/../y"}"#
        #expect(try await rig.send("POST /v1/phones", body).status == 201)
        #expect(try await rig.send("POST /v1/phones", body).status == 409)
        #expect(try await rig.send("POST /v1/phones/Anna/connect", #"{"name": "My strap"}"#).status == 200)
        #expect(try await rig.send("POST /v1/phones/Anna/pair").status == 200)
        #expect(try await rig.send("DELETE /v1/phones/Anna").status == 200)
        #expect(Directory.names(in: folder.path)?.filter { !$0.hasPrefix(".") } == ["state"])
        // The bond is there for the next phone with this folder.
        #expect(try await rig.send("POST /v1/phones", body).json["phone"] == "Anna")
        let device = try await rig.send("POST /v1/phones/Anna/connect", #"{"name": "My strap"}"#)
        #expect(device.json["paired"] == .bool(true), "\(device.text)")
        await rig.stop()
    }

    @Test func `a passkey is entered while the pairing waits`() async throws {
        let rig = try await APIRig()
        _ = try await rig.send("POST /v1/phones", #"{"name": "Anna", "io": "displayOnly"}"#)
        let device = try await rig.send("POST /v1/phones/Anna/connect", #"{"services": ["180D"]}"#)
        #expect(device.status == 200, "\(device.detail)")
        async let pairing = rig.send("POST /v1/phones/Anna/pair", #"{"within": "10 min"}"#)
        let shown = try await rig.send(
            "POST /v1/wait", #"{"match": "pairing.passkey device=Anna step=display", "within": "10 min"}"#)
        let passkey = try #require(shown.json["events"]?.arrayValue?.first?["passkey"]?.stringValue)
        let asked = try await rig.send(
            "POST /v1/wait", #"{"match": "pairing.passkey device=Lock", "within": "10 min"}"#)
        let central = try #require(asked.json["events"]?.arrayValue?.first?["central"]?.stringValue)
        let entered = try await rig.send(
            "POST /v1/devices/Lock/passkey", #"{"central": "\#(central)", "passkey": "\#(passkey)"}"#)
        #expect(entered.status == 200, "\(entered.detail)")
        let paired = try await pairing
        #expect(paired.status == 200, "\(paired.text)")
        #expect(try await rig.send("GET /v1/phones/Anna").json["address"]?.stringValue == central)
        await rig.stop()
    }

    @Test func `verbs for two devices run side by side`() async throws {
        let rig = try await APIRig([Self.strap, RunRig.lock])
        _ = try await rig.send("POST /v1/phones", #"{"name": "Anna"}"#)
        async let first = rig.send("POST /v1/phones/Anna/connect", #"{"name": "My strap"}"#)
        async let second = rig.send("POST /v1/phones/Anna/connect", #"{"name": "Lock"}"#)
        let devices = try await [first, second]
        for device in devices { #expect(device.status == 200, "\(device.text)") }
        let several = try await rig.send("POST /v1/phones/Anna/read", #"{"of": "2A38"}"#)
        #expect(several.status == 400 && several.detail.contains("name one with"), "\(several.text)")
        let read = try await rig.send(
            "POST /v1/phones/Anna/read", #"{"of": "2A19", "peripheral": "My strap"}"#)
        #expect(read.json["value"] == "40", "\(read.text)")
        await rig.stop()
    }

    @Test func `a phone ends with the last stream that holds it`() async throws {
        let rig = try await APIRig([Self.strap])
        let api = try #require(rig.run.session.api)
        let path = HTTPRequest(method: "GET", path: ["v1", "events"], query: [HTTPQueryItem("hold", "a")])
        let wanted = HTTPRequest(
            method: "POST", path: ["v1", "phones"], body: Array(#"{"name": "Anna", "holder": "a"}"#.utf8))
        #expect(await api.answer(wanted).status == 409)
        var streams: [Task<Void, Never>] = []
        for _ in 0..<2 {
            let written = Mailbox<Int>("pieces of a stream")
            guard case .stream(let body) = await api.answer(path).body else {
                Issue.record("the response is not a stream")
                return
            }
            streams.append(
                Task {
                    await body(
                        HTTPStreamWriter { _ in
                            written.put(1)
                            return true
                        })
                })
            _ = try await written.take()
        }
        #expect(await api.answer(wanted).status == 201)
        streams[0].cancel()
        await streams[0].value
        #expect(rig.run.session.phones.map(\.name) == ["Anna"])
        streams[1].cancel()
        try await until("the phone has ended") { rig.run.session.phones.isEmpty }
        await rig.stop()
    }
}
