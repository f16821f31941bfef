/// How large types may be, so that what they do stays in parts of their own.
///
/// A limit is what was measured last, until it is the goal: a change may lower a number and never raises one.
enum RoomLimits {
    /// The limits of one type.
    struct Room {
        /// The type, by its name.
        var type: String
        /// Lines of code, without comments and blank lines, over every source that declares or extends the
        /// type.
        var lines: Limit?
        /// Stored properties of its declaration.
        var properties: Limit
        /// Lines of code of the longest function in those sources.
        var function: Limit?
    }

    /// A limit, and the one to come to.
    struct Limit {
        var now: Int
        var goal: Int

        init(_ now: Int, goal: Int) {
            self.now = now
            self.goal = goal
        }
    }

    static let rooms = [
        Room(
            type: "HostRadio", lines: Limit(410, goal: 410), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "ControllerDriver", lines: Limit(300, goal: 300), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "GenericAccess", lines: Limit(200, goal: 200), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "LinkDriver", lines: Limit(410, goal: 410), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "ChannelDriver", lines: Limit(190, goal: 190), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "BlueZRadio", lines: Limit(400, goal: 400), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "FaultyRadio", lines: Limit(400, goal: 400), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "FaultMachine", lines: Limit(400, goal: 400), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "Phone", lines: Limit(350, goal: 350), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "PhoneCentral", lines: Limit(400, goal: 400), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "CentralConnections", lines: Limit(250, goal: 250), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "CentralPreservation", lines: Limit(150, goal: 150), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "KnownDevices", lines: Limit(150, goal: 150), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "PhoneAlerts", lines: Limit(150, goal: 150), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "PhoneConnector", lines: Limit(150, goal: 150), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "PhoneScanner", lines: Limit(150, goal: 150), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "VirtualController", lines: Limit(300, goal: 300), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "DevicePlayer", lines: Limit(300, goal: 300), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "App", lines: Limit(200, goal: 200), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "PeripheralManager", lines: Limit(200, goal: 200), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(
            type: "CentralManager", lines: Limit(200, goal: 200), properties: Limit(16, goal: 16),
            function: Limit(40, goal: 40)),
        Room(type: "RadioCapabilities", properties: Limit(16, goal: 16)),
        Room(type: "RunCommand", properties: Limit(16, goal: 16)),
    ]

    /// The most lines of code that a type has, with all of its extensions in its target, and without the
    /// types that are nested in it.
    static let typeLines = 400

    /// The most stored properties that a type has.
    static let typeProperties = 16

    /// The types with more lines of code than that, and how many each may have.
    ///
    /// `Kind` is generic, and the number counts its extensions for all types of values, each of which is in
    /// the file of its section.
    static let longTypes: [String: Int] = [
        "Mynah.Peripheral": 448,
        "MynahProfiles.Kind": 511,
    ]

    /// The types that hold data alone, such as names, layouts, routes and files: they grow with it, without a
    /// limit.
    static let dataTypes: Set<String> = [
        "MynahControl.Route", "MynahCore.AssignedNumberTables", "MynahProfiles.ShippedProfiles",
        "MynahValues.KnownLayouts",
    ]

    /// The types with more stored properties than that, and how many each may have.
    static let fullTypes: [String: Int] = [
        "MynahImport.ObservedServer": 18,
        "MynahProfiles.Profile.App": 18,
    ]

    /// The types that hold a reference back to their owner (`unowned`), and how many each may hold.
    static let backReferences: [String: Int] = [:]

    /// How many parameters may hand a whole phone to one of its parts.
    static let wholePhones = Limit(36, goal: 0)

    /// How often `assumeIsolated` and `onOwnExecutor`, which is made of it, may be in all sources together.
    static let allAssumptions = Limit(20, goal: 20)

    /// How often they may be in each source.
    static let assumptions: [String: Int] = [
        "Sources/Mynah/Peripheral.swift": 1,
        "Sources/Mynah/Phone+Services.swift": 2,
        "Sources/Mynah/PhoneControl.swift": 1,
        "Sources/Mynah/PhoneLink.swift": 1,
        "Sources/Mynah/PhoneMeter.swift": 1,
        "Sources/MynahBlueZ/BlueZRadio.swift": 1,
        "Sources/MynahCore/Actor+OwnExecutor.swift": 2,
        "Sources/MynahEmulator/EmulatorLink.swift": 1,
        "Sources/MynahFaults/FaultSink.swift": 1,
        "Sources/MynahFaults/FaultyRadio.swift": 1,
        "Sources/MynahFaults/RadioLayer.swift": 1,
        "Sources/MynahFaults/ValueSender.swift": 1,
        "Sources/MynahHost/HostRadio+Life.swift": 2,
        "Sources/MynahHost/HostRadio.swift": 1,
    ]

    /// The sources that may start tasks that no other task waits for, and how many each.
    ///
    /// In the end these are only parts that are made for it: deadlines, the waiters of commands, the loops
    /// that advertise, scan, connect and recover, and executors.
    static let tasks: [String: Int] = [
        "Sources/Mynah/Central/PeripheralNames.swift": 1,
        "Sources/Mynah/Central/PhoneConnector.swift": 1,
        "Sources/Mynah/PhoneReports.swift": 1,
        "Sources/Mynah/PhoneLink.swift": 2,
        "Sources/MynahBlueZ/Advertiser.swift": 1,
        "Sources/MynahBlueZ/RecoveryLoop.swift": 1,
        "Sources/MynahCLI/RunOutput.swift": 1,
        "Sources/MynahControl/API/EventRequests.swift": 1,
        "Sources/MynahControl/HTTP/HTTPConnectionHandler.swift": 1,
        "Sources/MynahCore/CentralRadio.swift": 1,
        "Sources/MynahCore/PeripheralRadio.swift": 1,
        "Sources/MynahEmulator/EmulatorLink.swift": 2,
        "Sources/MynahFaults/FaultyRadio+Requests.swift": 1,
        "Sources/MynahFaults/FaultyRadio.swift": 1,
        "Sources/MynahHCI/Netsim/NetsimTransport.swift": 1,
        "Sources/MynahHost/Environment.swift": 1,
        "Sources/MynahHost/HostRadio+Life.swift": 1,
        "Sources/MynahHost/L2CAP/HostChannel.swift": 1,
        "Sources/MynahRun/Central/DeviceFinder.swift": 1,
        "Sources/MynahRun/Phones/PlayedPhone.swift": 1,
        "Sources/MynahRun/Radio/RadioWork.swift": 1,
        "Sources/MynahRun/RunSession.swift": 2,
        "Sources/MynahRun/RunSession+History.swift": 1,
        "Sources/MynahSupport/Time/Deadlines.swift": 1,
        "Sources/MynahSupport/Time/RunClock.swift": 1,
        "Sources/MynahSupport/Time/RunExecutor.swift": 1,
        "Sources/MynahSupport/Time/VirtualTime.swift": 1,
    ]
}

extension RoomLimits {
    /// The size of a type.
    struct Measure: Hashable {
        var files: Int
        var lines: Int
        var properties: [String]
        /// The longest function.
        var function: String
        var functionLines: Int
    }

