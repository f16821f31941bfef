import Mynah
import MynahConsole
import MynahCore
import MynahSupport

/// Finds the device that is meant, by its address, its name, or how one of them begins.
struct DeviceSearch {
    /// How well a device fits.
    private enum Fit: Int, Comparable {
        case prefix
        case name
        case address

        static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    /// What was found.
    enum Outcome {
        /// Nothing yet.
        case nothing
        /// One, unless another is heard that fits as well.
        case likely(Peripheral)
        /// One that no other can be.
        case certain(Peripheral)
        /// Several that fit as well.
        case several([String])
    }

    private let wanted: String
    private var found: [DeviceAddress: (fit: Fit, peripheral: Peripheral, name: String)] = [:]
    private(set) var heard: [DeviceAddress: String] = [:]

    /// How many devices are remembered.
    private static let limit = 4096

    init(_ text: String) {
        wanted = text.lowercased()
    }

    mutating func take(_ discovery: Discovery) {
        guard discovery.isConnectable else { return }
        let address = discovery.peripheral.address
        let name = discovery.advertisement.localName ?? ""
        if heard.count < Self.limit || heard[address] != nil { heard[address] = name }
        let texts = (address.description.lowercased(), name.lowercased())
        let fit: Fit
        if texts.0 == wanted {
            fit = .address
        } else if texts.1 == wanted {
            fit = .name
        } else if texts.0.hasPrefix(wanted) || texts.1.hasPrefix(wanted) {
            fit = .prefix
        } else {
            return
        }
        if let known = found[address], known.fit > fit { return }
        guard found.count < Self.limit || found[address] != nil else { return }
        found[address] = (fit, discovery.peripheral, name)
    }

    var outcome: Outcome {
        guard let best = found.values.map(\.fit).max() else { return .nothing }
        let fitting = found.filter { $0.value.fit == best }
        guard fitting.count == 1, let one = fitting.first?.value.peripheral else {
            return .several(Self.list(fitting.mapValues(\.name)))
        }
        return best == .address ? .certain(one) : .likely(one)
    }

    /// Addresses with their names, for people.
    static func list(_ devices: [DeviceAddress: String]) -> [String] {
        devices.map { address, name in
            name.isEmpty ? "\(address)" : "\(address) (\(PrintableText.of(name)))"
        }.sorted()
    }
}
