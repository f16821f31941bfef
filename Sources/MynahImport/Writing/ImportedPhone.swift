import MynahCore
import MynahSupport

/// The captured client's use of a device, as the central section of an app's profile.
struct ImportedPhone {
    /// A value that the client wrote.
    struct Write {
        var to: String
        var value: [UInt8]
        var withResponse: Bool
        /// The time of the write, in microseconds, counted from the end of the reads and subscriptions.
        var after: Int64
    }

    /// The name of the device.
    var device: String
    /// The services that the device advertises.
    ///
    /// `localName` is the local name that it advertises, or `nil` if it advertises none.
    var advertised: [BluetoothUUID]
    var localName: String?
    /// The paths of the characteristics that the client read.
    ///
    /// `subscriptions` has the paths of those to which it subscribed.
    var reads: [String] = []
    var subscriptions: [String] = []
    var writes: [Write] = []
    /// Notes for readers of the profile, each a sentence without its full stop.
    var notes: [String] = []

    /// The maximum number of writes that are kept.
    private static let writeLimit = 2000
    /// The services that iOS reserves, so that apps cannot use them.
    private static let kept: [BluetoothUUID] = ["1812", "181E"]

    /// Makes a section without reads, subscriptions and writes.
    init(device: String, advertised: [BluetoothUUID]) {
        (self.device, self.advertised) = (device, advertised)
    }

    /// Makes the use of a device by the captured client; `name` is the device's name.
    ///
    /// Throws an error if the capture shows no use of the device.
    init(_ device: ObservedDevice, name: String) throws(ImportProblem) {
        self.device = name
        let content = device.advertising.content
        advertised = content.serviceUUIDs.filter { ImportedAdvertising.isService($0) }
        localName = content.isNameComplete ? content.localName.flatMap { PlainText.name($0) } : nil
        let server = device.server
        let table = TableModel(server.table)
        let tree = AttributeTree(
            of: table.services, uuid: (\.uuid, \.uuid, \.uuid), characteristics: \.characteristics,
            descriptors: \.descriptors)
        var paths: [AttributeHandle: String] = [:]
        var configured: [AttributeHandle: AttributeHandle] = [:]
        for (index, service) in table.services.enumerated() {
            guard !Self.kept.contains(service.uuid) else {
                notes.append("iOS keeps the service \(service.uuid) for itself; its use is left out")
                continue
            }
            for (number, characteristic) in service.characteristics.enumerated() {
                paths[characteristic.value] = tree.path(of: .init(service: index, characteristic: number))
                if let handle = characteristic.configuration { configured[handle] = characteristic.value }
            }
        }
        let link = Self.mainLink(server, paths)
        let own = server.writes.filter { $0.link == link }
        let start = own.filter { paths[$0.handle] != nil }.map(\.sentAt).min() ?? .max
        var origin = link.flatMap { server.start(ofLink: $0) } ?? start
        var late = 0
        for write in own where write.isSubscription {
            guard let path = configured[write.handle].flatMap({ paths[$0] }),
                !subscriptions.contains(path)
            else { continue }
            subscriptions.append(path)
            if write.sentAt <= start { origin = max(origin, write.time) } else { late += 1 }
        }
        let read = server.table.readings.filter { paths[$0.key] != nil }
        for (handle, reading) in read.sorted(by: { ($0.value.time, $0.key) < ($1.value.time, $1.key) }) {
            if let path = paths[handle] { reads.append(path) }
            if reading.time <= start { origin = max(origin, reading.time) } else { late += 1 }
        }
        if late > 0 {
            notes.append(
                "\(late) of the reads and subscriptions came after the first write; the app does them before")
        }
        if !reads.isEmpty { notes.append("each value is read once; a capture may have more reads") }
        take(own, paths, from: origin)
        let others = server.writes.count { paths[$0.handle] != nil && $0.link != link }
        if others > 0 {
            let words = others.counting("write on another connection is", "writes on other connections are")
            notes.append("\(words) left out")
        }
        if reads.isEmpty, subscriptions.isEmpty, writes.isEmpty {
            throw ImportProblem(
                "the capture shows no read, subscription or write of a central; record while the app is used")
        }
    }

    /// Returns the link with the most writes to characteristics.
    ///
    /// If there are none, returns the first link with any write.
    private static func mainLink(_ server: ObservedServer, _ paths: [AttributeHandle: String]) -> Int? {
        var counts: [Int: Int] = [:]
        for write in server.writes { counts[write.link, default: 0] += paths[write.handle] == nil ? 0 : 1 }
        let most = counts.values.max()
        return server.writes.first { counts[$0.link] == most }?.link
    }

    private mutating func take(
        _ own: [ObservedServer.Write], _ paths: [AttributeHandle: String], from origin: Int64
    ) {
        var leftOut = 0
        for write in own {
            guard let path = paths[write.handle] else { continue }
            guard !write.value.isEmpty, write.value.count <= GATT.maximumValueLength,
                writes.count < Self.writeLimit
            else {
                leftOut += 1
                continue
            }
            // If the clock was set back during the capture, the order is kept.
            let after = max(write.sentAt - origin, writes.last?.after ?? 0)
            writes.append(
                Write(
                    to: path, value: write.value, withResponse: write.outcome != .sent,
                    after: min(after, ImportedProfile.longestTime)))
        }
        if leftOut > 0 {
            notes.append("\(leftOut.counting("write")) that a script cannot have are left out")
        }
    }
}

extension ProfileText {
    /// Returns the text of the app's profile.
    static func text(of phone: ImportedPhone, named name: String, from source: Source) -> String {
        var lines = ["# \(plain(source.heading))"]
        for note in phone.notes {
            lines.append("# \(note.prefix(1).uppercased())\(plain(note).dropFirst()).")
        }
        lines += ["mynah: 1", "name: \(quoted(name))"]
        lines += ["", "app: {backgroundModes: [bluetooth-central]}", "", "central:"]
        let services = phone.advertised.map(\.description).joined(separator: ", ")
        lines.append(services.isEmpty ? "  scan: {}" : "  scan: {services: [\(services)]}")
        lines += ["  peripherals:", "    - name: \(quoted(phone.device))"]
        var match: [String] = []
        if !services.isEmpty { match.append("services: [\(services)]") }
        if let name = phone.localName { match.append("localName: \(quoted(name))") }
        if !match.isEmpty { lines.append("      match: {\(match.joined(separator: ", "))}") }
        for (key, paths) in [("read", phone.reads), ("subscribe", phone.subscriptions)] where !paths.isEmpty {
            lines.append("      \(key): [\(paths.joined(separator: ", "))]")
        }
        if !phone.writes.isEmpty { lines.append("      write:") }
        for write in phone.writes {
            let kind = write.withResponse ? "" : ", withResponse: false"
            let after = Duration.milliseconds((write.after + 500) / 1000).text
            lines.append(
                "        - {to: \(write.to), value: {hex: \(hex(write.value))}\(kind), after: \(after)}")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
