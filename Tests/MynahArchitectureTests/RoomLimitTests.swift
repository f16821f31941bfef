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

    @Test(arguments: Measured.allCases)
    func `every type stays within the limits, or within its listed one`(_ measured: Measured) throws {
        let types = RoomLimits.measureTypes(try SourceFolder.sources.get())
        #expect(types.count > 1000)
        let listed = measured.listed
        let found = types.mapValues(measured.count).filter {
            $0.value > measured.limit && !(measured == .lines && RoomLimits.dataTypes.contains($0.key))
        }
        for (type, count) in found.sorted(by: { $0.key < $1.key })
        where count > listed[type] ?? measured.limit {
            Issue.record("\(type) has \(count) \(measured), and may have \(listed[type] ?? measured.limit)")
        }
        for type in listed.keys.sorted() where found[type] == nil {
            Issue.record("\(type) is listed for its \(measured), and is within the limit for all types")
        }
    }

    /// A measure of a type.
    enum Measured: String, CaseIterable, CustomTestStringConvertible, CustomStringConvertible {
        case lines = "lines of code"
        case properties = "stored properties"
        case backReferences = "references back to its owner"

        var description: String { rawValue }
        var testDescription: String { rawValue }

        var limit: Int {
            switch self {
            case .lines: RoomLimits.typeLines
            case .properties: RoomLimits.typeProperties
            case .backReferences: 0
            }
        }

        var listed: [String: Int] {
            switch self {
            case .lines: RoomLimits.longTypes
            case .properties: RoomLimits.fullTypes
            case .backReferences: RoomLimits.backReferences
            }
        }

        func count(_ measure: RoomLimits.TypeMeasure) -> Int {
            switch self {
            case .lines: measure.lines
            case .properties: measure.properties
            case .backReferences: measure.backReferences
            }
        }
    }

    @Test func `no more parts are handed a whole phone`() throws {
        let count = try SourceFolder.sources.get().reduce(0) {
            $0 + $1.source.count(of: ["isolated", "Phone"])
        }
        #expect(count <= RoomLimits.wholePhones.now)
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
