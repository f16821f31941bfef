import Testing

@Suite struct RoomLimitTests {
    @Test(arguments: RoomLimits.rooms.map(\.type))
    func `a driver stays within its limits`(type: String) throws {
        let room = try #require(RoomLimits.rooms.first { $0.type == type })
        let measure = RoomLimits.measure(type, in: try SourceFolder.sources.get().map(\.source))
        #expect(measure.files > 0, "no source declares \(type)")
        if let lines = room.lines {
            #expect(
                measure.lines <= lines.now, "\(type) has \(measure.lines) lines in \(measure.files) files")
        }
        let properties = measure.properties
        #expect(
            properties.count <= room.properties.now,
            "\(type) stores \(properties.count): \(properties.joined(separator: ", "))")
        if let function = room.function {
            #expect(
                measure.functionLines <= function.now,
                "\(measure.function) in \(type) has \(measure.functionLines) lines")
        }
    }

    @Test func `no limit is below its goal`() {
        for room in RoomLimits.rooms {
            for limit in [room.lines, room.properties, room.function].compactMap(\.self) {
                #expect(limit.now >= limit.goal, "\(room.type) has come to its goal: the limit is the goal")
            }
        }
    }

    @Test func `actors are entered by assumeIsolated in listed places only`() throws {
        var all = 0
        for (path, source) in try SourceFolder.sources.get() {
            let count = source.count(of: "assumeIsolated") + source.count(of: "onOwnExecutor")
            all += count
            #expect(count <= RoomLimits.assumptions[path] ?? 0, "\(path) has \(count) assumeIsolated")
        }
        #expect(all <= RoomLimits.allAssumptions.now)
    }

    @Test func `tasks that nothing waits for are started in listed places only`() throws {
        for (path, source) in try SourceFolder.sources.get() {
            let count = source.unstructuredTasks
            #expect(count <= RoomLimits.tasks[path] ?? 0, "\(path) starts \(count) unstructured tasks")
        }
    }
}
