package import MynahCore
import MynahEmulator
import MynahSupport

/// Finds a device by its address, its name, a prefix of either, or by conditions.
package struct DeviceSearch {
    /// How closely a device matches the text, from the weakest to the strongest.
    private enum Fit: Int, Comparable {
        case prefix
        case name
        case address

        static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    /// The result of a search so far.
    package enum Outcome: Hashable, Sendable {
        /// No device matches.
        case nothing
        /// One device matches, but another may follow that matches equally well.
        case likely(DeviceAddress)
        /// One device matches, and no other can match better.
        case certain(DeviceAddress)
        /// Several devices match equally well; the texts describe them.
        case several([String])
    }

    private let wanted: String
    /// The device in messages: the user's text, safe for a terminal, or the conditions in words.
    private let shown: String
    /// The conditions that the device must meet, or `nil` if the user's text selects it.
    ///
    /// The search ends with the first device that meets the conditions.
    private var conditions: PeripheralSearch?
    private var isSettling = false
    private var found: [DeviceAddress: (fit: Fit, name: String)] = [:]
    package private(set) var heard: [DeviceAddress: String] = [:]
    /// The names of matching devices that are not connectable, by address.
    private var closed: [DeviceAddress: String] = [:]

    /// `true` if no connectable device and no matching device was received.
    var hasHeardNothing: Bool { heard.isEmpty && closed.isEmpty }

    /// The largest number of devices in each of `found`, `heard` and `closed`.
    private static let limit = 4096

    package init(_ text: String) {
        shown = "\"\(PrintableText.of(text))\""
        wanted = text.lowercased()
    }

    /// Makes a search for the first device that meets these conditions.
    init(_ conditions: PeripheralSearch) {
        shown = PrintableText.of(conditions.text)
        wanted = ""
        self.conditions = conditions
    }

    package mutating func add(_ sighting: Sighting) {
        let address = sighting.address
        let name = sighting.advertisement.localName ?? ""
        guard sighting.isConnectable else {
            if closed.count < Self.limit, fit(sighting, name.lowercased()) != nil { closed[address] = name }
            return
        }
        if heard.count < Self.limit || heard[address] != nil { heard[address] = name }
        guard let fit = fit(sighting, name.lowercased()) else { return }
        if let known = found[address], known.fit > fit { return }
        guard found.count < Self.limit || found[address] != nil else { return }
        found[address] = (fit, name)
    }

    /// How closely a device matches, or `nil` if it does not match.
    ///
    /// A bonded device matches by its identity address and by its current private address.
    private func fit(_ sighting: Sighting, _ name: String) -> Fit? {
        if let conditions {
            let report = sighting.report
            let isMatch = conditions.matches(
                [report.address, report.resolvedAddress], name: sighting.advertisement.localName,
                services: sighting.advertisement.serviceUUIDs)
            return isMatch ? .address : nil
        }
        let addresses = [sighting.address, sighting.report.resolvedAddress]
            .compactMap { $0?.description.lowercased() }
        if addresses.contains(wanted) { return .address }
        if name == wanted { return .name }
        return (addresses + [name]).contains { $0.hasPrefix(wanted) } ? .prefix : nil
    }

    package var outcome: Outcome {
        guard let best = found.values.map(\.fit).max() else { return .nothing }
        let fitting = found.filter { $0.value.fit == best }
        guard fitting.count == 1, let one = fitting.first?.key else {
            return .several(Self.list(fitting.mapValues(\.name)))
        }
        return best == .address ? .certain(one) : .likely(one)
    }

    // MARK: - Steps

    /// An event for the search.
    package enum Step: Sendable {
        case heard(Sighting)
        /// The time in which another device with the same name could be received has ended.
        case settled
        /// The time limit of the search elapsed.
        case overdue
    }

    /// The next action of the caller.
    package enum Action: Sendable {
        case wait
        /// Send the step `settled` after about a second.
        case settle
        case found(DeviceAddress)
        case failed(RadioError)
    }

    package mutating func advance(_ step: Step) -> Action {
        guard case .heard(let sighting) = step else { return end() }
        add(sighting)
        switch outcome {
        case .nothing: return .wait
        case .certain(let address): return .found(address)
        case .likely, .several:
            defer { isSettling = true }
            return isSettling ? .wait : .settle
        }
    }

    private func end() -> Action {
        switch outcome {
        case .likely(let address), .certain(let address): return .found(address)
        case .several(let devices):
            let list = devices.joined(separator: ", ")
            return .failed(
                RadioError(
                    .unreachable, "\(shown) fits \(devices.count) devices: \(list)",
                    remedy: "use an address"))
        case .nothing where !closed.isEmpty:
            let list = Self.list(closed).prefix(8).joined(separator: ", ")
            return .failed(
                RadioError(
                    .unreachable, "\(shown) was heard, but is not connectable: \(list)",
                    remedy: "make it connectable"))
        case .nothing:
            let heard = Self.list(heard).prefix(8).joined(separator: ", ")
            return .failed(
                RadioError(
                    .unreachable, "no device \(shown) was heard",
                    remedy: heard.isEmpty
                        ? "no other device was heard either: check that it advertises, and --radio"
                        : "these were heard: \(heard)"))
        }
    }

    /// The addresses, with names in parentheses, for a message.
    package static func list(_ devices: [DeviceAddress: String]) -> [String] {
        devices.map { address, name in
            name.isEmpty ? "\(address)" : "\(address) (\(PrintableText.of(name)))"
        }.sorted()
    }
}
