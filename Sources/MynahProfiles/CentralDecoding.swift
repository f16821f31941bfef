import MynahCore

// `central:`
extension ProfileDecoder {
    /// One manager, or a list of several.
    mutating func centrals(_ node: YAMLNode, of app: Profile.App?, at mark: SourceMark) -> [Profile.Central] {
        if app == nil {
            error(at: mark, "central: needs an app: section, because only an app can be a central")
        }
        var taken = Set([app?.restoreIdentifier].compactMap { $0 })
        let app = app ?? Profile.App()
        guard case .sequence = node else {
            return central(node, of: app, taken: &taken).map { [$0] } ?? []
        }
        return elements(node, "central").compactMap { central($0, of: app, taken: &taken) }
    }

    private mutating func central(
        _ node: YAMLNode, of app: Profile.App, taken: inout Set<String>
    ) -> Profile.Central? {
        guard let fields = fields(node, "central", known: ProfileKeys.central) else { return nil }
        var central = Profile.Central()
        if let node = fields["restoreIdentifier"], let text = text(node, "restoreIdentifier") {
            checkRestoreIdentifier(text, at: node)
            if !taken.insert(text).inserted {
                error(
                    at: node,
                    """
                    the restoreIdentifier \(Self.quote(text)) is another manager's of this app; give \
                    each one of its own
                    """
                )
            }
            central.restoreIdentifier = text
        }
        if let node = fields["scan"] { central.scan = scan(node, at: fields.mark(of: "scan"), of: app) }
        if let node = fields["reconnect"] {
            central.reconnect = reconnect(node, hasScan: fields["scan"] != nil)
        }
        guard let node = fields["peripherals"] else { return central }
        for element in elements(node, "peripherals") {
            guard let peripheral = peripheral(element, of: app) else { continue }
            if central.peripherals.contains(where: { $0.name == peripheral.name }) {
                error(
                    at: element,
                    "another peripheral has the name \(Self.quote(peripheral.name)); names must differ")
            }
            central.peripherals.append(peripheral)
        }
        return central
    }

    /// Ways one after the other; those in a list are tried at once.
    private mutating func reconnect(_ node: YAMLNode, hasScan: Bool) -> [[ReconnectWay]] {
        var taken: Set<ReconnectWay> = []
        func way(_ node: YAMLNode, _ decoder: inout ProfileDecoder) -> ReconnectWay? {
            guard let way = decoder.choice(node, "way to reconnect", as: ReconnectWay.self) else {
                return nil
            }
            if !taken.insert(way).inserted {
                decoder.error(at: node, "the way \(way.rawValue) is repeated")
            }
            if way == .scan, !hasScan {
                decoder.warning(
                    at: node.mark, "the way scan needs scan: in the same central section")
            }
            return way
        }
        return elements(node, "reconnect").map { element in
            guard case .sequence = element else { return way(element, &self).map { [$0] } ?? [] }
            return elements(element, "reconnect").compactMap { way($0, &self) }
        }
    }

    private mutating func scan(
        _ node: YAMLNode, at mark: SourceMark, of app: Profile.App
    ) -> Profile.Central.Scan? {
        guard let fields = fields(node, "scan", known: ProfileKeys.scan) else { return nil }
        var scan = Profile.Central.Scan()
        scan.services = uuids(fields, "services")
        scan.allowsDuplicates =
            fields["allowDuplicates"].flatMap { bool($0, "allowDuplicates") } ?? scan.allowsDuplicates
        scan.solicited = uuids(fields, "solicited")
        if !scan.solicited.isEmpty, scan.services.isEmpty {
            warning(
                at: fields.mark(of: "solicited"),
                "solicited has no effect without services: the scan finds every device")
        }
        if let node = fields["until"], let end = choice(node, "until", as: Profile.Central.Scan.End.self) {
            scan.end = end
        }
        guard app.backgroundModes.contains(.bluetoothCentral) else { return scan }
        if scan.services.isEmpty {
            warning(
                at: mark,
                "a scan without services finds nothing in the background; add services")
        }
        if scan.allowsDuplicates {
            hint(
                at: fields.mark(of: "allowDuplicates"),
                """
                allowDuplicates applies in the foreground only; in the background each device is \
                reported once
                """)
        }
        return scan
    }

    private mutating func peripheral(
        _ node: YAMLNode, of app: Profile.App
    ) -> Profile.Central.Peripheral? {
        guard let fields = fields(node, "a peripheral", known: ProfileKeys.peripheral) else { return nil }
        guard let name = fields["name"] else {
            error(at: fields.mark, "a peripheral needs a name, which events use")
            return nil
        }
        guard let word = text(name, "name") else { return nil }
        checkIsPrintable(word, "the name", at: name)
        var peripheral = Profile.Central.Peripheral(name: word)
        if let node = fields["match"] { peripheral.match = match(node) }
        if let node = fields["connect"] { peripheral.connection = connection(node, of: app) }
        if let node = fields["discover"],
            let choice = choice(node, "discover", as: Profile.Central.Peripheral.Discovery.self)
        {
            peripheral.discovery = choice
        }
        peripheral.read = names(fields, "read")
        peripheral.subscribe = names(fields, "subscribe")
        if let node = fields["write"] {
            peripheral.writes = elements(node, "write").compactMap { write($0) }
        }
        if let node = fields["whenDone"],
            let choice = choice(node, "whenDone", as: Profile.Central.Peripheral.WhenDone.self)
        {
            peripheral.whenDone = choice
            if choice == .disconnect, !peripheral.subscribe.isEmpty {
                warning(
                    at: node.mark,
                    "whenDone: disconnect waits for the end of all subscriptions, and this entry subscribes")
            }
        }
        if let node = fields["onDisconnect"],
            let choice = choice(node, "onDisconnect", as: Profile.Central.Peripheral.OnDisconnect.self)
        {
            peripheral.onDisconnect = choice
        }
        checkUse(of: peripheral, fields)
        return peripheral
    }