    /// A type, measured over all sources.
    struct TypeMeasure: Hashable {
        var lines = 0
        var properties = 0
        var backReferences = 0
    }

    /// Measures every type, by its target and name: `MynahHost.Link.State`.
    static func measureTypes(_ sources: [(path: String, source: SourceText)]) -> [String: TypeMeasure] {
        var types: [String: TypeMeasure] = [:]
        for (path, source) in sources {
            let target = path.split(separator: "/").dropFirst().first ?? ""
            for part in source.typeParts {
                let name = "\(target).\(part.type)"
                types[name, default: TypeMeasure()].lines += part.lines
                types[name, default: TypeMeasure()].properties += part.properties.count
                types[name, default: TypeMeasure()].backReferences += part.unowned.count
            }
        }
        return types
    }

    /// Measures a type over the sources that declare or extend it.
    static func measure(_ type: String, in sources: [SourceText]) -> Measure {
        let own = sources.filter { $0.mentions(type) }
        let longest = own.flatMap(\.functionLengths).max { $0.lines < $1.lines }
        return Measure(
            files: own.count, lines: own.reduce(0) { $0 + $1.codeLines },
            properties: own.lazy.compactMap { $0.storedProperties(of: type) }.first ?? [],
            function: longest?.name ?? "", functionLines: longest?.lines ?? 0)
    }
}
