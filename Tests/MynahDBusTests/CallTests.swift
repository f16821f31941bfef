import MynahDBus
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct CallTests {
    @Test func `an error answer is thrown with its name and text`() async throws {
        let pair = try await Pair()
        pair.object.answer { $0.fail(DBusError("org.bluez.Error.Failed", "0x85")) }
        let failure = await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }
        #expect(failure == DBusError("org.bluez.Error.Failed", "0x85"))
    }

    @Test(arguments: [DBusError("not a name", "kept"), DBusError("a.b", "a\0b"), DBusError("", "")])
    func `an error that cannot travel as it is travels as one that can`(wrong: DBusError) async throws {
        let pair = try await Pair()
        pair.object.answer { $0.fail(wrong) }
        let failure = await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }
        #expect(failure?.name == (wrong.name == "a.b" ? "a.b" : .failed))
        #expect(failure?.message == (wrong.name == "a.b" ? "a" : wrong.message))
    }

    @Test func `a call that wants no reply gets none`() async throws {
        let pair = try await Pair()
        let seen = Mailbox<Bool>("the calls")
        pair.object.answer { call in
            seen.put(call.wantsNoReply)
            call.reply()
            call.fail(DBusError(.failed))
        }
        _ = try await GLibExecutor.shared.perform { () throws(DBusError) in
            try pair.client.sendWithoutReply(pair.server.uniqueName, Pair.path, Pair.interface, "Nothing")
        }
        #expect(try await seen.take() == [true])
        // The bus would have refused an answer to it, and closed neither connection.
        pair.object.answer { $0.reply() }
        _ = try await pair.call("Nothing")
    }

    @Test func `late answers arrive, in any order`() async throws {
        let pair = try await Pair()
        let calls = Mailbox<MethodCall>("the calls")
        pair.object.answer { calls.put($0) }
        async let first = pair.call("Number") { $0.append(UInt32(1)) }.values()
        async let second = pair.call("Number") { $0.append(UInt32(2)) }.values()
        for call in try await calls.take(2).reversed() {
            let values = try call.message.values()
            call.reply { body in values.forEach { body.append($0) } }
        }
        #expect(try await first == [.uint32(1)])
        #expect(try await second == [.uint32(2)])
    }

    @Test func `no answer in time is an error, and an answer after that is dropped`() async throws {
        let pair = try await Pair()
        let calls = Mailbox<MethodCall>("the calls")
        pair.object.answer { calls.put($0) }
        let failure = await error { () async throws(DBusError) in
            _ = try await pair.call("Nothing", timeout: .milliseconds(1))
        }
        #expect(failure?.name == .noReply)
        try await calls.take().first?.reply()
        pair.object.answer { $0.reply(.uint32(5)) }
        #expect(try await pair.call("Number") { $0.append(UInt32(1)) }.values() == [.uint32(5)])
    }

    @Test func `a call let go unanswered answers with an error`() async throws {
        let pair = try await Pair()
        pair.object.answer { _ in }
        #expect(
            await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }?.name == .failed)
    }

    @Test func `a cancelled task stops waiting`() async throws {
        let pair = try await Pair()
        let calls = Mailbox<MethodCall>("the calls")
        pair.object.answer { calls.put($0) }
        let task = Task { await error { () async throws(DBusError) in _ = try await pair.call("Nothing") } }
        let held = try await calls.take()
        task.cancel()
        #expect(await task.value?.name == .cancelled)
        held.first?.reply()

        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error { () async throws(DBusError) in _ = try await pair.call("Nothing") }
        }
        #expect(await early.value?.name == .cancelled)
    }

    @Test func `a hundred calls in flight are answered in order`() async throws {
        let pair = try await Pair()
        let answers = Mailbox<UInt32>("the answers")
        try await GLibExecutor.shared.perform { () throws(DBusError) in
            // The system bus lets one peer wait for 128 answers at a time.
            for number in UInt32(0)..<100 {
                try pair.client.send(
                    pair.server.uniqueName, Pair.path, Pair.interface, "Number", body: { $0.append(number) }
                ) { result in
                    if case .success(let message) = result,
                        case .uint32(let number) = try? message.values().first
                    {
                        answers.put(number)
                    }
                }
            }
        }
        #expect(try await answers.take(100) == Array(0..<100))
    }

    @Test func `a body of megabytes goes through, and a larger one than the bus takes is an error`()
        async throws
    {
        let pair = try await Pair()
        let big = [UInt8](repeating: 0x5A, count: 8 << 20)
        #expect(try await pair.call("EchoBytes") { $0.appendBytes(big) }.values() == [.bytes(big)])
        let failure = await error { () async throws(DBusError) in
            _ = try await pair.call("EchoBytes") { $0.appendBytes([UInt8](repeating: 0, count: 33 << 20)) }
        }
        #expect(failure?.name == .limitsExceeded)
        #expect(pair.client.isClosed == false)
    }

    @Test(arguments: [
        ("no bus name", "a.b", "C"), ("", "a.b", "C"), ("a.b", "no.interface!", "C"), ("a.b", "", "C"),
        ("a.b", "single", "C"), ("a.b", "a.b", "no member"), ("a.b", "a.b", ""), ("a.b", "a.b", "A.B"),
        ("a\0.b", "a.b", "C"), ("a.b", "a.b\0", "C"), ("a.b", "a.b", "C\0"), ("ä.b", "a.b", "C"),
    ])
    func `an invalid name is an error`(destination: String, interface: String, member: String)
        async throws
    {
        let pair = try await Pair()
        #expect(
            await error { () async throws(DBusError) in
                _ = try await pair.client.call(destination, "/a", interface, member)
            }?.name == .invalidArguments)
    }

    @Test(arguments: ["", "a", "a/b", "/a/", "//", "/a//b", "/a-b", "/ä", "/a\0"])
    func `an invalid path is an error`(path: String) {
        #expect(throws: DBusError.self) { try ObjectPath(path) }
    }
}
