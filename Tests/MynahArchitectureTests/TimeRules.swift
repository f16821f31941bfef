/// The rules that keep a run on the one clock and the one executor that it was given.
///
/// With virtual time, what asks the machine for the time is wrong, and what runs elsewhere is not waited for:
/// the time moves on before it is done.
enum TimeRules {
    /// Ways to learn the machine's time, or to wait for it.
    private static let askers: Set<String> = [
        "ContinuousClock", "SuspendingClock", "UTCClock", "DispatchTime", "DispatchWallTime", "asyncAfter",
        "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "timerfd_create", "usleep",
    ]

    /// Sources that may use the machine's time, how often, and why.
    static let clocks: [String: (count: Int, reason: String)] = [
        "Sources/Mynah/Phone.swift": (1, "the default of a parameter"),
        "Sources/MynahBlueZ/BlueZProbe.swift": (1, "waits for a daemon"),
        "Sources/MynahBlueZ/InstalledVersion.swift": (2, "waits for a program"),
        "Sources/MynahBlueZ/RadioClock.swift": (1, "the clock of a radio that real devices are on"),
        "Sources/MynahCLI/LiveScreen.swift": (1, "how often a screen is drawn"),
        "Sources/MynahSupport/Sockets/ListeningSocket.swift": (1, "waits for another process"),
        "Sources/MynahFaults/FaultyRadio.swift": (1, "the default of a parameter"),
        "Sources/MynahHCI/Netsim/NetsimTransport.swift": (1, "waits for an emulator"),
        "Sources/MynahHCI/SharedAir/AirDirectory.swift": (1, "the age of a file"),
        "Sources/MynahHCI/Transports/EventLoop.swift": (1, "the deadlines of sockets"),
        "Sources/MynahHCI/Transports/ManagementChannel.swift": (2, "waits for the kernel"),
        "Sources/MynahHost/HostRadio.swift": (1, "the default of a parameter"),
        "Sources/MynahSupport/Time/RunClock.swift": (4, "the clock itself"),
        "Sources/MynahSupport/Time/Timeline.swift": (1, "an advance that takes too long"),
        "Sources/MynahSupport/TimeLimit.swift": (1, "waits for a daemon"),
    ]

    /// How often a source asks for the machine's time or waits for it.
    static func clockCount(_ source: SourceText) -> Int {
        let words = source.words
        return words.indices.count { index in
            if askers.contains(words[index].text) { return true }
            return index > 0 && words[index].text == "sleep" && words[index - 1].text == "Task"
        }
    }

    /// Sources that may start tasks away from the executor of a run, how many, and why.
    static let strays: [String: (count: Int, reason: String)] = [
        "Sources/MynahBlueZ/Advertiser.swift": (1, "a radio that real devices are on"),
        "Sources/MynahBlueZ/RecoveryLoop.swift": (1, "a radio that real devices are on"),
        "Sources/MynahCLI/RunOutput.swift": (1, "a passkey that a person types"),
        "Sources/MynahControl/HTTP/HTTPConnectionHandler.swift": (1, "a request from outside"),
        "Sources/MynahHCI/Netsim/NetsimTransport.swift": (1, "a radio of another program"),
        "Sources/MynahSupport/Time/RunExecutor.swift": (1, "the executor, which gets a thread this way"),
    ]

    /// How many tasks a source starts that prefer no executor.
    static func strayCount(_ source: SourceText) -> Int {
        source.unstructuredTasks - source.count(of: "executorPreference")
    }

    /// The lines with a lock whose value is a function, or a tuple or an optional of functions.
    ///
    /// Each use of such a lock wraps the function once more, which is slow, and at last overflows the stack.
    static func lockedFunctions(of path: String, _ source: SourceText) -> [String] {
        source.words.filter { $0.text == "Lock" }.compactMap { word in
            let rest = String(decoding: source.covered[word.range.upperBound...].prefix(400), as: UTF8.self)
            guard rest.hasPrefix("<"), argument(rest).contains("->") else { return nil }
            return "\(path):\(source.line(of: word)): put the function in a struct, and the lock around that"
        }
    }

    /// The text between the angle brackets at the beginning of another.
    private static func argument(_ text: String) -> Substring {
        var depth = 0
        var before: Character?
        for index in text.indices {
            if text[index] == "<" { depth += 1 }
            if text[index] == ">", before != "-" { depth -= 1 }
            if depth == 0 { return text[..<index] }
            before = text[index]
        }
        return text[...]
    }
}