    private mutating func checkUse(of peripheral: Profile.Central.Peripheral, _ fields: Fields) {
        let used = ["read", "subscribe", "write"].first { fields[$0] != nil }
        guard let used, !peripheral.names.isEmpty else { return }
        if peripheral.connection == nil {
            error(at: fields.mark(of: used), "\(used) needs a connection, and this entry has connect: never")
        } else if peripheral.discovery == .none {
            error(at: fields.mark(of: used), "\(used) needs discovery, and this entry has discover: none")
        }
    }

    private mutating func match(_ node: YAMLNode) -> Profile.Central.Match {
        var match = Profile.Central.Match()
        guard let fields = fields(node, "match", known: ProfileKeys.match) else { return match }
        match.services = uuids(fields, "services")
        match.localName = fields["localName"].flatMap { text($0, "localName") }
        match.rssi = fields["rssi"].flatMap { rssi($0) }
        return match
    }

    /// A received signal strength is from -127 to 20 dBm (Core Specification, Vol 4, Part E, 7.7.65.2).
    private mutating func rssi(_ node: YAMLNode) -> Int? {
        guard let text = text(node, "rssi") else { return nil }
        let words = text.split(separator: " ")
        guard words.count == 2, words[1] == "dBm", let number = Int(words[0]), (-127...20).contains(number)
        else {
            error(at: node, "rssi must be from -127 dBm to 20 dBm, as in -75 dBm, not \(Self.quote(text))")
            return nil
        }
        return number
    }

    /// `nil` if it never connects.
    private mutating func connection(_ node: YAMLNode, of app: Profile.App) -> ConnectOptions? {
        if node.scalar?.string == "never" { return nil }
        var connection = ConnectOptions()
        guard case .mapping = node else {
            error(
                at: node,
                """
                connect must be never or a mapping of \(Self.list(ProfileKeys.connect)), not \
                \(Self.shape(of: node))
                """
            )
            return connection
        }
        guard let fields = fields(node, "connect", known: ProfileKeys.connect) else { return connection }
        func flag(_ key: String, _ decoder: inout ProfileDecoder) -> Bool {
            fields[key].flatMap { decoder.bool($0, key) } ?? false
        }
        connection.notifyOnConnection = flag("notifyOnConnection", &self)
        connection.notifyOnDisconnection = flag("notifyOnDisconnection", &self)
        connection.notifyOnNotification = flag("notifyOnNotification", &self)
        connection.autoReconnect = flag("autoReconnect", &self)
        if let node = fields["startDelay"], let delay = duration(node, "startDelay") {
            connection.startDelay = delay
        }
        if connection.autoReconnect, app.iOS < 17 {
            error(
                at: fields.mark(of: "autoReconnect"),
                "autoReconnect needs iOS 17, and the app has iOS: \(app.iOS)")
        }
        guard app.backgroundModes.contains(.bluetoothCentral) else { return connection }
        for (key, isOn) in [
            ("notifyOnConnection", connection.notifyOnConnection),
            ("notifyOnDisconnection", connection.notifyOnDisconnection),
            ("notifyOnNotification", connection.notifyOnNotification),
        ] where isOn {
            warning(
                at: fields.mark(of: key),
                "\(key) shows no alert for an app with bluetooth-central: the app is woken instead")
        }
        return connection
    }

    private mutating func names(_ fields: Fields, _ key: String) -> [AttributeName] {
        guard let node = fields[key] else { return [] }
        return elements(node, key).compactMap { name($0, key) }
    }

    private mutating func name(_ node: YAMLNode, _ key: String) -> AttributeName? {
        guard let text = text(node, key) else { return nil }
        do throws(AttributeName.Problem) {
            let name = try AttributeName(parsing: text)
            if name.mayNameCharacteristic { return name }
            error(
                at: node,
                "\(key) must name a characteristic, as 180D/2A37 or 2A37, not \(Self.quote(text))")
        } catch {
            self.error(at: node, "\(key): \(error.message)")
        }
        return nil
    }

    private mutating func write(_ node: YAMLNode) -> Profile.Central.Write? {
        guard let fields = fields(node, "a write", known: ProfileKeys.write) else { return nil }
        guard let to = fields["to"], let valueNode = fields["value"] else {
            error(at: fields.mark, "a write needs to and value, as in {to: 2A39, value: {hex: 01}}")
            return nil
        }
        guard let target = name(to, "to"), let value = value(valueNode) else { return nil }
        guard case .bytes(let bytes) = value else {
            error(at: valueNode, "the value of a write must be hex, text or base64")
            return nil
        }
        let withResponse = fields["withResponse"].flatMap { bool($0, "withResponse") } ?? true
        let every = fields["every"].flatMap { duration($0, "every", atLeast: .milliseconds(1)) }
        return Profile.Central.Write(
            target: target, value: bytes, withResponse: withResponse, every: every)
    }
}
