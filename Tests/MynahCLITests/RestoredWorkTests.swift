import Foundation
import MynahSupport
import MynahTestSupport
import Testing

/// An app is terminated at every instant of its work, and always ends with everything done.
///
/// The callbacks of the central and the requests to the device are counted over all processes of the app.
@Suite(.processes, .timeLimit(.minutes(15))) struct RestoredWorkTests {
    /// A device that takes its time for everything, so that there are instants between.
    private static let strap = """
        mynah: 1
        name: Strap
        advertising: {serviceUUIDs: [180D], interval: 30 ms}
        services:
          - uuid: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], value: {hex: "0048"}, every: 1 s}
              - {uuid: 2A38, properties: [read], value: {hex: "01"}}
              - {uuid: 2A39, properties: [write], maxLength: 1}
          - {uuid: 180F, characteristics: [{uuid: 2A19, properties: [read], value: {hex: "64"}}]}
        faults:
          - {name: find, on: discover, delay: 200 ms}
          - {name: answer, on: read, delay: 200 ms}
          - {name: take, on: write, delay: 200 ms}
          - {name: agree, on: subscribe, delay: 200 ms}
        """

    /// How an app works, as keys of its entry.
    enum Work: String, CaseIterable {
        case needed = "subscribe: [180D/2A37]"
        case all = "subscribe: [180D/2A37], discover: all"
        case done = "whenDone: disconnect"
    }

    /// How the app comes to run again.
    enum Way: CaseIterable {
        /// Its user opens it at once.
        case opened
        /// Its user opens it later, unless an event of its link relaunches it before.
        case relaunched

        var delay: Int { self == .opened ? 50 : 5000 }
    }

    private static func app(_ work: Work) -> String {
        """
        mynah: 1
        name: App
        app: {backgroundModes: [bluetooth-central]}
        central:
          restoreIdentifier: com.example.app
          scan: {services: [180D]}
          peripherals:
            - name: Strap
              match: {services: [180D]}
              read: [180D/2A38, 180F/2A19]
              write: [{to: 180D/2A39, value: {hex: "01"}}]
              \(work.rawValue.replacing(", ", with: "\n      "))
        """
    }

    private struct Event {
        let device: String
        let name: String
        /// In milliseconds since the devices were ready.
        let time: Int
        let fields: [String: Any]
    }

    /// The events of a run in which the app does this at these times.
    private static func events(_ work: Work, _ plan: [String] = []) async throws -> [Event] {
        let (app, strap) = (try ProfileFile(app(work)), try ProfileFile(strap))
        let run = ["run", app.path, strap.path, "--radio", "virtual", "--events", "json", "--timeout", "15s"]
        let result = try await VirtualStage.play(run + plan.flatMap { ["--at", $0] })
        #expect(result.status == .exited(0), "\(result.error)")
        var start: Int?
        return try result.output.split(separator: "\n").map { line in
            let fields = try json(String(line))
            let name = try #require(fields["event"] as? String)
            let clock = try #require((fields["time"] as? String)?.dropFirst(11).prefix(12))
            let parts = clock.split { ":.".contains($0) }.compactMap { Int($0) }
            let time = ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3]
            if name == "ready" { start = time }
            return Event(
                device: fields["device"] as? String ?? "", name: name, time: time - (start ?? time),
                fields: fields)
        }
    }

    @Test(arguments: Work.allCases, Way.allCases)
    func `an app that is terminated at any instant of its work ends with everything done`(
        work: Work, way: Way
    ) async throws {
        let whole = try await Self.events(work)
        let last = try #require(
            whole.last {
                $0.device == "App" && ["value.written", "peripheral.disconnected"].contains($0.name)
            })
        let times = Set(whole.filter { $0.device == "App" && $0.time <= last.time }.map(\.time)).sorted()
        #expect(times.count > 5, "\(times)")
        // Before, at and after each event. An app that is launched when all is done begins anew.
        let between = zip(times, times.dropFirst()).map { ($0 + $1) / 2 }
        for instant in Set(times + times.dropLast().map { $0 + 1 } + between).sorted() {
            let events = try await Self.events(
                work, ["\(instant)ms=App:terminated", "\(instant + way.delay)ms=App:foreground"])
            let complaints = Self.complaints(events, work)
            #expect(complaints == [], "terminated after \(instant) ms")
            guard complaints.isEmpty else {
                let lines = events.map { "\($0.time) \($0.device) \($0.name)" }
                print(lines.joined(separator: "\n"))
                return
            }
        }
    }

    /// The work that is missing in the end, or was done too often.
    private static func complaints(_ events: [Event], _ work: Work) -> [String] {
        var complaints: [String] = []
        func count(_ device: String, _ name: String, _ characteristic: String) -> Int {
            events.count {
                $0.device == device && $0.name == name
                    && $0.fields["characteristic"] as? String == characteristic
            }
        }
        func expect(_ device: String, _ name: String, _ characteristic: String, _ range: ClosedRange<Int>) {
            let number = count(device, name, characteristic)
            if !range.contains(number) { complaints.append("\(name) of \(characteristic): \(number)") }
        }
        // Each answer is told once, but a request whose answer came to nobody is made again.
        for value in ["2A38", "2A19"] {
            expect("App", "value.read", value, 1...1)
            expect("Strap", "read", value, 1...2)
        }
        expect("App", "value.written", "2A39", 1...1)
        expect("Strap", "write", "2A39", 1...2)
        if work == .done {
            if !events.contains(where: { $0.name == "link.ended" }) { complaints.append("no end") }
        } else {
            // A subscription that was in force when the app was launched is restored, and not told.
            expect("App", "notification.changed", "2A37", 0...1)
            let isValued = events.last { $0.name == "value.updated" }.map { $0.time > 10_000 } ?? false
            if !isValued { complaints.append("no values") }
        }
        for event in events where ["error", "warning"].contains(event.name) {
            complaints.append("\(event.fields)")
        }
        // An ended process says nothing.
        var isEnded = false
        for event in events where event.device == "App" {
            switch event.name {
            case "app.terminated": isEnded = true
            case "app.launched": isEnded = false
            default:
                let isOwn = ["value.", "notification.", "services.", "characteristics."]
                    .contains { event.name.hasPrefix($0) }
                if isEnded, isOwn { complaints.append("\(event.name) of an ended process") }
            }
        }
        return complaints
    }
}
