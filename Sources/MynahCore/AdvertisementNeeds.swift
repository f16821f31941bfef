import MynahSupport

extension Advertisement {
    /// The capabilities that the set needs and that some radios lack, each with the profile's field that
    /// needs it.
    package var needs: [(need: RadioNeed, field: String)] {
        var needs: [(RadioNeed, String)] = []
        if let interval { needs.append((.advertisingInterval(interval), "interval")) }
        if extended != nil { needs.append((.extendedAdvertising, "extended")) }
        needs += exactNeeds.map { (.exactAdvertising($0.what), $0.field) }
        if [data, scanResponse].contains(where: { $0.txPower?.level != nil }) {
            needs.append((.txPowerLevel, "txPower"))
        }
        if !AccessoryAdvertising.fields(of: scanResponse).isEmpty {
            needs.append((.scanResponseFields, "scanResponse"))
        }
        for contents in [data, scanResponse] {
            for uuid in contents.serviceUUIDs where uuid.width != uuid.shortest.width {
                needs.append((.advertisedWidth(uuid), "serviceUUIDs"))
            }
            for uuid in contents.solicitedServiceUUIDs where uuid.width != uuid.shortest.width {
                needs.append((.advertisedWidth(uuid), "solicitedServiceUUIDs"))
            }
            if contents.manufacturerData.contains(where: \.data.isEmpty) {
                needs.append((.emptyAdvertisingData, "manufacturerData"))
            }
            if contents.serviceData.contains(where: \.data.isEmpty) {
                needs.append((.emptyAdvertisingData, "serviceData"))
            }
        }
        return needs
    }

    /// The parts of the set that need a radio which sends exactly the given bytes, each with the profile's
    /// field.
    private var exactNeeds: [(what: String, field: String)] {
        var needs: [(String, String)] = []
        if let flags, flags != Self.usualFlags {
            needs.append(("the Flags 0x\(Hex.encode([flags]))", "flags"))
        }
        if let extended { needs += exactNeeds(of: extended) }
        let isNamed = (data.localName ?? scanResponse.localName)?.isEmpty == false
        // A scan response makes the set scannable.
        if extended == nil, !isConnectable, !isScannable, isNamed {
            needs.append(("a local name that is not in the scan response", "localName"))
        }
        if periodic != nil { needs.append(("periodic advertising", "periodic")) }
        if address != nil { needs.append(("a set with an address of its own", "address")) }
        for contents in [data, scanResponse] {
            if !contents.incompleteServiceUUIDs.isEmpty {
                needs.append(("an incomplete list of services", "serviceUUIDs"))
            }
            let companies = contents.manufacturerData.map(\.company)
            if Set(companies).count < companies.count {
                needs.append(("several data of one company", "manufacturerData"))
            }
            let services = contents.serviceData.map(\.uuid)
            if Set(services).count < services.count {
                needs.append(("several data of one service", "serviceData"))
            }
        }
        return needs
    }

    private func exactNeeds(of extended: Extended) -> [(what: String, field: String)] {
        var needs: [(String, String)] = []
        // One property selects both PHYs: on LE Coded, the kernel announces the set on LE Coded, too.
        if extended.isPrimaryCoded != (extended.secondaryPHY == .coded) {
            needs.append(("a set with LE Coded as only one of its PHYs", "extended"))
        }
        if isScannable { needs.append(("extended data that is scannable", "scannable")) }
        if !isConnectable, data.localName?.isEmpty == false {
            needs.append(("a local name in extended data that is not connectable", "localName"))
        }
        return needs
    }
}
