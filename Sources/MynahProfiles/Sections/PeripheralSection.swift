import MynahCore

/// An entry of the section `peripherals:`, which describes one device of a central manager.
enum PeripheralSection {
    typealias Peripheral = Profile.Central.Peripheral

    static let name = Field(
        "name", .text, missing: "a peripheral needs a name, which events use", doc: "Its name in events.")
    static let match = Field(
        "match", .section("match"),
        doc: "The conditions for a device, which must meet all of them. Left out: any device.")
    static let connect = Field(
        "connect", .node("`connect`, or `never`", .anyOf([.words(["never"]), .ref("connect")])),
        doc: "The options of its connection, or never.")
    static let discover = Field(
        "discover", Kind<Peripheral.Discovery>.word,
        doc: "The services and characteristics to discover; left out: needed, those that the entry uses.")
    static let read = Field("read", .characteristics, doc: "The characteristics that are read.")
    static let subscribe = Field(
        "subscribe", .characteristics, doc: "The characteristics that are subscribed to.")
    static let write = Field("write", .sections("write"), doc: "The writes on each connection.")
    static let channel = Field(
        "channel", .section("openedChannel"),
        doc: "The L2CAP channel that the app opens after the writes; left out: none.")
    static let whenDone = Field(
        "whenDone", Kind<Peripheral.WhenDone>.word,
        doc: "The behavior after every read, write and subscription; left out: stay.")
    static let onDisconnect = Field(
        "onDisconnect", Kind<Peripheral.OnDisconnect>.word,
        doc: "The behavior after a connection has ended; left out: connect, which never times out.")
    static let table = Section(
        "peripheral", what: "a peripheral",
        [name, match, connect, discover, read, subscribe, write, channel, whenDone, onDisconnect])

    static func read(_ node: YAMLNode, of app: Profile.App, _ reader: FormatReader) -> Peripheral? {
        guard let fields = reader.fields(node, table) else { return nil }
        guard let word = fields.read(name) else { return nil }
        reader.checkName(word, "the name", at: fields[name])
        var peripheral = Peripheral(name: word)
        if let node = fields[match] { peripheral.match = MatchSection.read(node, reader) }
        if let node = fields[connect] {
            peripheral.connection = ConnectSection.read(node, of: app, reader)
        }
        fields.read(discover, into: &peripheral.discovery)
        fields.read(read, into: &peripheral.read)
        fields.read(subscribe, into: &peripheral.subscribe)
        if let node = fields[write] {
            peripheral.writes = reader.elements(node, "write").compactMap {
                WriteSection.read($0, reader)
            }
        }
        peripheral.channel = fields[channel].flatMap {
            ChannelSection.read($0, reader, table: ChannelSection.openedTable)
        }
        fields.read(whenDone, into: &peripheral.whenDone)
        if peripheral.whenDone == .disconnect, !peripheral.subscribe.isEmpty {
            reader.warning(
                at: fields[whenDone]?.mark,
                "whenDone: disconnect waits for the end of all subscriptions, and this entry subscribes")
        }
        if peripheral.whenDone == .disconnect, peripheral.writes.contains(where: { $0.after != nil }) {
            reader.warning(
                at: fields[whenDone]?.mark,
                "whenDone: disconnect ends the link before the writes with after, if it subscribes to nothing"
            )
        }
        fields.read(onDisconnect, into: &peripheral.onDisconnect)
        checkUse(of: peripheral, fields, reader)
        return peripheral
    }

    private static func checkUse(of peripheral: Peripheral, _ fields: Fields, _ reader: FormatReader) {
        let used = [read.name, subscribe.name, write.name, channel.name].first { fields[$0] != nil }
        guard let used, !peripheral.names.isEmpty else { return }
        let mark = fields.mark(of: used)
        if peripheral.connection == nil {
            reader.error(at: mark, "\(used) needs a connection, and this entry has connect: never")
        } else if peripheral.discovery == .none {
            reader.error(at: mark, "\(used) needs discovery, and this entry has discover: none")
        }
    }
}

/// The section `match:` of a peripheral.
enum MatchSection {
    static let services = Field("services", .services(), doc: "The services that the device advertises.")
    static let localName = Field("localName", .text, doc: "Its whole local name.")
    static let rssi = Field("rssi", .signalStrength, doc: "The weakest signal, as -75 dBm.")
    static let table = Section("match", [services, localName, rssi])

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.Central.Match {
        var match = Profile.Central.Match()
        guard let fields = reader.fields(node, table) else { return match }
        fields.read(services, into: &match.services)
        match.localName = fields.read(localName)
        match.rssi = fields.read(rssi)
        return match
    }
}

/// The section `connect:` of a peripheral.
enum ConnectSection {
    static let notifyOnConnection = Field(
        "notifyOnConnection", .bool, doc: "An alert if it is connected while the app is suspended.")
    static let notifyOnDisconnection = Field(
        "notifyOnDisconnection", .bool, doc: "An alert if the link ends while the app is suspended.")
    static let notifyOnNotification = Field(
        "notifyOnNotification", .bool, doc: "An alert if a value comes while the app is suspended.")
    static let startDelay = Field(
        "startDelay", .duration(), doc: "The time before the system tries to connect.")
    static let autoReconnect = Field(
        "autoReconnect", .bool, doc: "Whether the system connects again after a loss; from iOS 17 on.")
    static let table = Section(
        "connect",
        [notifyOnConnection, notifyOnDisconnection, notifyOnNotification, startDelay, autoReconnect])

