package import Mynah
package import MynahCore
import MynahSupport

/// The name of an attribute on the connected device, as typed by the user.
package struct AttributePath: Hashable, Sendable {
    /// An attribute that a name refers to.
    package enum Target: Sendable {
        case characteristic(DiscoveredCharacteristic)
        case descriptor(RemoteDescriptor, of: DiscoveredCharacteristic)
    }

    /// The reason that a name is not valid, or names no attribute, as a sentence without its full stop.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String

        package init(message: String) {
            self.message = message
        }
    }

    private let name: AttributeName
    /// The text as it was typed, safe for a terminal.
    package let text: String

    package init(parsing text: String) throws(Problem) {
        self.text = PrintableText.of(text)
        do throws(AttributeName.Problem) {
            name = try AttributeName(parsing: text)
        } catch {
            throw Problem(message: PrintableText.of(error.message))
        }
    }

    /// Finds the attribute among the discovered services; throws if none or several match.
    package func target(in services: [DiscoveredService]) throws(Problem) -> Target {
        let position: AttributeTree.Position
        do throws(AttributeName.Problem) {
            position = try name.resolve(in: AttributeTree(services))
        } catch {
            throw Problem(message: PrintableText.of(error.message))
        }
        let characteristic = services[position.service].characteristics[position.characteristic ?? 0]
            .numbered(in: services)
        guard let index = position.descriptor, let descriptors = characteristic.descriptors else {
            return .characteristic(characteristic)
        }
        return .descriptor(descriptors[index], of: characteristic)
    }

    /// The unambiguous names of characteristics that begin with the typed text.
    ///
    /// The characteristics have at least one of `properties`, or any if `properties` is empty. UUIDs are
    /// included only if the typed text is not empty.
    package static func completions(
        of typed: String, in services: [DiscoveredService], having properties: CharacteristicProperties
    ) -> [String] {
        let tree = AttributeTree(services)
        let positions = services.indices.flatMap { service in
            services[service].characteristics.indices.filter {
                let own = services[service].characteristics[$0].properties
                return properties.isEmpty || !own.isDisjoint(with: properties)
            }.map { AttributeTree.Position(service: service, characteristic: $0) }
        }
        let names = positions.map { position in
            tree.shortName(of: position) { AssignedNumbers.name(of: $0) ?? $0.shortest.description }
        }
        let all = typed.isEmpty ? names : names + positions.map { tree.shortName(of: $0) }
        return Set(all.filter { $0.lowercased().hasPrefix(typed.lowercased()) }).sorted()
    }
}
