import Foundation
import Glibc
import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.processes, .timeLimit(.minutes(15))) struct ConnectTests {
    @Test func `a device is found by its name, shown, read, written and subscribed`() async throws {
        try await VirtualStage.play { stage in
            let devices = try await stage.devices()
            let phone = stage.start(
                phone: ["connect", "Mynah HRM"]
                    + [
                        "read body-sensor-location", "read 180D/2A38", "write heart-rate-control-point 01",
                        "mtu",
                        "rssi",
                        "subscribe 2A37", "wait 1 min",
                    ].flatMap { ["--command", $0] })
            // A value that came by itself has a time before it.
            #expect(
                try await phone.output.line("the value of heart-rate-measurement") {
                    $0.contains("  heart-rate-measurement  08")
                } != nil)
            phone.quit()
            let result = await phone.end()
            #expect(result.status == .exited(0))
            for line in [
                "(Mynah HRM)\n", "MTU 517: 514 bytes of a value in one packet\n", "180D Heart Rate\n",
                "  2A38 Body Sensor Location                       @",
                "    2902 Client Characteristic Configuration      @", "\nbody-sensor-location  01  chest\n",
                "\nheart-rate-control-point is written\n", "\n-40 dBm\n",
                "\nheart-rate-measurement is subscribed\n",
            ] { #expect(result.output.contains(line)) }
            #expect(result.complaint == "")
            let device = devices[0].output
            #expect(try await device.line(containing: "\"event\":\"write\"") != nil)
            #expect(try await device.line(containing: "\"event\":\"central.disconnected\"") != nil)
        }
    }

    @Test func `commands come from a pipe, and objects go out`() async throws {
        let result = try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let phone = stage.start(phone: ["connect", "mynah", "--format", "json"])
            for line in ["# what is it", "read 2A00", "", "read 2A19", "read device-name/2A01"] {
                phone.type(line)
            }
            return await phone.end()
        }
        #expect(result.status == .exited(1))
        let lines = result.output.split(separator: "\n").map(String.init)
        let events = try lines.map { try json($0)["event"] as? String }
        #expect(events == ["connected", "mtu", "services", "read", "read", "error"])
        let read = try json(
            try #require(
                lines.first { $0.contains("\"read\"") && $0.contains("2A00") && !$0.contains("services") }))
        #expect(read["service"] as? String == "1800")
        #expect(read["value"] as? String == "4D796E61682048524D")
        let services = try json(try #require(lines.first { $0.contains("\"services\"") }))["services"]
        #expect(
            (services as? [[String: Any]])?.compactMap { $0["uuid"] as? String } == [
                "1800", "1801", "180D", "180F",
            ])
    }

    @Test func `only one service is discovered, and none is printed, if that is asked for`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            func phone(_ arguments: String...) async throws -> Program.Result {
                await stage.phone(["connect", "Mynah HRM", "--format", "json"] + arguments)
            }
            let one = try await phone(
                "--service", "battery", "--command", "read 2A19", "--command", "read 2A38")
            let services = try #require(
                one.output.split(separator: "\n").map { try json(String($0)) }
                    .first { $0["event"] as? String == "services" }?["services"] as? [[String: Any]])
            #expect(services.compactMap { $0["uuid"] as? String } == ["180F"])
            // The second one is in a service that was not discovered.
            #expect(one.output.contains("\"event\":\"read\",\"service\":\"180F\""))
            #expect(one.status == .exited(1) && !one.output.contains("\"service\":\"180D\""))

            let quiet = try await phone("--quiet", "--command", "read 2A19", "--command", "services")
            #expect(quiet.status == .exited(0))
            let events = try quiet.output.split(separator: "\n").map {
                try json(String($0))["event"] as? String
            }
            #expect(
                events == ["connected", "mtu", "read", "mtu", "services"]
                    || events == ["connected", "mtu", "read", "services"])

            let missing = try await phone("--service", "1809", "--command", "read 2A19")
            #expect(missing.status == .exited(1))
            #expect(missing.output.contains("the device has no primary service 1809"))
            let unknown = try await phone("--service", "batery", "--command", "read 2A19")
            #expect(unknown.status == .exited(64) && unknown.error.contains("did you mean \"battery\"?"))
        }
    }

    @Test func `an attribute that is there several times is named by ~N, and the error lists the names`()
        async throws
    {
        try await VirtualStage.play { stage in
            let profile = try ProfileFile(ProfileCommandTests.twins + "\nadvertising: {localName: Twins}\n")
            _ = try await stage.devices([profile.path])
            let result = await stage.phone(
                ["connect", "Twins"]
                    + [
                        "read 180F~1/2A19", "read battery~2/battery-level~2", "read 180F~2/2A19~2/2904~2",
                        "read 180F/2A19",
                    ].flatMap { ["--command", $0] }
            )
            #expect(result.status == .exited(1))
            let values = result.output.split(separator: "\n").filter { $0.hasPrefix("180F~") }
            #expect(
                values == ["180F~1/2A19  0A  10 %", "180F~2/2A19~2  1E  30 %", "180F~2/2A19~2/2904~2  02"])
            let message = "error: the device has 3 attributes called 180F/2A19: name one of 180F~1/2A19 (@"
            #expect(result.complaint.hasPrefix(message))
            #expect(
                result.error.contains("), 180F~2/2A19~1 (@") && result.error.contains("), 180F~2/2A19~2 (@"))
        }
    }

    @Test func `the Tab key offers names that lead to one attribute each`() async throws {
        let profile = try ProfileFile(ProfileCommandTests.twins + "\nadvertising: {localName: Twins}\n")
        let stage = try await AirStage([profile.path])
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "Twins"], terminal: terminal)
        #expect(try await terminal.output.line(containing: "180D Heart Rate") != nil)
        // The prefix that both levels of the second service share, and then the number.
        terminal.type("read battery~2\t2\n")
        #expect(try await terminal.output.line(containing: "read battery~2/battery-level~2") != nil)
        #expect(try await terminal.output.line(containing: "180F~2/2A19~2  1E") != nil)
        terminal.type("read 180F~1\t\n")
        #expect(try await terminal.output.line(containing: "read 180F~1/2A19 ") != nil)
        #expect(try await terminal.output.line(containing: "180F~1/2A19  0A") != nil)
        terminal.type("\u{04}")
        #expect(try await phone.child.end() == .exited(0))
        try await stage.end()
    }

    @Test func `the first command that fails ends it, with what the device answered`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let result = await stage.phone(
                ["connect", "Mynah HRM", "--command", "read 2A39", "--command", "read 2A38"]
            )
            #expect(result.status == .exited(1))
            #expect(result.complaint == "error: the device answered 0x02 (read not permitted)\n")
            #expect(!result.output.contains("body-sensor-location  01"))
        }
    }

    @Test func `a device that nobody hears, and one of two of a name, are told with those that were heard`()
        async throws
    {
        try await VirtualStage.play { stage in
            _ = try await stage.devices([AirStage.heartRate, AirStage.heartRate])
            let nobody = await stage.phone(["connect", "nobody", "--timeout", "500 ms"])
            #expect(nobody.status == .exited(1))
            #expect(nobody.complaint.hasPrefix("error: no device \"nobody\" was heard; these were heard: "))
            #expect(nobody.error.contains("(Mynah HRM), "))
            let two = await stage.phone(["connect", "Mynah"])
            #expect(two.status == .exited(1))
            #expect(two.complaint.hasPrefix("error: \"Mynah\" fits 2 devices: "))
            // Each of them by its address.
            let words: [Substring] = two.complaint.split(separator: " ")
            let address = try #require(words.first { $0.count == 17 })
            let one = await stage.phone(["connect", String(address), "--command", "read 2A38"])
            #expect(one.status == .exited(0))
            #expect(one.output.split(separator: "\n").first == "connected to \(address) (Mynah HRM)")
        }
    }

    @Test func `it says at once what it looks for, on which radio and for how long`() async throws {
        let said = "looking for \"no\u{FFFD}body\" for up to 200 ms (virtual radio)"
        for format in ["text", "json"] {
            let result = try await VirtualStage.play([
                "connect", "no\u{1B}body", "--timeout", "200 ms", "--format", format, "--radio", "virtual",
            ])
            #expect(result.status == .exited(1))
            #expect(result.error.hasPrefix(said + "\n"))
            #expect(!result.output.contains("looking"))
        }
        // It does not wait for the device to be heard.
        let terminal = try Terminal()
        let phone = try Program(
            ["connect", "nobody", "--timeout", "5 min", "--radio", "virtual"], terminal: terminal)
        #expect(
            try await terminal.output.line(
                containing: "looking for \"nobody\" for up to 5 min (virtual radio)")
                != nil)
        phone.child.send(SIGINT)
        #expect(try await phone.child.end() == .exited(0))
        #expect(try await phone.error.text() == "")
        #expect(terminal.isAsUsual)
    }

    @Test func `ctrl-C while the device does not answer ends without a word of error`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            let phone = stage.start(phone: [
                "connect", "Mynah HRM", "--format", "json", "--command", "wait 1 min",
            ])
            let services = try await phone.output.line(containing: "\"services\"")
            #expect(services != nil)
            phone.quit()
            let result = await phone.end()
            #expect(result.status == .exited(0))
            #expect(!result.output.contains("\"error\""))
        }
    }

    @Test(arguments: [
        (["--timeout", "200 ms"], "no device \"nobody\" was heard; no other device was heard either"),
        (["--radio", "hci:tcp-client:127.0.0.1:1"], "cannot connect to a controller at 127.0.0.1:1"),
        (["--state-dir", "/proc/nobody"], "/proc/nobody"),
    ])
    func `a failure before the link is an object too`(options: [String], reason: String) async throws {
        let words = ["connect", "nobody", "--format", "json"] + options
        // Virtual time does not wait for a socket.
        let result =
            options.contains("--radio")
            ? try await Program(words).end() : try await VirtualStage.play(words)
        #expect(result.status == .exited(1))
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 1)
        let object = try json(String(try #require(lines.first)))
        #expect(object["event"] as? String == "error")
        #expect((object["message"] as? String)?.contains(reason) == true)
        #expect((object["time"] as? String)?.hasSuffix("Z") == true)
        #expect(result.complaint == "")
    }

    @Test func `several devices of a name are told in an object that names them`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices([AirStage.heartRate, AirStage.heartRate])
            let result = await stage.phone(["connect", "Mynah HRM", "--format", "json"])
            #expect(result.status == .exited(1))
            let object = try json(result.output)
            #expect((object["message"] as? String)?.hasPrefix("\"Mynah HRM\" fits 2 devices: ") == true)
        }
    }

    @Test func `a prompt takes commands and completes them, with what comes above it`() async throws {
        let stage = try await AirStage()
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "mynah"], terminal: terminal)
        // The prompt itself has no end of a line.
        #expect(try await terminal.output.line(containing: "180F Battery") != nil)
        #expect(try await terminal.output.line(containing: "help lists commands, Tab completes them") != nil)
        terminal.type("rea\tbody\t\n")
        #expect(try await terminal.output.line(containing: "read body-sensor-location ") != nil)
        #expect(try await terminal.output.line(containing: "body-sensor-location  01") != nil)
        terminal.type("nonsense\u{7F}\u{1B}[D\n")
        #expect(try await terminal.output.line(containing: "there is no command \"nonsens\"") != nil)
        terminal.type("sub\the\t\n")
        #expect(try await terminal.output.line(containing: "heart-rate-measurement is subscribed") != nil)
        #expect(try await terminal.output.line(containing: "  heart-rate-measurement  08") != nil)
        terminal.type("write hea\t\t 01\u{01}\u{05}\n")
        #expect(try await terminal.output.line(containing: "heart-rate-control-point is written") != nil)
        terminal.type("disconnect\n")
        #expect(try await terminal.output.line(containing: "disconnected") != nil)
        terminal.type("read 2A38\n")
        #expect(try await terminal.output.line(containing: "is not connected") != nil)
        terminal.type("connect\n\u{1B}[A")
        #expect(try await stage.devices[0].output.line(containing: "central.disconnected") != nil)
        terminal.type("\u{15}help\n")
        #expect(try await terminal.output.line(containing: "disconnects and ends the program") != nil)
        terminal.type("\u{04}")
        #expect(try await phone.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
        try await stage.end()
    }

    @Test func `a device that goes is reported, and ends a script at its next command`() async throws {
        try await VirtualStage.play { stage in
            let devices = try await stage.devices()
            let phone = stage.start(phone: ["connect", "Mynah HRM"])
            #expect(try await phone.output.line(containing: "180F Battery") != nil)
            await stage.quit(devices)
            let end = try await phone.output.line(containing: "disconnected: the peripheral ended the link")
            #expect(end != nil)
            phone.type("read 2A38")
            let result = await phone.end()
            #expect(result.status == .exited(1))
            #expect(result.error.contains(" is not connected"), "\(result.error)")
        }
    }

    private static let lock = """
        mynah: 1
        name: Lock
        device: {name: Lock}
        security: {io: displayOnly}
        advertising: {}
        services:
          - uuid: 180F
            characteristics:
              - {uuid: 2A19, properties: [read], permissions: {read: authenticated}, value: {hex: 64}}
        """

    @Test func `a number that the device shows is typed at the prompt, and what is protected is read`()
        async throws
    {
        let profile = try ProfileFile(Self.lock)
        let stage = try await AirStage([profile.path])
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "lock"], terminal: terminal)
        terminal.type("read 2A19\n")
        let shown = try #require(await stage.devices[0].output.line(containing: "pairing.passkey"))
        #expect(try await terminal.output.line(containing: "type the number that the device shows") != nil)
        terminal.type(try #require(try json(shown)["passkey"] as? String) + "\n")
        #expect(try await terminal.output.line(containing: "battery-level  64") != nil)
        #expect(try await terminal.output.line(containing: "paired") != nil)
        terminal.type("quit\n")
        #expect(try await phone.child.end() == .exited(0))
        try await stage.end()
    }

    @Test func `a prompt that was stopped has the keys again when it goes on`() async throws {
        let stage = try await AirStage()
        let terminal = try Terminal()
        let phone = try stage.phone(["connect", "mynah"], terminal: terminal)
        #expect(try await terminal.output.line(containing: "180F Battery") != nil)
        phone.child.send(SIGSTOP)
        terminal.setAsUsual()
        phone.child.send(SIGCONT)
        try await until("the program has set the terminal to raw mode") { !terminal.isAsUsual }
        terminal.type("read body\t\n")
        #expect(try await terminal.output.line(containing: "body-sensor-location  01") != nil)
        terminal.type("\u{04}")
        #expect(try await phone.child.end() == .exited(0))
        #expect(terminal.isAsUsual)
        try await stage.end()
    }

    @Test func `a request without an answer is not reported as done`() async throws {
        try await VirtualStage.play { stage in
            _ = try await stage.devices()
            func script(_ format: String) async throws -> String {
                await stage.phone([
                    "connect", "mynah", "--format", format, "--command", "command 2A39 01", "--command",
                    "write 2A39 01",
                ]).output
            }
            let text = try await script("text")
            let warning = "it lacks the property writeWithoutResponse and may ignore the value"
            #expect(
                text.hasSuffix(
                    "sent to heart-rate-control-point, without response; \(warning)\n"
                        + "heart-rate-control-point is written\n"))
            let lines = try await script("json").split(separator: "\n").suffix(2).map { try json(String($0)) }
            #expect(lines.map { $0["event"] as? String } == ["written", "written"])
            #expect(lines.map { $0["withResponse"] as? Bool } == [false, true])
        }
    }

    @Test func `commands wait where the radio has no room for them, and none is lost`() async throws {
        let air = LiveAir(seed: 1, time: .manual)
        let addresses = try (1...2).map { number in
            try #require(DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .public))
        }
        let server = ControllerServer(air: air) { ControllerConfiguration(address: addresses[$0 % 2]) }
        let listening = try await server.listen(on: .tcpServer(host: "127.0.0.1", port: 0))
        let port = try #require(listening)
        let radio = ["--radio", "hci:tcp-client:127.0.0.1:\(port)"]
        let isPassing = Lock(true)
        // As the clock's, which can be held.
        let time = Task {
            var last = ContinuousClock.now
            while !Task.isCancelled {
                let (now, before) = (ContinuousClock.now, last)
                last = now
                if isPassing.withLock({ $0 }) {
                    air.advance(by: (now - before).components.attoseconds / 1_000_000_000_000)
                }
                await Task.yield()
            }
        }
        let uart = "\(repository)/profiles/nordic-uart.yaml"
        let device = try Program(["run", "--events", "json", uart] + radio)
        #expect(try await device.output.line(containing: "\"ready\"") != nil)
        var ends: [Int32] = [-1, -1]
        #expect(makePipe(&ends) == 0)
        let phone = try Program(["connect", "Nordic", "--timeout", "1 min"] + radio, input: ends[0])
        #expect(try await phone.output.line(containing: "6E400003") != nil)
        // Nothing arrives any more, and no time passes in which the link would end.
        isPassing.withLock { $0 = false }
        air.change { $0.loss = 1 }
        let command = Array("command nordic-uart-rx 00\n".utf8)
        for _ in 0..<300 { #expect(write(ends[1], command, command.count) == command.count) }
        close(ends[1])
        for _ in 0..<64 { #expect(try await phone.output.line(containing: "sent to nordic-uart-rx") != nil) }
        air.change { $0.loss = 0 }
        isPassing.withLock { $0 = true }
        let result = try await phone.end()
        #expect(result.status == .exited(0) && result.complaint == "")
        device.child.send(SIGINT)
        let events = try await device.end().output
        #expect(events.split(separator: "\n").count { $0.contains("\"event\":\"write\"") } == 300)
        time.cancel()
        server.close()
    }

    @Test func `keys that one side has lost are forgotten on the other, and pairing makes new ones`()
        async throws
    {
        try await VirtualStage.play { stage in
            let profile = try ProfileFile(
                Self.lock.replacing("displayOnly", with: "noInputNoOutput").replacing(
                    "authenticated", with: "encrypted"))
            let keys = try TemporaryDirectory()
            let device = try TemporaryDirectory()
            func phone(_ words: String...) async throws -> Program.Result {
                let devices = try await stage.devices([profile.path], ["--state-dir", device.path])
                let result = await stage.phone(words + ["--state-dir", keys.path])
                await stage.quit(devices)
                return result
            }
            func script(_ command: String) async throws -> Program.Result {
                try await phone("connect", "lock", "--command", command)
            }
            #expect(try await script("forget").complaint == "error: there is no bond with the device\n")
            #expect(try await script("read 2A19").status == .exited(0))
            // It has lost its bonds, and not who it is.
            let file = "\(device.path)/bonds+Lock.json"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let start = try #require(text.range(of: "\"bonds\"")).lowerBound
            try Data((text[..<start] + "\"bonds\": []}").utf8).write(to: URL(fileURLWithPath: file))
            let refused = try await script("read 2A19")
            #expect(refused.status == .exited(1))
            #expect(refused.error.contains("no longer has the bond; forget it here too, and pair again"))
            let recorded = try await phone("record", "lock", "--timeout", "1 ms")
            #expect(recorded.status == .exited(1))
            #expect(
                recorded.error.contains(
                    " --state-dir \(keys.path) --command forget\n"),
                "\(recorded.error)")
            let mended = try await phone("connect", "lock", "--command", "forget", "--command", "read 2A19")
            #expect(mended.status == .exited(0) && mended.complaint == "")
            #expect(mended.output.contains("the bond is deleted\npaired\nbattery-level  64  100 %\n"))
        }
    }

    @Test func `a script pairs when the device wants it, and the keys are there the next time`() async throws
    {
        try await VirtualStage.play { stage in
            let profile = try ProfileFile(
                Self.lock.replacing("displayOnly", with: "noInputNoOutput").replacing(
                    "authenticated", with: "encrypted"))
            let device = try TemporaryDirectory()
            let keys = try TemporaryDirectory()
            _ = try await stage.devices([profile.path], ["--state-dir", device.path])
            for isFirst in [true, false] {
                let result = await stage.phone(
                    ["connect", "lock", "--state-dir", keys.path, "--command", "read 2A19"]
                )
                #expect(result.status == .exited(0))
                #expect(result.output.contains("battery-level  64  100 %\n"))
                #expect(result.output.contains("paired\n") == isFirst)
                #expect(result.complaint == "")
            }
        }
    }

    @Test func `a number that nobody can type is told, and what is protected stays so`() async throws {
        try await VirtualStage.play { stage in
            let profile = try ProfileFile(Self.lock)
            _ = try await stage.devices([profile.path])
            let result = await stage.phone(["connect", "lock", "--command", "read 2A19"])
            #expect(result.status == .exited(1))
            #expect(result.complaint.hasPrefix("error: "))
            #expect(!result.output.contains("battery-level  64"))
        }
    }

    @Test(arguments: [
        (["mynah", "--command", "raed 2A37"], "did you mean \"read\""),
        (["mynah", "--command", "read hart-rate-measurement"], "did you mean"),
        (["mynah", "--radio", "bluez"], "do not use BlueZ"),
        (["mynah", "--passkey", "1000000"], "expected a whole number from 0 to 999999"), ([], "device"),
        ([""], "DEVICE is empty"),
    ])
    func `wrong usage is told before anything is looked for`(arguments: [String], words: String) async throws
    {
        let result = try await VirtualStage.play(["connect"] + arguments)
        #expect(result.status == .exited(64))
        #expect(result.error.contains(words))
    }
}
