import MynahCore
import MynahSupport

/// Chooses one of a capture's devices to import.
struct DeviceChoice {
    /// A device with its name for messages.
    struct Candidate {
        var device: ObservedDevice
        var label: String
        var name: String?
        var address: String?
    }

    /// The most devices that a message lists.
    private static let listed = 20
    private let candidates: [Candidate]

    init(_ devices: [ObservedDevice]) {
        let hosts = devices.compactMap { device in
            if case .local(let source) = device.key { source } else { Int?.none }
        }.sorted()
        candidates = devices.map { device in
            var address: String?
            let label: String
            switch device.key {
            case .remote(let found):
                address = found.description
                label = found.description
            case .local(let source):
                // A capture may contain the packets of several interfaces.
                let number = hosts.count > 1 ? hosts.firstIndex(of: source) : nil
                label = number.map { "host \($0 + 1)" } ?? "this host"
            case .unnamed(_, let handle): label = "connection \(handle)"
            }
            return Candidate(device: device, label: label, name: Self.name(device), address: address)
        }
    }

    private static func name(_ device: ObservedDevice) -> String? {
        var content = AdvertisementData(device.advertising.usualData)
        content.add(device.advertising.usualScanResponse)
        let table = device.server.table
        let read = TableModel(table).nameHandle.flatMap { table.readings[$0] }.map {
            String(decoding: $0.value, as: UTF8.self)
        }
        return (read ?? content.localName).flatMap { PlainText.name($0) }
    }

    /// Returns the device with this name or address, or the only device if `wanted` is `nil`.
    ///
    /// Throws an error that lists the devices if several match.
    func choose(_ wanted: String?) throws(ImportProblem) -> Candidate {
        if let wanted { return try find(wanted) }
        var discovered = candidates.filter { $0.device.server.isDiscovered }
        // A central may have services too, which the peripheral can read.
        let peripherals = discovered.filter { $0.device.linkCount > 0 }
        if !peripherals.isEmpty { discovered = peripherals }
        if discovered.count == 1 { return discovered[0] }
        guard discovered.isEmpty else {
            throw ImportProblem(
                """
                the capture shows the services of \(discovered.count) devices; choose one with --device \
                ADDRESS or NAME:\(Self.list(discovered))
                """)
        }
        if let enhanced = candidates.first(where: { $0.device.usesEnhancedATT }) {
            throw ImportProblem(
                """
                the attributes of \(enhanced.name ?? enhanced.label) went over Enhanced ATT (EATT), which is \
                not imported; record with a central that uses one ATT channel (BlueZ does with Channels = 1 \
                under [GATT] in main.conf)
                """)
        }
        let used = candidates.filter {
            !$0.device.server.sent.isEmpty || !$0.device.server.table.readings.isEmpty
        }
        let advertisers = candidates.filter { !$0.device.advertising.isEmpty }
        if let used = used.first {
            let rest =
                advertisers.isEmpty
                ? "" : ", or choose an advertiser with --device ADDRESS:" + Self.list(advertisers)
            throw ImportProblem(
                """
                the capture shows values of \(used.name ?? used.label), but not its services, which the \
                phone knew already; forget the device on the phone and record again from before it connects\
                \(rest)
                """)
        }
        if advertisers.count == 1 { return advertisers[0] }
        guard !advertisers.isEmpty else {
            throw ImportProblem(
                """
                the capture shows no Bluetooth LE device; record from before the phone connects to the \
                device
                """)
        }
        throw ImportProblem(
            """
            the capture shows no connection, only advertisements of \(advertisers.count.counting("device")); \
            record a connection, or choose an advertiser with --device ADDRESS:\(Self.list(advertisers))
            """)
    }

    private func find(_ wanted: String) throws(ImportProblem) -> Candidate {
        let lower = wanted.lowercased()
        func isLike(_ text: String?) -> Bool { text?.lowercased() == lower }
        func begins(_ text: String?) -> Bool { text?.lowercased().hasPrefix(lower) == true }
        let shown = candidates.filter { $0.device.server.isDiscovered || !$0.device.advertising.isEmpty }
        for matches in [
            shown.filter { isLike($0.address) || isLike($0.name) || isLike($0.label) },
            shown.filter { begins($0.address) || begins($0.name) },
        ] where !matches.isEmpty {
            // A device may advertise with several addresses, and be connected at only one of them.
            let discovered = matches.filter { $0.device.server.isDiscovered }
            if let only = discovered.count == 1 ? discovered.first : matches.count == 1 ? matches.first : nil
            {
                return only
            }
            throw ImportProblem(
                """
                \(matches.count) devices are called \(PlainText.name(wanted) ?? ""); choose one by the start \
                of its line:\(Self.list(matches))
                """)
        }
        throw ImportProblem(
            """
            the capture shows no device \(PlainText.name(wanted) ?? ""); it shows:\(Self.list(shown))
            """)
    }

    private static func list(_ candidates: [Candidate]) -> String {
        let lines = candidates.prefix(listed).map { candidate -> String in
            let count = candidate.device.server.table.services.count
            let services = count == 0 ? "advertises" : count.counting("service")
            return "\n  \(candidate.label)  \(candidate.name ?? "(no name)")  \(services)"
        }
        let rest = candidates.count - lines.count
        return lines.joined() + (rest > 0 ? "\n  and \(rest) more" : "")
    }
}
