import Glibc
import MynahDBus
import MynahSupport
import MynahTestSupport
import Testing

/// An actor as the radio is one: on the executor of the bus.
private actor Resident {
    nonisolated var unownedExecutor: UnownedSerialExecutor { GLibExecutor.shared.asUnownedSerialExecutor() }
    private var numbers: [Int] = []

    func add(_ number: Int) {
        numbers.append(number)
    }

    func taken() -> [Int] { numbers }

    func callsItself(_ pair: Pair) async throws(DBusError) -> Bool {
        let before = GLibExecutor.shared.isCurrent
        _ = try await pair.call("Nothing")
        return before && GLibExecutor.shared.isCurrent
    }

    func emit(on connection: DBusConnection) throws(DBusError) {
        try connection.emit("/a", "test.Signals", "Moved")
    }
}

@Suite(.timeLimit(.minutes(15))) struct ExecutorTests {
    @Test func `an actor lives on the executor, and is entered from a handler without a hop`() async throws {
        let pair = try await Pair()
        let resident = Resident()
        pair.object.answer { call in
            resident.assumeIsolated { $0.add(1) }
            call.reply()
        }
        _ = try await pair.call("Nothing")
        #expect(await resident.taken() == [1])
        #expect(try await resident.callsItself(pair))
        try await resident.emit(on: pair.client)
    }

    @Test func `jobs of one sender keep their order`() async {
        let resident = Resident()
        for number in 0..<1000 {
            await resident.add(number)
        }
        #expect(await resident.taken() == Array(0..<1000))
    }

    @Test func `work queued from many threads is all done`() async {
        let resident = Resident()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask { await resident.add(number) }
            }
        }
        #expect(await resident.taken().sorted() == Array(0..<500))
    }

    @Test func `a timer runs once each time it is armed, and not when it is called off`() async throws {
        let fired = Mailbox<String>("the timers")
        let first = GLibTimer { fired.put("first") }
        let second = GLibTimer { fired.put("second") }
        await GLibExecutor.shared.perform {
            first.schedule(after: .zero)
            first.cancel()
            second.schedule(after: .milliseconds(2))
        }
        #expect(try await fired.take() == ["second"])
        first.schedule(after: .zero)
        #expect(try await fired.take() == ["first"])
        second.schedule(after: .seconds(3600))
    }
}

@Suite(.timeLimit(.minutes(15))) struct FileDescriptorTests {
    @Test func `a descriptor arrives as a copy, and both ends are closed once`() async throws {
        let pair = try await Pair()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let near = DBusFileDescriptor(owning: ends[0])
        var far: DBusFileDescriptor? = DBusFileDescriptor(owning: ends[1])
        let message = try await pair.call("Descriptor") { [far] body in
            if let far { body.append(far) }
        }
        far = nil
        var reader = message.reader()
        var copy: DBusFileDescriptor? = try reader.readFileDescriptor()
        let number = try #require(copy?.rawValue)
        #expect(number != ends[0] && number >= 0)
        let sent: [UInt8] = [1, 2, 3]
        #expect(send(number, sent, 3, 0) == 3)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(recv(near.rawValue, &buffer, 8, 0) == 3)
        #expect(Array(buffer.prefix(3)) == sent)
        copy = nil
        #expect(fcntl(near.rawValue, F_GETFD) >= 0)
    }

    @Test func `a watch tells what can be read, and a hang-up once`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let near = DBusFileDescriptor(owning: ends[0])
        var far: DBusFileDescriptor? = DBusFileDescriptor(owning: ends[1])
        let seen = Mailbox<GLibFileDescriptorWatch.Events>("the events of the descriptor")
        let last = Lock<GLibFileDescriptorWatch.Events>([])
        let watch = GLibFileDescriptorWatch(near, .readable) { events in
            var buffer: [UInt8] = [0]
            _ = recv(near.rawValue, &buffer, 1, Int32(MSG_DONTWAIT))
            // A descriptor that stays writable is told of in each turn of the loop.
            let isNew = last.withLock { last in
                defer { last = events }
                return last != events
            }
            if isNew { seen.put(events) }
        }
        let sent: [UInt8] = [1]
        #expect(send(ends[1], sent, 1, 0) == 1)
        #expect(try await seen.take() == [.readable])
        await GLibExecutor.shared.perform { watch.setEvents([.readable, .writable]) }
        #expect(try await seen.take() == [.writable])
        await GLibExecutor.shared.perform { watch.setEvents([]) }
        far = nil
        _ = far
        #expect(try await seen.take() == [.hangUp])
    }

    @Test func `a descriptor is duplicated, and an invalid one is an error`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(makePipe(&ends) == 0)
        let original = DBusFileDescriptor(owning: ends[0])
        let writing = DBusFileDescriptor(owning: ends[1])
        let copy = try DBusFileDescriptor(duplicating: writing.rawValue)
        #expect(copy.rawValue != writing.rawValue)
        let sent: [UInt8] = [7]
        #expect(write(copy.rawValue, sent, 1) == 1)
        var buffer: [UInt8] = [0]
        #expect(read(original.rawValue, &buffer, 1) == 1)
        #expect(buffer == [7])
        #expect(throws: DBusError.self) { try DBusFileDescriptor(duplicating: -1) }
    }
}
