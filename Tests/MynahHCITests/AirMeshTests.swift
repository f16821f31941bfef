import Glibc
import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHCI

/// A process of an air: its part of the mesh, and what it received and reported.
private final class Member: Sendable {
    let mesh: AirMesh
    let frames: Lock<[AirFrame]>
    let notices: Notices

    init(
        _ directory: AirDirectory,
        follow: @escaping AirMesh.Follow = { DeletionWatch.shared.follow($0, $1) }
    ) {
        let frames = Lock<[AirFrame]>([])
        let notices = Notices()
        mesh = AirMesh(
            directory, follow: follow, receive: { new in frames.withLock { $0 += new } }, notice: notices.sink
        )
        self.frames = frames
        self.notices = notices
    }

    deinit { mesh.leave() }

    func hears(_ frame: AirFrame) -> Bool { frames.withLock { $0.contains(frame) } }
}

extension Trait where Self == ConditionTrait {
    /// Needs inotify, of which the kernel grants each user a limited number of instances.
    static var isWatching: Self {
        .enabled(if: DeletionWatch.shared.isAvailable, "the kernel grants no inotify instance")
    }
}

@Suite(.timeLimit(.minutes(15))) struct AirMeshTests {
    let temporary: TemporaryDirectory
    private var directory: AirDirectory { AirDirectory(path: temporary.path) }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    private func frame(_ station: UInt64, to: Station? = nil, length: Int = 3) -> AirFrame {
        AirFrame(
            from: Station(station), to: to,
            pdu: .advertisement(
                AirAdvertisement(
                    [], address: AirRig.address(9), data: [UInt8](repeating: 7, count: length))))
    }

    // MARK: - Joining

    /// Every order of the steps of so many processes, in which each takes its own in turn.
    private static func orders(of processes: Int, steps: Int) -> [[Int]] {
        func rest(_ done: [Int]) -> [[Int]] {
            if done.allSatisfy({ $0 == steps }) { return [[]] }
            return (0..<processes).filter { done[$0] < steps }.flatMap { next in
                var after = done
                after[next] += 1
                return rest(after).map { [next] + $0 }
            }
        }
        return rest([Int](repeating: 0, count: processes))
    }

    @Test func `three processes that start at once find each other, in whichever order they open and look`()
        async throws
    {
        let orders = Self.orders(of: 3, steps: 2)
        #expect(orders.count == 90)
        for order in orders {
            let members = (0..<3).map { _ in Member(directory) }
            var opened: Set<Int> = []
            for each in order {
                if opened.insert(each).inserted {
                    try members[each].mesh.open()
                } else {
                    try members[each].mesh.find()
                }
            }
            try await until("each process knows two others") { members.allSatisfy { $0.mesh.count == 2 } }
        }
        #expect(temporary.files == [])
    }

    @Test func `a process is found although another looked between its bind and its listen`() async throws {
        let late = try directory.bind(as: 77)
        let member = Member(directory)
        try member.mesh.join()
        #expect(temporary.files.contains(AirDirectory.name(of: 77)))
        try #require(systemListen(late) == 0)
        // Now it looks, and finds who was there before it.
        let found = try #require(try directory.nodes().first { $0 != 77 })
        let line = try #require(directory.connect(to: found))
        _ = Descriptor.send(line, AirGreeting(node: 77, wantsAdvertising: false).bytes)
        try await until("the process knows one other") { member.mesh.count == 1 }
        close(line)
        close(late)
    }

    // MARK: - A socket that is deleted

    @Test(.isWatching) func `a socket that is deleted or moved away is made again, and warned of once`()
        async throws
    {
        let first = Member(directory)
        try first.mesh.join()
        let name = try #require(temporary.files.first)
        for round in 0..<6 {
            let old = try #require(directory.identity(of: first.mesh.node))
            let path = directory.path(of: first.mesh.node)
            #expect(round % 2 == 0 ? unlink(path) == 0 : rename(path, temporary.path + "/away") == 0)
            try await until("the first process is in the directory again") {
                let new = directory.identity(of: first.mesh.node)
                return new != nil && (new != old || round % 2 == 0)
            }
            #expect(temporary.files.contains(name))
            let later = Member(directory)
            try later.mesh.join()
            try await until("both processes know each other") {
                later.mesh.count == 1 && first.mesh.count == 1
            }
            later.mesh.leave()
            try await until("the first process is alone") { first.mesh.count == 0 }
        }
        #expect(first.notices.codes.withLock { $0 } == ["airSocketDeleted"])
    }

    @Test(.isWatching) func `a directory that is removed is made again, and all are found in it`()
        async throws
    {
        let inner = AirDirectory(path: temporary.path + "/air")
        let members = (0..<3).map { _ in Member(inner) }
        for member in members { try member.mesh.join() }
        try await until("each process knows two others") { members.allSatisfy { $0.mesh.count == 2 } }
        // As rm -r does, until it is gone at a moment when nobody was quick enough.
        for _ in 0..<20 {
            for node in try inner.nodes() { inner.remove(node) }
            if rmdir(inner.path) == 0 { break }
        }
        try await until("every process is in the directory that was made again") {
            members.allSatisfy { inner.identity(of: $0.mesh.node) != nil }
        }
        let later = Member(inner)
        try later.mesh.join()
        try await until("each of the four processes knows three others") {
            later.mesh.count == 3 && members.allSatisfy { $0.mesh.count == 3 }
        }
        #expect(try Set(inner.nodes()) == Set((members + [later]).map(\.mesh.node)))
        for member in members + [later] { member.mesh.leave() }
        rmdir(inner.path)
    }

    @Test(.isWatching) func `a directory that was moved away is made again in its place`() async throws {
        let inner = AirDirectory(path: temporary.path + "/air")
        let member = Member(inner)
        try member.mesh.join()
        try #require(rename(inner.path, temporary.path + "/moved") == 0)
        try await until("the process is in the directory that was made again") {
            inner.identity(of: member.mesh.node) != nil
        }
        // The new directory is the one that is watched now.
        inner.remove(member.mesh.node)
        try await until("the process is in the directory that was made again") {
            inner.identity(of: member.mesh.node) != nil
        }
        member.mesh.leave()
        unlink("\(temporary.path)/moved/\(AirDirectory.name(of: member.mesh.node))")
        rmdir(temporary.path + "/moved")
        rmdir(inner.path)
    }

    @Test(.isWatching) func `a socket that cannot be made again is reported, and the neighbours stay`()
        async throws
    {
        let inner = AirDirectory(path: temporary.path + "/air")
        let members = [Member(inner), Member(inner)]
        for member in members { try member.mesh.join() }
        try await until("each process knows one other") { members.allSatisfy { $0.mesh.count == 1 } }
        try #require(rename(inner.path, temporary.path + "/moved") == 0)
        // No directory can be made where a file is. A socket that was made again in between moves away with
        // it.
        while symlink("/nonexistent", inner.path) != 0 {
            _ = rename(inner.path, temporary.path + "/moved-\(UInt32.random(in: 0 ... .max))")
        }
        try await until("each process warns that its socket was deleted") {
            members.allSatisfy { $0.notices.has("airSocketDeleted") }
        }
        #expect(members.allSatisfy { $0.mesh.count == 1 })
        for member in members { member.mesh.leave() }
        for name in temporary.files where name.hasPrefix("moved") {
            let moved = AirDirectory(path: "\(temporary.path)/\(name)")
            for node in try moved.nodes() { moved.remove(node) }
            rmdir(moved.path)
        }
    }

    @Test func `an air whose directory cannot be watched is joined all the same, with one warning`()
        async throws
    {
        let unwatched = Member(directory, follow: { _, _ in .failure(SystemError(EMFILE)) })
        try unwatched.mesh.join()
        let other = Member(directory)
        try other.mesh.join()
        try await until("both processes know each other without a watch") {
            unwatched.mesh.count == 1 && other.mesh.count == 1
        }
        #expect(unwatched.notices.codes.withLock { $0 } == ["airNotWatched"])
    }

    @Test func `inotify's events are read with and without names, and a torn one is none`() throws {
        func event(_ watch: UInt8, _ name: [UInt8]) -> [UInt8] {
            [watch, 0, 0, 0] + [0, 2, 0, 0] + [0, 0, 0, 0] + [UInt8(name.count), 0, 0, 0] + name
        }
        let bytes = event(1, Array("air\0\0\0\0\0".utf8)) + event(2, [])
        let expected = [
            DeletionWatch.Event(watch: 1, change: .entry("air")), .init(watch: 2, change: .all),
        ]
        #expect(DeletionWatch.events(in: bytes[...]) == expected)
        #expect(DeletionWatch.events(in: (bytes + [1, 0, 0])[...]) == expected)
        #expect(DeletionWatch.events(in: []) == [])
    }

    // MARK: - Who gets what

    @Test
    func `advertising goes to the processes that want it, from when they say so until they say otherwise`()
        async throws
    {
        let sender = Member(directory)
        let early = Member(directory)
        for member in [sender, early] { member.mesh.send(.wantsAdvertising(true)) }
        let late = Member(directory)
        for member in [sender, early, late] { try member.mesh.join() }
        // A PDU to a station always arrives, and after those sent before.
        func settle(_ mark: Int) async throws {
            for (member, station) in [(early, 101 as UInt64), (late, 102)] {
                let marked = frame(1, to: Station(station), length: mark)
                try await until("the process hears the marked frame") {
                    member.mesh.send(.frame(frame(station)))
                    sender.mesh.send(.frame(marked))
                    return member.hears(marked)
                }
            }
        }
        try await settle(1)
        sender.mesh.send(.frame(frame(1, length: 10)))
        try await settle(2)
        #expect(early.hears(frame(1, length: 10)) && !late.hears(frame(1, length: 10)))

        late.mesh.send(.wantsAdvertising(true))
        try await until("the late process hears advertising") {
            sender.mesh.send(.frame(frame(1, length: 11)))
            return late.hears(frame(1, length: 11))
        }
        early.mesh.send(.wantsAdvertising(false))
        late.mesh.send(.frame(frame(103, to: Station(1), length: 5)))
        early.mesh.send(.frame(frame(104, to: Station(1), length: 5)))
        try await until("the sender hears the last frames") {
            sender.hears(frame(103, to: Station(1), length: 5))
                && sender.hears(frame(104, to: Station(1), length: 5))
        }
        sender.mesh.send(.frame(frame(1, length: 12)))
        try await settle(3)
        #expect(late.hears(frame(1, length: 12)) && !early.hears(frame(1, length: 12)))
    }

    @Test func `a process that had no room for it learns later that advertising is wanted`() async throws {
        let member = Member(directory)
        try member.mesh.join()
        let stranger = try Stranger(temporary.path)
        stranger.send(AirGreeting(node: 77, wantsAdvertising: true).bytes)
        try await until("the process knows one other") { member.mesh.count == 1 }
        let long = frame(8, length: 1000)
        for _ in 0..<5000 { member.mesh.send(.frame(long)) }
        #expect(member.notices.has("airNeighbourDeaf"))
        member.mesh.send(.wantsAdvertising(true))
        member.mesh.send(.wantsAdvertising(false))
        member.mesh.send(.wantsAdvertising(true))
        var heard: [Bool] = []
        try await until("the stranger is told that advertising is wanted") {
            while let bytes = stranger.receive() {
                if case .wantsAdvertising(let isWanted) = AirMessage(bytes) { heard.append(isWanted) }
            }
            return !heard.isEmpty
        }
        #expect(heard == [true])
    }
}