    /// Parses the options of the connection; returns `nil` if the value is `never`.
    static func read(_ node: YAMLNode, of app: Profile.App, _ reader: FormatReader) -> ConnectOptions? {
        if node.scalar?.string == "never" { return nil }
        var connection = ConnectOptions()
        guard case .mapping = node else {
            reader.error(
                at: node,
                """
                connect must be never or a mapping of \(Words.list(table.keys)), not \
                \(Words.shape(of: node))
                """
            )
            return connection
        }
        guard let fields = reader.fields(node, table) else { return connection }
        fields.read(notifyOnConnection, into: &connection.notifyOnConnection)
        fields.read(notifyOnDisconnection, into: &connection.notifyOnDisconnection)
        fields.read(notifyOnNotification, into: &connection.notifyOnNotification)
        fields.read(autoReconnect, into: &connection.autoReconnect)
        fields.read(startDelay, into: &connection.startDelay)
        if connection.autoReconnect, !IOSVersion(app.iOS).hasAutoReconnect {
            reader.error(
                at: fields.mark(of: autoReconnect),
                "autoReconnect needs iOS \(IOSVersion.autoReconnect), and the app has iOS: \(app.iOS)")
        }
        guard app.backgroundModes.contains(.bluetoothCentral) else { return connection }
        for (alert, isOn) in [
            (notifyOnConnection, connection.notifyOnConnection),
            (notifyOnDisconnection, connection.notifyOnDisconnection),
            (notifyOnNotification, connection.notifyOnNotification),
        ] where isOn {
            reader.warning(
                at: fields.mark(of: alert),
                "\(alert.name) shows no alert for an app with bluetooth-central: the app is woken instead")
        }
        return connection
    }
}

/// An entry of the section `write:` of a peripheral.
enum WriteSection {
    static let to = Field("to", .characteristic, isRequired: true, doc: "The characteristic.")
    static let value = Field(
        "value", .constantValue(else: "the value of a write must be hex, text or base64"),
        isRequired: true, doc: "The value: hex, text or base64.")
    static let withResponse = Field("withResponse", .bool, doc: "Left out: true.")
    static let every = Field(
        "every", .duration(.milliseconds(1)),
        doc: "The time between two writes while the app runs; left out: once per connection.")
    static let after = Field(
        "after", .duration(.zero),
        doc: """
            The time after the reads, the subscriptions and the writes without after; left out: one after \
            the other.
            """)
    static let table = Section("write", what: "a write", [to, value, withResponse, every, after])

    static func read(_ node: YAMLNode, _ reader: FormatReader) -> Profile.Central.Write? {
        guard let fields = reader.fields(node, table) else { return nil }
        guard fields[to] != nil, fields[value] != nil else {
            reader.error(at: fields.mark, "a write needs to and value, as in {to: 2A39, value: {hex: 01}}")
            return nil
        }
        guard let target = fields.read(to), let value = fields.read(value) else {
            return nil
        }
        var write = Profile.Central.Write(
            target: target, value: value, withResponse: fields.read(withResponse) ?? true,
            every: fields.read(every))
        write.after = fields.read(after)
        return write
    }
}

extension Kind<Int> {
    /// The format of an RSSI, which is from -127 to 20 dBm (Core Specification, Vol 4, Part E, 7.7.65.2).
    fileprivate static var signalStrength: Kind {
        parsed(
            "-127 dBm to 20 dBm", .types("string", pattern: "^ *[+-]?[0-9]{1,3} +dBm *$"),
            shape: "from -127 dBm to 20 dBm, as in -75 dBm"
        ) { text in
            let words = text.split(separator: " ")
            guard words.count == 2, words[1] == "dBm", let number = Int(words[0]) else { return nil }
            return (-127...20).contains(number) ? number : nil
        }
    }
}

extension Kind<AttributeName> {
    /// The format of a name of a characteristic of another device.
    static var characteristic: Kind {
        Kind("characteristic", .ref("attributeName")) { node, what, reader in
            guard let text = reader.text(node, what) else { return nil }
            do throws(AttributeName.Problem) {
                let name = try AttributeName(parsing: text)
                if name.mayNameCharacteristic { return name }
                reader.error(
                    at: node,
                    "\(what) must name a characteristic, as 180D/2A37 or 2A37, not \(Words.quote(text))")
            } catch {
                reader.error(at: node, "\(what): \(error.message)")
            }
            return nil
        }
    }
}

extension Kind<[AttributeName]> {
    fileprivate static var characteristics: Kind {
        let name = Kind<AttributeName>.characteristic
        return Kind("list of characteristics", .list(of: name.schema)) { node, what, reader in
            reader.elements(node, what).compactMap { name.read($0, what, reader) }
        }
    }
}
