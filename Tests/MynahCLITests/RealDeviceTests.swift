import MynahTestSupport
import Testing

/// The behavior of devices that people own, as a phone that connects to them sees it.
@Suite(.timeLimit(.minutes(15))) struct RealDeviceTests {
    /// Plays a profile while a phone connects to it; returns what each prints.
    private func play(
        _ profile: String, _ commands: [String]
    ) async throws -> (device: String, phone: String) {
        let folder = try TemporaryDirectory()
        try folder.write(profile, to: "device.yaml")
        return try await VirtualStage.play { stage in
            let device = try await stage.run([folder.path + "/device.yaml"])
            let phone = await stage.play(
                ["connect", "Device", "--format", "json"] + commands.flatMap { ["--command", $0] })
            #expect(phone.status == .exited(0), "\(phone.error)")
            device.terminate()
            return (await device.end().output, phone.output)
        }
    }

    /// The values that a phone was sent, in their order.
    private func notified(_ output: String) -> [String] {
        output.split(separator: "\n").filter { $0.contains("\"event\":\"notified\"") }.compactMap { line in
            line.firstMatch(of: /"value":"([0-9A-F]*)"/).map { String($0.output.1) }
        }
    }

    @Test func `a pump gives a dose only after it was unlocked`() async throws {
        let pump = """
            mynah: 1
            name: Device
            advertising: {}
            variables: {unlocked: 0, dose: 0}
            services:
              - uuid: FFF0
                characteristics:
                  - uuid: FFF2
                    properties: [write]
                    value: {layout: [{op: uint8}, {arg: uint16}]}
                    on:
                      write:
                        - match: {op: 1, arg: 1234}
                          set: {unlocked: 1}
                          answer: {to: FFF1, value: {hex: 81 00}}
                        - {match: {op: 2}, when: unlocked == 0, error: 0x80}
                        - {match: {op: 2}, set: {dose: arg}, answer: {to: FFF1, value: {hex: 82 00}}}
                  - {uuid: FFF1, properties: [notify]}
            """
        let refused = try await fail(pump, ["write FFF2 02 05 00"])
        #expect(refused.phone.contains("0x80"), "\(refused)")
        let shown = try await play(
            pump, ["subscribe FFF1", "write FFF2 01 D2 04", "write FFF2 02 05 00", "wait 1 s"])
        #expect(notified(shown.phone) == ["8100", "8200"], "\(shown)")
    }

    @Test func `each of 120 answers arrives at its time`() async throws {
        let answers = (1...120).map { "{to: FFE2, value: {hex: \"\(hex($0))\"}, after: \($0 * 30) ms}" }
        let shown = try await play(
            """
            mynah: 1
            name: Device
            advertising: {}
            services:
              - uuid: FFE0
                characteristics:
                  - uuid: FFE1
                    properties: [write]
                    on: {write: [{match: {hex: 02}, answer: [\(answers.joined(separator: ", "))]}]}
                  - {uuid: FFE2, properties: [notify]}
            """, ["subscribe FFE2", "write FFE1 02", "wait 5 s"])
        #expect(notified(shown.phone) == (1...120).map(hex), "\(shown)")
        #expect(!shown.device.contains("answersDropped"))
    }

    @Test func `300 answers at once wait for room`() async throws {
        let answers = (0..<300).map { "{to: FFE2, value: {hex: \"\(hex($0 % 256))\"}}" }
        let shown = try await play(
            """
            mynah: 1
            name: Device
            advertising: {}
            services:
              - uuid: FFE0
                characteristics:
                  - uuid: FFE1
                    properties: [write]
                    on: {write: [{answer: [\(answers.joined(separator: ", "))]}]}
                  - {uuid: FFE2, properties: [notify]}
            """, ["subscribe FFE2", "write FFE1 02", "wait 20 s"])
        #expect(notified(shown.phone) == (0..<300).map { hex($0 % 256) }, "\(shown)")
    }

    @Test(arguments: [(false, [20]), (true, [20, 20, 5])])
    func `a frame that is longer than the link carries is cut, or sent in pieces`(
        isInPieces: Bool, lengths: [Int]
    ) async throws {
        let frame = (1...45).map(hex).joined()
        let shown = try await play(
            """
            mynah: 1
            name: Device
            advertising: {}
            services:
              - uuid: FFE0
                characteristics:
                  - uuid: FFE1
                    properties: [write, notify]
                    on: {write: [{answer: {value: {hex: \(frame)}\(isInPieces ? ", pieces: mtu" : "")}}]}
                  - uuid: FFE2
                    properties: [notify]
                    value: {hex: \(frame)}
                    every: 1 s
                    \(isInPieces ? "pieces: mtu" : "maxLength: 512")
            faults: [{name: small, on: mtu, mtu: 23}]
            """, ["subscribe FFE1", "write FFE1 AA", "wait 100 ms", "subscribe FFE2", "wait 1 s"])
        let values = notified(shown.phone)
        #expect(values.map { $0.count / 2 } == lengths + lengths, "\(shown)")
        #expect(values.prefix(lengths.count).joined() == frame.prefix(lengths.reduce(0, +) * 2))
        // The device's own events have what was sent.
        #expect(notified(shown.device) == values, "\(shown)")
        #expect(shown.device.count(of: "valueTooLong") == (isInPieces ? 0 : 1), "\(shown)")
    }

    @Test func `a bulb for one central leaves the air while it is connected, and comes back`() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            """
            mynah: 1
            name: Device
            advertising: {}
            centrals: 1
            services:
              - {uuid: FFF0, characteristics: [{uuid: FFF1, properties: [read, write], value: {hex: 01}}]}
            """, to: "device.yaml")
        let (before, meanwhile, after, device) = try await VirtualStage.play { stage in
            let device = try await stage.run([folder.path + "/device.yaml"])
            func scan() async -> String { await stage.play(["scan", "--timeout", "2s"]).output }
            let before = await scan()
            let phone = stage.start(["connect", "Device", "--command", "wait 10 s"])
            #expect(try await phone.output.line(containing: "onnected") != nil)
            let meanwhile = await scan()
            #expect(await phone.end().status == .exited(0))
            let after = await scan()
            device.terminate()
            return (before, meanwhile, after, await device.end().output)
        }
        #expect(before.contains("Device") && !meanwhile.contains("Device") && after.contains("Device"))
        let events = device.split(separator: "\n").filter {
            $0.contains("\"event\":\"advertising") || $0.contains("\"event\":\"central")
        }
        let expected = [
            "started", "central.connected", "a central is connected, and the device takes no more",
            "central.disconnected", "started", "stopped",
        ]
        #expect(events.count == expected.count, "\(device)")
        for (event, words) in zip(events, expected) { #expect(event.contains(words), "\(device)") }
    }

    @Test func `rules of a device follow connections and disconnections, and a fault ends with the link`()
        async throws
    {
        let folder = try TemporaryDirectory()
        try folder.write(
            """
            mynah: 1
            name: Device
            advertising: {}
            variables: {unlocked: 1, uses: 0}
            on:
              connect: [{when: uses == 0, set: {uses: 1}}, {set: {uses: 2}}]
              disconnect: [{set: {unlocked: 0}}]
            services:
              - uuid: FFF0
                characteristics:
                  - uuid: FFF1
                    properties: [read]
                    value:
                      layout: [{unlocked: uint8}, {uses: uint8}]
                      fields: {unlocked: {from: unlocked}, uses: {from: uses}}
            faults: [{name: busy, on: connect, do: advertise, with: {localName: Busy}, until: disconnected}]
            """, to: "device.yaml")
        let values = try await VirtualStage.play { stage in
            _ = try await stage.run([folder.path + "/device.yaml"])
            var values: [String] = []
            for _ in 1...2 {
                let phone = stage.start(
                    [
                        "connect", "Device", "--format", "json", "--command", "read FFF1", "--command",
                        "wait 10 s",
                    ])
                #expect(try await phone.output.line(containing: "\"event\":\"read\"") != nil)
                let scanned = await stage.play(["scan", "--timeout", "2s"]).output
                #expect(scanned.contains("Busy"), "\(scanned)")
                values.append(await phone.end().output)
            }
            return values
        }
        #expect(
            values[0].contains("\"value\":\"0101\"") && values[1].contains("\"value\":\"0002\""), "\(values)")
    }

    @Test(arguments: ["none", "always"])
    func `a serial module sends without a subscription`(subscription: String) async throws {
        let shown = try await play(
            """
            mynah: 1
            name: Device
            advertising: {}
            services:
              - uuid: FFE0
                characteristics:
                  - uuid: FFE1
                    properties: [write, notify]
                    subscription: \(subscription)
                    on: {write: [{answer: {value: {hex: 99}}}]}
                  - uuid: FFE2
                    properties: [notify]
                    subscription: \(subscription)
                    value: {hex: 77}
                    every: 1 s
            on: {connect: [{answer: {to: FFE2, value: {hex: 55}}}]}
            """, ["write FFE1 00", "wait 3 s"])
        #expect(shown.phone.count(of: "2902") == (subscription == "always" ? 3 : 1), "\(shown.phone)")
        #expect(Set(notified(shown.device)).isSuperset(of: ["55", "77", "99"]), "\(shown)")
        #expect(!shown.device.contains("answerNotSubscribed"))
    }

    @Test func `texts have numbers, variables and what was written in them`() async throws {
        let shown = try await play(
            """
            mynah: 1
            name: Device
            advertising: {}
            variables: {mode: eco}
            services:
              - uuid: FF10
                characteristics:
                  - uuid: FF11
                    properties: [read, notify]
                    value:
                      text: "{mode} {n:04} {t}"
                      n: {generate: counter}
                      t: {generate: list, values: [1.5, 20.0]}
                    every: 500 ms
                  - uuid: FF12
                    properties: [write, notify]
                    value: {layout: [{level: uint8}]}
                    on: {write: [{answer: {text: "level {level} in {mode} {x}"}}]}
            """, ["subscribe FF12", "write FF12 2A", "subscribe FF11", "wait 1200 ms"])
        let texts = notified(shown.phone).map { value in
            String(
                decoding: stride(from: 0, to: value.count, by: 2).map {
                    UInt8(value.dropFirst($0).prefix(2), radix: 16) ?? 0
                }, as: UTF8.self)
        }
        #expect(texts.first == "level 42 in eco {x}", "\(shown)")
        let counted = texts.dropFirst()
        #expect(
            counted.count >= 2
                && counted.allSatisfy { $0.wholeMatch(of: /eco 00[0-9]{2} (1\.5|20\.0)/) != nil }, "\(texts)")
        #expect(Set(counted).count == counted.count)
    }

    @Test func `faults of 2902 refuse reads and writes of it, and let discovery fail`() async throws {
        func profile(_ faults: String) -> String {
            """
            mynah: 1
            name: Device
            advertising: {}
            services:
              - {uuid: FFF0, characteristics: [{uuid: FFF1, properties: [read, notify], value: {hex: 01}}]}
            faults: [\(faults)]
            """
        }
        let refused = try await play(
            profile(
                "{name: r, on: read, of: FFF1/2902, error: 0x81}, "
                    + "{name: w, on: write, of: FFF1/2902, nth: 2, error: 0x82}"
            ),
            ["read FFF1", "subscribe FFF1"])
        #expect(refused.device.count(of: "fault.applied") == 0, "\(refused)")
        let failing = try await fail(
            profile("{name: w, on: write, of: FFF1/2902, error: 0x82}"), ["subscribe FFF1"])
        #expect(failing.phone.contains("0x82") && failing.device.contains("\"fault\":\"w\""), "\(failing)")
        let reading = try await fail(
            profile("{name: r, on: read, of: FFF1/2902, error: 0x81}"), ["read FFF1/2902"])
        #expect(reading.phone.contains("0x81"), "\(reading)")
        let silent = try await fail(
            profile("{name: d, on: discover, of: FFF1/2902, do: noAnswer}"), ["read FFF1"])
        #expect(silent.device.contains("\"fault\":\"d\""), "\(silent)")
    }

    @Test func `a phone that confirms no indication gets no more`() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            """
            mynah: 1
            name: Device
            advertising: {serviceUUIDs: [FFF0]}
            services:
              - uuid: FFF0
                characteristics: [{uuid: FFF1, properties: [indicate], value: {hex: 01}, every: 1 s}]
            """, to: "device.yaml")
        try folder.write(
            """
            mynah: 1
            name: Phone
            app: {}
            central:
              {scan: {services: [FFF0]}, confirm: false, peripherals: [{name: Strap, subscribe: [FFF1]}]}
            """, to: "phone.yaml")
        let result = try await VirtualStage.play([
            "run", folder.path + "/device.yaml", folder.path + "/phone.yaml", "--radio", "virtual",
            "--events",
            "json", "--timeout", "40s",
        ])
        #expect(result.output.contains("confirmationOverdue"), "\(result)")
        #expect(result.output.count(of: "value.updated") == 1, "\(result)")
        #expect(!result.output.contains("\"event\":\"confirmed\""))
    }

    /// The same for a phone whose last command fails.
    private func fail(
        _ profile: String, _ commands: [String]
    ) async throws -> (device: String, phone: String) {
        let folder = try TemporaryDirectory()
        try folder.write(profile, to: "device.yaml")
        return try await VirtualStage.play { stage in
            let device = try await stage.run([folder.path + "/device.yaml"])
            let phone = await stage.play(
                ["connect", "Device", "--format", "json"] + commands.flatMap { ["--command", $0] })
            #expect(phone.status == .exited(1), "\(phone)")
            device.terminate()
            return (await device.end().output, phone.output + phone.error)
        }
    }

    private func hex(_ number: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return text.count % 2 == 0 ? text : "0" + text
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
