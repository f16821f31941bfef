/// The rules that keep a run the same in every process and on every processor.
///
/// Swift seeds its hashes in each process, so the order of a Dictionary or a Set is another one each time. It
/// must reach no event, packet, random number, file or report: use a SortedMap, or sort first.
enum OrderRules {
    /// Sources of radios that no simulation uses: their order is that of other machines.
    private static let exempt = [
        "Sources/MynahBlueZ/", "Sources/MynahDBus/", "Sources/MynahImport/", "Sources/MynahHCI/Netsim/",
        "Sources/MynahHCI/SharedAir/", "Sources/MynahHCI/Transports/",
    ]

    /// Sources that go through a dictionary or a set without sorting it, or through a collection of the same
    /// name; how often, and why the order does not matter.
    static let walks: [String: (count: Int, reason: String)] = [
        "Sources/Mynah/Central/CentralLinks.swift": (1, "changes each entry by itself"),
        "Sources/Mynah/Central/CentralManagerState.swift": (1, "makes a set"),
        "Sources/Mynah/SubscriptionTable.swift": (1, "changes each entry by itself"),
        "Sources/MynahCLI/Doctor/DoctorProbes.swift": (1, "an array"),
        "Sources/MynahConsole/ScreenModel.swift": (1, "a sum"),
        "Sources/MynahControl/API/OpenAPI.swift": (1, "an array"),
        "Sources/MynahCore/AttributeIndex.swift": (1, "sorted later, if there are two"),
        "Sources/MynahCore/AttributeName.swift": (1, "an array"),
        "Sources/MynahCore/RadioUse.swift": (1, "a sum of integers"),
        "Sources/MynahEmulator/Requests/AskedRequests.swift": (1, "a minimum"),
        "Sources/MynahEmulator/Memory/AttributeTable.swift": (1, "changes each entry by itself"),
        "Sources/MynahEmulator/Central/CentralDevices.swift": (4, "arrays; a minimum by an identifier"),
        "Sources/MynahEmulator/Services/RecordAccess.swift": (1, "a minimum"),
        "Sources/MynahEmulator/Sending/TickSchedule.swift": (1, "a minimum by time and attribute"),
        "Sources/MynahEmulator/Sending/Ticker.swift": (1, "changes each entry by itself"),
        "Sources/MynahFaults/FaultLinks.swift": (1, "changes each entry by itself"),
        "Sources/MynahFaults/FaultedServices.swift": (3, "looks for a key that is there once; an optional"),
        "Sources/MynahHCI/Capture/LinkLayerEncoder.swift": (1, "a minimum by a number of which there is one"),
        "Sources/MynahHCI/Virtual/Air.swift": (2, "changes each entry by itself"),
        "Sources/MynahHCI/Virtual/VirtualTransport.swift": (1, "changes each entry by itself"),
        "Sources/MynahLifecycle/DiscoveryCoalescer.swift": (1, "changes each entry by itself"),
        "Sources/MynahLifecycle/KnownPeripherals.swift": (2, "changes each entry by itself; a maximum"),
        "Sources/MynahLifecycle/LinkLedger.swift": (4, "sorted later; looks for a request"),
        "Sources/MynahLifecycle/RadioAccounts.swift": (4, "changes each entry by itself; sums of integers"),
        "Sources/MynahLifecycle/ReconnectPlan.swift": (2, "an array"),
        "Sources/MynahLifecycle/SubscriptionLedger.swift": (1, "looks for a write that is there once"),
        "Sources/MynahProfiles/Scenarios/EventCatalog.swift": (1, "makes a dictionary"),
        "Sources/MynahProfiles/Faults/FaultAttributes.swift": (2, "an array"),
        "Sources/MynahRun/Central/DeviceSearch.swift": (3, "a maximum; the only element; an array"),
        "Sources/MynahValues/ValueLayout.swift": (1, "an array"),
    ]

    /// How often a source goes through a dictionary or a set without sorting it; 0 if it is exempt.
    static func walkCount(_ path: String, _ source: SourceText) -> Int {
        guard !exempt.contains(where: { path.hasPrefix($0) }) else { return 0 }
        return UnorderedWalks(source).lines.count
    }

    /// Functions of the C library that round differently from processor to processor.
    private static let rounded: Set<String> = [
        "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp2", "fma", "hypot", "log", "log10", "log2",
        "pow",
        "sin", "sinh", "tan", "tanh",
    ]

    /// The sources that may make keys from a seed: the generator's own, and the air that no real device
    /// reaches.
    private static let simulators = [
        "Sources/MynahHost/PrivateAir.swift", "Sources/MynahHost/SMP/SecretKey.swift",
    ]

    /// The lines that make keys from a seed or from another generator, outside the sources that may.
    static func seededKeys(of path: String, _ source: SourceText) -> [String] {
        guard !simulators.contains(path) else { return [] }
        return source.words.filter { $0.text == "SecurityRandom" }.compactMap { word in
            let rest = source.covered[word.range.upperBound...].prefix { $0 != UInt8(ascii: "\n") }
            let call = String(decoding: rest, as: UTF8.self)
            guard call.hasPrefix("("), !call.hasPrefix("()") else { return nil }
            return "\(path):\(source.line(of: word)): keys come from the system outside of PrivateAir"
        }
    }

    /// The lines that use what is not the same everywhere, in words.
    static func violations(of path: String, _ source: SourceText) -> [String] {
        let words = source.words
        return words.indices.compactMap { index in
            let word = words[index]
            let isMember =
                word.range.lowerBound > 0 && source.covered[word.range.lowerBound - 1] == UInt8(ascii: ".")
            let isDeclared = index > 0 && words[index - 1].text == "func"
            if rounded.contains(word.text), source.next(after: word) == "(", !isMember, !isDeclared {
                return "\(path):\(source.line(of: word)): \(word.text) is another one on some processors; "
                    + "use PortableMath"
            }
            if word.text == "hashValue" || word.text == "addingProduct" {
                return "\(path):\(source.line(of: word)): \(word.text) is not the same in every process"
            }
            return nil
        }
    }
}
