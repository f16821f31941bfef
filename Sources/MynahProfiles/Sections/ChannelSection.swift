import MynahCore

/// The section `channel:` of an app, which publishes the channel, or of a peripheral, to which the app opens
/// it.
enum ChannelSection {
    static let psm = Field(
        "psm", .characteristic, missing: "a channel needs psm, the characteristic that has its PSM",
        doc: "The characteristic that has its PSM: two bytes, the lower one first.")
    static let encrypted = Field(
        "encrypted", .bool, doc: "Whether the link has to be encrypted; left out: false.")
    static let send = Field(
        "send", .constantValue(else: "what a channel sends must be hex, text or base64"),
        doc: "Sent once when a channel was opened: hex, text or base64.")
    static let table = Section("channel", [psm, encrypted, send])
    static let openedTable = Section("openedChannel", what: "a channel", [psm, send])

    /// Parses a channel that an app publishes, or one that the app opens if `table` is `openedTable`.
    static func read(
        _ node: YAMLNode, _ reader: FormatReader, table: Section = Self.table
    ) -> Profile.Channel? {
        guard let fields = reader.fields(node, table), let name = fields.read(psm) else { return nil }
        let greeting = fields.read(send)
        if let count = greeting?.count, count > Profile.Channel.largestGreeting {
            reader.error(
                at: fields.mark(of: send),
                "a channel sends at most \(Profile.Channel.largestGreeting) bytes, and these are \(count)")
        }
        return Profile.Channel(
            psm: name, isEncrypted: fields.read(encrypted) ?? false, greeting: greeting)
    }

    /// Reports an error if no readable characteristic of the app contains the PSM of its channel.
    static func check(
        _ channel: Profile.Channel, of profile: Profile, at mark: SourceMark, _ reader: FormatReader
    ) {
        do throws(AttributeName.Problem) {
            let position = try channel.psm.resolve(in: profile.attributeTree)
            let characteristic = position.characteristic.map {
                profile.services[position.service].characteristics[$0]
            }
            guard characteristic?.properties.contains(.read) != true else { return }
            reader.error(at: mark, "the psm of the channel must be a characteristic that can be read")
        } catch {
            reader.error(at: mark, "the psm of the channel: \(error.message)")
        }
    }
}
