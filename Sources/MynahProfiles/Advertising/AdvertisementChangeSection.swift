import MynahCore
import MynahSupport

/// A change of the advertising: `with:` of a fault, and the request of a test.
enum AdvertisementChangeSection {
    static let set = Field("set", .text, doc: "The set that is changed; left out: the first.")
    static let table = Section("advertisementChange", what: "with", [set] + AdvertisingSection.changeable)
    static let on = Field("on", .bool, doc: "Whether the set, or the device, advertises.")
    private static let askedTable = Section(
        "advertise", what: "advertise", [on, set] + AdvertisingSection.changeable)

    /// Reads the change of a fault or of a rule, which must fit the device's advertisement.
    static func read(_ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader) -> AdvertisementChange? {
        guard let fields = reader.fields(node, table) else { return nil }
        let errorsBefore = reader.errorCount
        let change = change(fields, in: scope)
        guard reader.errorCount == errorsBefore else { return nil }
        guard let advertisement = scope.advertisement else {
            if scope.isWhole {
                reader.error(at: node, "advertise has no effect: the device does not advertise")
            }
            return nil
        }
        do throws(AdvertisementError) {
            for set in change.applied(to: advertisement).sets { _ = try AccessoryAdvertising.compose(set) }
        } catch {
            reader.error(
                at: fields.mark(of: error.field), "\(error); shorten it, or leave something else out")
        }
        return change
    }

    /// Reads what a test asks for; the radio says what does not fit.
    static func readAsked(
        _ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader
    ) -> (change: AdvertisementChange, isOn: Bool?)? {
        let refused =
            scope.isApp
            ? askedTable.keys.filter { !["on", "localName", "serviceUUIDs"].contains($0) }.map {
                ($0, "an app cannot set \($0); it advertises a localName and serviceUUIDs only")
            } : []
        let known = askedTable.keys.filter { key in !refused.contains { $0.0 == key } }
        guard
            let fields = reader.fields(
                node, askedTable.what, known: known, refused: Dictionary(uniqueKeysWithValues: refused))
        else { return nil }
        let errorsBefore = reader.errorCount
        let change = change(fields, in: scope)
        let isOn = fields.read(on)
        return reader.errorCount == errorsBefore ? (change, isOn) : nil
    }

    private static func change(_ fields: Fields, in scope: FaultScope) -> AdvertisementChange {
        let reader = fields.reader
        let identity = DeviceIdentity(name: "", appearance: scope.appearance)
        let read = AdvertisingSection.change(fields, identity, FieldScope(variables: scope.variables))
        var change = read.change
        fields.read(set, into: &change.set)
        if !read.values.isEmpty {
            reader.error(
                at: fields.mark, "a value that changes by itself belongs into the profile's advertising")
        }
        let names = scope.advertisement?.sets.map(\.name) ?? []
        if let set = change.set, !names.contains(set) {
            reader.error(at: fields[Self.set], Words.unknown("set \(Words.quote(set))", set, among: names))
        }
        return change
    }
}
