import MynahCore

/// The section `periodic` of an advertising set.
enum PeriodicSection {
    static let interval = Field(
        "interval", called: "periodic.interval", intervalKind,
        doc: "The periodic advertising interval: one, or the shortest and the longest; left out: 100 ms.")
    static let value = Field(
        "value", .section("scanResponse"), doc: "The fields of the periodic advertising data.")
    static let table = Section("periodic", [interval, value])

    private static let min = Field(
        "min", oneInterval, missing: "an interval needs min, as in {min: 100 ms, max: 150 ms}",
        doc: "The shortest interval.")
    private static let max = Field(
        "max", oneInterval, missing: "an interval needs max, as in {min: 100 ms, max: 150 ms}",
        doc: "The longest interval.")
    static let intervals = Section("periodicIntervals", what: "an interval", [min, max])

    /// The range of the periodic advertising interval (Core Specification, Vol 4, Part E, 7.8.61).
    private static var oneInterval: Kind<Duration> {
        .duration(.microseconds(7500), atMost: .microseconds(81_918_750))
    }

    private static var intervalKind: Kind<ClosedRange<Duration>> {
        AdvertisingKinds.range(
            "duration, 7.5 ms to 81.91875 s, or a mapping of `min` and `max`", oneInterval, intervals, min,
            max)
    }

    /// Periodic advertising as a profile writes it.
    enum Written {
        case off
        /// `true`, or a mapping of its interval and value.
        case on(YAMLNode)
    }

    /// The format of `periodic`: `true`, `false`, or a mapping of the interval and the value.
    static var kind: Kind<Written> {
        Kind(
            "`true`, `false`, or a mapping of `interval` and `value`",
            .anyOf([.ref("boolean"), .ref("periodic")])
        ) { node, what, reader in
            if case .mapping = node { return .on(node) }
            return reader.bool(
                node, what, "true, false or a mapping, as in {interval: 100 ms}",
                ["true": true, "false": false]
            ).map { $0 ? .on(node) : .off }
        }
    }

    /// Parses `true` or a mapping; returns the change, and the values in it that change over time.
    static func read(
        _ node: YAMLNode, _ reader: FormatReader, _ identity: DeviceIdentity, _ scope: FieldScope
    ) -> (change: AdvertisementChange.PeriodicChange, values: [AdvertisedValue])? {
        var change = AdvertisementChange.PeriodicChange()
        guard case .mapping = node else { return (change, []) }
        guard let fields = reader.fields(node, table) else { return nil }
        fields.read(interval, into: &change.interval)
        guard let node = fields[value] else { return (change, []) }
        guard let contents = reader.fields(node, AdvertisedContentsSection.periodicTable) else { return nil }
        let read = AdvertisedContentsSection(fields: contents, identity: identity, scope: scope)
            .read(.periodic)
        change.contents = read.change
        return (change, read.values)
    }

    /// The position of each field of `value`, by its key.
    static func marks(of node: YAMLNode) -> [String: SourceMark] {
        guard case .mapping(let periodic) = node,
            case .mapping(let contents)? = periodic.pairs.first(where: { $0.0.scalar?.string == value.name })?
                .1
        else { return [:] }
        var marks: [String: SourceMark] = [:]
        for (key, value) in contents.pairs {
            if let name = key.scalar?.string, let mark = value.mark { marks[name] = mark }
        }
        return marks
    }
}
