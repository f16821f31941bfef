import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

/// For all requests of apps: the result fits, omissions are reported, and the rest is advertised.
@Suite struct PhoneAdvertisingPropertyTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any wishes fit, and what is not in clear is named`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let phone = random.phone()
            let apps = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.app() }
            let air = phone.compose(apps)
            #expect(phone.compose(apps) == air)
            let wishes = Wishes(apps: apps, phone: phone)
            guard let bytes = air.bytes else {
                #expect(!wishes.hasForeground && air.overflow.isEmpty)
                continue
            }
            let decoded = try #require(Decoded(bytes))
            wishes.checkBudget(decoded)
            wishes.checkUUIDs(decoded, air)
            wishes.checkName(decoded, air)
            #expect(
                air.interval.lowerBound
                    == (wishes.hasForeground ? phone.foregroundInterval : phone.backgroundInterval))
        }
    }
}

/// The bytes, decoded by code that did not encode them.
private struct Decoded {
    var data: [ADStructure]
    var scanResponse: [ADStructure]
    var clear: [BluetoothUUID] = []
    var incomplete: Set<BluetoothUUID.Width> = []
    var names: [ADStructure] = []
    var areas: [OverflowArea] = []

    init?(_ bytes: ExactAdvertisement) {
        guard bytes.data.bytes.count <= 31, bytes.scanResponse.bytes.count <= 31 else { return nil }
        let (data, rest) = [ADStructure].decode(bytes.data.bytes)
        let (scanResponse, restThere) = [ADStructure].decode(bytes.scanResponse.bytes)
        guard rest == 0, restThere == 0, data == bytes.data, scanResponse == bytes.scanResponse else {
            return nil
        }
        self.data = data
        self.scanResponse = scanResponse
        for structure in data {
            for width in BluetoothUUID.Width.allCases {
                let isComplete = structure.type == .serviceUUIDs(width, isComplete: true)
                guard isComplete || structure.type == .serviceUUIDs(width, isComplete: false) else {
                    continue
                }
                if !isComplete { incomplete.insert(width) }
                var reader = ByteReader(structure.data)
                while let part = reader.readBytes(width.byteCount),
                    let uuid = BluetoothUUID(littleEndian: part)
                {
                    clear.append(uuid)
                }
                guard reader.isAtEnd else { return nil }
            }
        }
        names = (data + scanResponse).filter {
            $0.type == .completeLocalName || $0.type == .shortenedLocalName
        }
        areas = (data + scanResponse).compactMap { OverflowArea($0) }
    }
}

private struct Wishes {
    var apps: [AppAdvertisement]
    var phone: PhoneAdvertising

    var hasForeground: Bool { apps.contains { $0.mode == .foreground } }

    func checkBudget(_ air: Decoded) {
        #expect(air.data.first == ADStructure(type: .flags, data: [0x1A]))
        let power = phone.txPower.map { ADStructure(type: .txPowerLevel, data: [UInt8(bitPattern: $0)]) }
        #expect(air.data.filter { $0.type == .txPowerLevel } == [power].compactMap { $0 })
        let own = air.data.filter { $0.type != .flags && $0.type != .txPowerLevel }
        #expect(own.byteCount <= (power == nil ? 28 : 25))
        #expect(air.scanResponse.filter { OverflowArea($0) == nil }.byteCount <= 10)
        // The scan response holds a name, and then the area.
        #expect(
            air.scanResponse.count <= 2 && air.scanResponse.dropLast().allSatisfy { OverflowArea($0) == nil })
        if !hasForeground {
            #expect(own.allSatisfy { OverflowArea($0) != nil })
            let isHere = !own.isEmpty
            #expect(isHere == (phone.placement == .advertisingData))
        }
    }

    func checkUUIDs(_ air: Decoded, _ plan: PhoneAdvertisement) {
        #expect(Set(air.clear).count == air.clear.count)
        var hidden = OverflowArea()
        for (app, omitted) in zip(apps, plan.omitted) {
            let named = omitted.map(\.item)
            #expect(Set(named).count == named.count)
            let items = app.serviceUUIDs.indices.map { "serviceUUIDs[\($0)]" }
            #expect(Set(named).isSubset(of: items + ["localName", "serviceUUIDs"]))
            #expect(named.contains("serviceUUIDs") == (app.mode == .background && items.isEmpty))
            guard app.mode != .off else {
                #expect(omitted == [])
                continue
            }
            for (item, uuid) in zip(items, app.serviceUUIDs) {
                #expect(air.clear.contains(uuid) || named.contains(item))
                guard named.contains(item) || app.mode == .background else { continue }
                hidden.insert(uuid)
                #expect(plan.overflow.contains(uuid))
            }
            // Those in clear keep their order.
            for width in BluetoothUUID.Width.allCases where apps.count == 1 {
                let list = air.clear.filter { $0.width == width }
                var seen: Set<BluetoothUUID> = []
                let asked = app.serviceUUIDs.filter {
                    $0.width == width && list.contains($0) && seen.insert($0).inserted
                }
                #expect(list == asked)
            }
        }
        #expect(hidden == plan.overflow)
        #expect(air.areas == (hidden.isEmpty ? [] : [hidden]))
        for width in BluetoothUUID.Width.allCases where air.clear.contains(where: { $0.width == width }) {
            let isCut = zip(apps, plan.omitted).contains { app, omitted in
                app.mode == .foreground
                    && app.serviceUUIDs.enumerated().contains { index, uuid in
                        uuid.width == width && omitted.contains { $0.item == "serviceUUIDs[\(index)]" }
                    }
            }
            #expect(air.incomplete.contains(width) == isCut)
        }
        for uuid in air.clear {
            #expect(apps.contains { $0.mode == .foreground && $0.serviceUUIDs.contains(uuid) })
        }
    }

    func checkName(_ air: Decoded, _ plan: PhoneAdvertisement) {
        #expect(air.names.count <= 1)
        for (app, omitted) in zip(apps, plan.omitted) where app.mode != .off {
            guard let name = app.localName, !name.isEmpty else { continue }
            let isWhole = air.names.contains { $0.type == .completeLocalName && $0.data == Array(name.utf8) }
            let isNamed = omitted.contains { $0.item == "localName" }
            #expect(app.mode == .foreground ? isWhole != isNamed : isNamed)
        }
        guard let structure = air.names.first else { return }
        let owner = apps.first { app in
            app.mode == .foreground
                && Array((app.localName ?? "").utf8.prefix(structure.data.count)) == structure.data
        }
        #expect(owner != nil)
        let text = String(validating: structure.data, as: UTF8.self)
        #expect(text != nil)
        guard structure.type == .shortenedLocalName, let whole = owner?.localName else { return }
        // Not even the next character fits, here or there.
        let next = whole.unicodeScalars.dropFirst(text?.unicodeScalars.count ?? 0).first.map {
            UTF8.width($0)
        }
        let lists = air.data.filter { !air.names.contains($0) }
        let room = max(31 - lists.byteCount, 10) - 2
        #expect(structure.data.count + (next ?? 0) > room)
    }
}

extension SeededGenerator {
    fileprivate mutating func phone() -> PhoneAdvertising {
        PhoneAdvertising(
            iOS: .random(in: 7...26, using: &self), foregroundInterval: .milliseconds(20),
            txPower: Bool.random(using: &self) ? .random(in: -127...20, using: &self) : nil)
    }

    fileprivate mutating func app() -> AppAdvertisement {
        let modes: [AdvertisingMode] = [
            .foreground, .foreground, .foreground, .background, .background, .off,
        ]
        let uuids = (0..<Int.random(in: 0...16, using: &self)).map { _ in uuid() }
        return AppAdvertisement(
            localName: name(), serviceUUIDs: uuids, mode: modes.randomElement(using: &self) ?? .off)
    }

    private mutating func uuid() -> BluetoothUUID {
        // Few values, so that some come twice and in two widths.
        let value = UInt16.random(in: 0x1800...0x1840, using: &self)
        switch Int.random(in: 0...5, using: &self) {
        case 0: return BluetoothUUID(UInt32.random(in: 0x10000...UInt32.max, using: &self))
        case 1:
            return BluetoothUUID(littleEndian: (0..<16).map { _ in .random(in: 0...255, using: &self) })
                ?? "180D"
        case 2: return BluetoothUUID(value).in128Bits
        default: return BluetoothUUID(value)
        }
    }

    /// Letters of one to four bytes, and what joins them.
    private mutating func name() -> String? {
        let letters = [
            "a", "Z", "0", " ", "ä", "ß", "é", "\u{301}", "ж", "ع", "日", "本", "한", "\u{200D}", "🐦", "👩", "🇩🇪",
        ]
        guard Int.random(in: 0...4, using: &self) > 0 else { return Bool.random(using: &self) ? nil : "" }
        return (0..<Int.random(in: 1...20, using: &self)).map { _ in letters.randomElement(using: &self) ?? ""
        }
        .joined()
    }
}
