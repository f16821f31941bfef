import MynahControl
import MynahEmulator
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct JournalTests {
    @Test func `other tasks run between two parts of a long journal`() async {
        let time = VirtualTime(.fast)
        defer { time.end() }
        let journal = Events.journal((1...2500).map { Events.numbered($0) }, capacity: 2500)
        let order = Lock<[Int]>([])
        // All tasks of virtual time are on one thread, in order.
        await withTaskExecutorPreference(RunClock(time).taskExecutor) {
            await withTaskGroup { group in
                group.addTask {
                    await journal.forEachSlice(from: 1) { slice in
                        order.withLock { $0.append(slice.entries.count) }
                        return true
                    }
                }
                group.addTask { order.withLock { $0.append(0) } }
            }
        }
        #expect(order.withLock { $0 } == [1000, 0, 1000, 500])
    }

    @Test func `an entry is the event with its number first`() {
        let event = DeviceEvent(time: .now(), name: .read, fields: [.init("device", .string("lock"))])
        let json = Journal.Entry(seq: 7, event: event).json.text
        #expect(json.hasPrefix(#"{"seq":7,"time":"#))
        #expect(json.hasSuffix(#","event":"read","device":"lock"}"#))
    }

    @Test func `a read event names its device first, which it was given or names itself`() {
        let journal = Journal()
        let event = DeviceEvent(time: .now(), name: .read, fields: [.init("value", .string("01"))])
        journal.append(event, of: "lock")
        journal.append(event.named("strap"), of: "lock")
        journal.append(event)
        let events = journal.read(from: 1).entries.map(\.event)
        #expect(events.map { $0.string("device") } == ["lock", "strap", nil])
        #expect(events.map { $0.fields.first?.key } == ["device", "device", "value"])
    }

    /// Numbers that are asked for, and what a journal of three that has had five events answers.
    @Test(
        arguments: [
            (UInt64(0), 10, [3, 4, 5], UInt64(6), UInt64(2)), (1, 10, [3, 4, 5], 6, 2),
            (2, 10, [3, 4, 5], 6, 1),
            (3, 10, [3, 4, 5], 6, 0), (3, 2, [3, 4], 5, 0), (1, 1, [3], 4, 2), (5, 10, [5], 6, 0),
            (6, 10, [], 6, 0), (9, 10, [], 9, 0), (1, 0, [], 3, 2), (1, -1, [], 3, 2),
            (.max, 10, [], .max, 0),
        ] as [(UInt64, Int, [Int], UInt64, UInt64)])
    func `a slice begins with the number that is asked for, or says how many events are lost`(
        from: UInt64, limit: Int, numbers: [Int], next: UInt64, lost: UInt64
    ) {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        let slice = journal.read(from: from, limit: limit)
        #expect(slice.entries.map(\.seq) == numbers.map { UInt64($0) })
        #expect(slice.entries.map(\.event) == numbers.map { Events.numbered($0) })
        #expect(slice.next == next)
        #expect(slice.lost == lost)
        #expect(journal.kept == 3..<6)
    }

    @Test func `a journal of any length keeps the latest events in order`() {
        for capacity in 1...5 {
            let journal = Journal(capacity: capacity)
            for number in 1...13 {
                #expect(journal.append(Events.numbered(number)) == UInt64(number))
                let first = max(1, number - capacity + 1)
                let slice = journal.read(from: 1)
                #expect(slice.entries.map(\.event) == (first...number).map { Events.numbered($0) })
                #expect(slice.lost == UInt64(first - 1))
            }
        }
    }

    @Test func `a flood of long writes takes no more memory than the limit`() {
        let value = String(repeating: "5A", count: 512)
        let journal = Journal(byteLimit: 1 << 20)
        for _ in 0..<5000 { journal.append(Events.write(value)) }
        let slice = journal.read(from: 1, limit: .max)
        // The value alone has 512 bytes.
        #expect((300...2048).contains(slice.entries.count), "\(slice.entries.count)")
        #expect(slice.lost == UInt64(5000 - slice.entries.count))
        #expect(slice.next == 5001)
        #expect(slice.entries.map(\.seq) == Array(slice.entries[0].seq...5000))
        // Short events take the place of long ones, and the limits go on.
        for number in 0..<2000 { journal.append(Events.numbered(number)) }
        let short = journal.read(from: 5001, limit: .max)
        #expect(short.entries.map(\.event) == (0..<2000).map { Events.numbered($0) })
        #expect(short.lost == 0)
        journal.append(Events.write(String(repeating: "5A", count: 1 << 20)))
        #expect(journal.kept == 7001..<7002)
        journal.clear()
        #expect(journal.kept == 7002..<7002)
        journal.append(Events.numbered(1))
        #expect(journal.read(from: 7002).entries.map(\.event) == [Events.numbered(1)])
    }

    @Test func `events of mixed lengths keep their order and their numbers`() {
        var random = SystemRandomNumberGenerator()
        let journal = Journal(capacity: 64, byteLimit: 16_384)
        var lengths: [Int] = []
        for _ in 0..<3000 {
            lengths.append(Int.random(in: 0...2000, using: &random))
            journal.append(Events.write(String(repeating: "5A", count: lengths[lengths.count - 1])))
            let slice = journal.read(from: 1, limit: .max)
            let kept = slice.entries.map { $0.event.payload.value?.count ?? 0 }
            #expect(kept == lengths.suffix(kept.count))
            #expect(kept.count <= 64 && kept.reduce(0, +) <= 16_384 && !kept.isEmpty)
            #expect(slice.lost == UInt64(lengths.count - kept.count))
        }
    }

    @Test func `a mark has the number of the next event`() throws {
        let journal = Events.journal([Events.numbered(1)])
        #expect(try journal.start(since: nil) == 1)
        #expect(journal.mark("first") == 2)
        #expect(journal.mark("second") == 2)
        journal.append(Events.numbered(2))
        #expect(journal.marks.map(\.name) == ["first", "second"])
        #expect(try journal.start(since: nil) == 2)
        #expect(journal.read(from: 2).entries.map(\.event) == [Events.numbered(2)])
    }

    @Test func `the oldest marks are dropped`() {
        let journal = Journal()
        for number in 0...Journal.markLimit { journal.mark("\(number)") }
        #expect(journal.marks.count == Journal.markLimit)
        #expect(journal.marks.first?.name == "1")
        #expect(journal.marks.last?.name == "\(Journal.markLimit)")
    }

    @Test func `an emptied journal has neither events nor marks, and its numbers go on`() throws {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        journal.mark("m")
        journal.clear()
        #expect(journal.kept == 6..<6)
        #expect(journal.marks.isEmpty)
        #expect(try journal.start(since: nil) == 6)
        #expect(journal.read(from: 1) == Journal.Slice(entries: [], next: 6, lost: 5))
        for number in 6...9 { #expect(journal.append(Events.numbered(number)) == UInt64(number)) }
        #expect(journal.read(from: 6).entries.map(\.seq) == [7, 8, 9])
    }

    @Test func `a request may not begin after the next event`() async throws {
        let journal = Events.journal([Events.numbered(1)])
        #expect(try journal.start(since: 0) == 1)
        #expect(try journal.start(since: 2) == 2)
        let problem = await thrown { () throws(ControlProblem) in _ = try journal.start(since: 3) }
        #expect(problem?.status == 400)
        #expect(problem?.detail.hasPrefix("there is no event 3 yet, the next event is 2") == true)
    }

    // MARK: Waiting

    @Test func `an event wakes those that wait for its number, and no others`() async throws {
        let journal = Journal()
        async let first = journal.changed(from: 1)
        async let second = journal.changed(from: 2)
        try await until("both wait") { journal.waiterCount == 2 }
        journal.append(Events.numbered(1))
        #expect(await first)
        #expect(journal.waiterCount == 1)
        #expect(await journal.changed(from: 1))
        journal.append(Events.numbered(2))
        #expect(await second)
        #expect(journal.waiterCount == 0)
    }

    @Test func `the end wakes everybody, and nobody waits after it`() async throws {
        let journal = Journal()
        async let first = journal.changed(from: 1)
        async let far = journal.changed(from: 1000)
        try await until("both wait") { journal.waiterCount == 2 }
        journal.end()
        #expect(await !first)
        #expect(await !far)
        #expect(await !journal.changed(from: 1))
        #expect(journal.isEnded)
        #expect(journal.append(Events.numbered(1)) == 1)
        #expect(await journal.changed(from: 1))
    }

    @Test func `a cancelled task does not wait, whether it is cancelled before or after`() async throws {
        let journal = Journal()
        let waiting = Task { await journal.changed(from: 1) }
        try await until("it waits") { journal.waiterCount == 1 }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(journal.waiterCount == 0)
        for _ in 0..<200 {
            let task = Task { await journal.changed(from: 1) }
            task.cancel()
            #expect(await !task.value)
        }
        #expect(journal.waiterCount == 0)
    }

    @Test func `a reader gets every event that writers append at once, in order`() async {
        let journal = Journal(capacity: 100_000)
        await withTaskGroup(of: [UInt64]?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var reader = JournalReader(journal, from: 1)
                    var numbers: [UInt64] = []
                    while numbers.count < 8000, let slice = await reader.next(limit: 64) {
                        numbers += slice.entries.map(\.seq)
                        #expect(slice.lost == 0)
                    }
                    return numbers
                }
            }
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<2000 { journal.append(Events.numbered(writer * 2000 + number)) }
                    return nil
                }
            }
            for await numbers in group where numbers != nil { #expect(numbers == Array(1...8000)) }
        }
        let numbers = journal.read(from: 1, limit: .max).entries.map { $0.event["mtu"] }
        #expect(Set(numbers).count == 8000)
    }

    @Test func `a mark and a reset are noticed by readers that want it, and others wait for events`()
        async throws
    {
        let journal = Journal()
        journal.mark("early")
        var reader = JournalReader(journal, from: 1, noticesChanges: true)
        #expect(await reader.next()?.entries == [])
        let (first, second) = (reader.takeChange(), reader.takeChange())
        #expect(first && !second)
        let other = Task { await journal.changed(from: 1) }
        for change in [{ _ = journal.mark("a") }, { journal.clear() }] {
            let task = Task { [reader] in
                var reader = reader
                return (await reader.next()?.entries, reader.takeChange(), reader)
            }
            try await until("both wait") { journal.waiterCount == 2 }
            change()
            let (entries, isChanged, next) = await task.value
            #expect(entries == [] && isChanged)
            #expect(journal.waiterCount == 1)
            reader = next
        }
        journal.append(Events.numbered(1))
        #expect(await other.value)
        #expect(await reader.next()?.entries.map(\.seq) == [1])
        let isChanged = reader.takeChange()
        #expect(!isChanged)
    }

    @Test func `a slow reader is told how many events it has lost`() async {
        let journal = Events.journal((1...5).map { Events.numbered($0) }, capacity: 3)
        var reader = JournalReader(journal, from: 1)
        #expect(await reader.next()?.lost == 2)
        journal.append(Events.numbered(6))
        journal.clear()
        #expect(await reader.next() == Journal.Slice(entries: [], next: 7, lost: 1))
        journal.append(Events.numbered(7))
        journal.end()
        #expect(await reader.next()?.entries.map(\.seq) == [7])
        #expect(await reader.next() == nil)
    }

    // MARK: Histories

    @Test func `a journal that begins anew has no events, and numbers from 1`() throws {
        let journal = Events.journal((1...5).map(Events.numbered))
        let epoch = journal.epoch
        journal.mark("a")
        journal.restart()
        #expect(journal.epoch != epoch && journal.kept == 1..<1 && journal.marks == [])
        #expect(journal.append(Events.numbered(6)) == 1)
        #expect(try journal.start(since: nil) == 1)
    }

    @Test
    func `a reader goes on with the first event of a journal that begins anew, whether it waits or not`()
        async throws
    {
        let journal = Events.journal((1...5).map(Events.numbered))
        var late = JournalReader(journal, from: 6)
        let waiting = Task { () -> (Journal.Slice?, String) in
            var reader = JournalReader(journal, from: 6)
            var slice = await reader.next()
            // A change ends its waiting; the part may be empty.
            if slice?.entries.isEmpty == true { slice = await reader.next() }
            return (slice, reader.epoch)
        }
        try await until("the reader waits") { journal.waiterCount == 1 }
        journal.restart()
        journal.append(Events.numbered(6))
        let (slice, epoch) = await waiting.value
        #expect(slice?.entries.map(\.seq) == [1] && slice?.next == 2 && epoch == journal.epoch)
        #expect(await late.next()?.entries.map(\.seq) == [1])
        #expect(late.epoch == journal.epoch)
    }

    @Test func `a slow reader gets the rest of a history that has ended, and then the next one`() async {
        let journal = Events.journal((1...5).map(Events.numbered), capacity: 3)
        let epoch = journal.epoch
        var reader = JournalReader(journal, from: 2)
        let named = JournalReader(journal, from: 4, of: epoch)
        journal.restart()
        journal.append(Events.numbered(6))
        journal.end()
        for var reader in [named, JournalReader(journal, from: 4, of: epoch)] {
            #expect(await reader.next()?.entries.map(\.seq) == [4, 5])
            #expect(reader.epoch == epoch)
            #expect(await reader.next()?.entries.map(\.seq) == [1])
            #expect(reader.epoch == journal.epoch)
            #expect(await reader.next() == nil)
        }
        let first = await reader.next(limit: 2)
        #expect(first?.lost == 1 && first?.entries.map(\.seq) == [3, 4])
        #expect(await reader.next(limit: 2)?.entries.map(\.seq) == [5])
    }

    @Test func `a reader that missed a whole history is told how many events it has lost`() async {
        let journal = Events.journal((1...5).map(Events.numbered))
        var reader = JournalReader(journal, from: 4)
        var atEnd = JournalReader(journal, from: 6)
        journal.restart()
        for number in 1...3 { journal.append(Events.numbered(number)) }
        journal.restart()
        journal.append(Events.numbered(9))
        let slice = await reader.next()
        #expect(slice?.lost == 5 && slice?.entries.map(\.seq) == [1] && reader.epoch == journal.epoch)
        #expect(await atEnd.next()?.lost == 3)
    }
}
