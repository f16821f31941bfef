package import MynahCore
import MynahSupport

/// A request to change the advertising, made by a rule, a scenario step or a test.
///
/// The request changes fields of a set, and switches the set or all advertising on or off.
package struct AdvertisingRequest: Hashable, Sendable {
    /// The changed fields.
    package var change = AdvertisementChange()
    /// Whether the set or the device advertises, or `nil` for no change.
    package var isOn: Bool?

    /// The keys of the fields that can change.
    package static var fieldKeys: [String] { AdvertisingSection.changeable.map(\.name) }
}

/// A change of a device's advertisement.
///
/// The change is `with:` of a fault, `advertise:` of a rule or a step, or the request of a test.
enum AdvertisementChangeSection {
    static let set = Field("set", .text, doc: "The set that is changed; left out: the first.")
    static let table = Section("advertisementChange", what: "with", [set] + AdvertisingSection.changeable)
    static let on = Field("on", .bool, doc: "Whether the set, or the device, advertises.")
    static let askedTable = Section(
        "advertise", what: "advertise", [on, set] + AdvertisingSection.changeable)
    private static let onOrOff = ["on": true, "true": true, "off": false, "false": false]

    /// The format of `advertise` in a rule or a step.
    static var request: Kind<YAMLNode> {
        .node(
            "`on`, `off`, or a mapping of the fields that change",
            .anyOf([.constants([.bool(true), .bool(false), "on", "off"]), .ref("advertise")]))
    }

    /// Parses the change of a fault; reports an error if it does not fit the device's advertisement.
    static func read(_ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader) -> AdvertisementChange? {
        guard let fields = reader.fields(node, table) else { return nil }
        let errorsBefore = reader.errorCount
        let change = change(fields, in: scope)
        guard reader.errorCount == errorsBefore else { return nil }
        guard scope.advertisement != nil else {
            if scope.isWhole {
                reader.error(at: node, "advertise has no effect: the device does not advertise")
            }
            return nil
        }
        check(change, fields, in: scope)
        return named(change, in: scope)
    }

    /// Returns the change with the name of the first set if it names no set.
    ///
    /// The name is needed because a test may switch the first set off.
    private static func named(_ change: AdvertisementChange, in scope: FaultScope) -> AdvertisementChange {
        guard change.set == nil, let first = scope.advertisement, !first.otherSets.isEmpty else {
            return change
        }
        var named = change
        named.set = first.name
        return named
    }

    /// Parses `advertise` of a rule or a step: `on`, `off`, or fields.
    ///
    /// Reports fields that do not fit the device's advertisement.
    static func readRequest(
        _ node: YAMLNode, of profile: Profile, _ reader: FormatReader
    ) -> AdvertisingRequest? {
        guard profile.advertising != nil else {
            reader.error(at: node, "advertise has no effect: the profile has no advertising")
            return nil
        }
        guard case .mapping = node else {
            return reader.bool(
                node, "advertise", "on, off or what changes, as in {localName: Found}", onOrOff
            )
            .map { AdvertisingRequest(isOn: $0) }
        }
        return readAsked(node, in: FaultScope(profile, isWhole: true), reader, isChecked: true)
    }

    /// Parses the request of a test.
    ///
    /// Unless `isChecked` is `true`, only the radio reports that the changed advertisement does not fit.
    static func readAsked(
        _ node: YAMLNode, in scope: FaultScope, _ reader: FormatReader, isChecked: Bool = false
    ) -> AdvertisingRequest? {
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
        guard reader.errorCount == errorsBefore else { return nil }
        // The phone determines the space for an app's advertisement.
        if isChecked, !scope.isApp { check(change, fields, in: scope) }
        return AdvertisingRequest(change: change, isOn: isOn)
    }

    /// Reports fields that no controller can advertise after the change, and data that is too long.
    private static func check(_ change: AdvertisementChange, _ fields: Fields, in scope: FaultScope) {
        guard let advertisement = scope.advertisement else { return }
        let name = change.set ?? advertisement.name
        guard let set = change.applied(to: advertisement).sets.first(where: { $0.name == name }) else {
            return
        }
        let errorsBefore = fields.reader.errorCount
        let isLegacy =
            advertisement.extended == nil && advertisement.otherSets.isEmpty && advertisement.address == nil
        if isLegacy, set.extended != nil {
            fields.reader.error(
                at: fields.mark(of: AdvertisingSection.extended.name),
                """
                a controller cannot change from legacy to extended advertising: write extended: true in the \
                profile's advertising too, or a second set with it
                """)
        }
        AdvertisingSection.check(set, fields)
        guard fields.reader.errorCount == errorsBefore else { return }
        do throws(AdvertisementError) {
            _ = try AccessoryAdvertising.compose(set)
        } catch {
            let advice = AdvertisingSection.advice(on: error, set)
            fields.reader.error(at: fields.mark(of: error.field), "\(error)" + advice)
        }
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
