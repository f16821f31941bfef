import MynahCore
import MynahSupport

/// An iPhone's advertisement while it is being composed.
///
/// The overflow area (`OverflowArea`) has a bit for each service UUID that is not in a list of UUIDs.
struct AdvertisementComposition {
    private struct List {
        var width: BluetoothUUID.Width
        var uuids: [BluetoothUUID] = []
        /// Whether a UUID of this width did not fit and is in the overflow area.
        var isCut = false
    }

    private let headers: [ADStructure]
    private var lists: [List] = []
    private var clear: Set<BluetoothUUID> = []
    private var data: [ADStructure]
    private var name: ADStructure?
    private var isNameInScanResponse = false
    private(set) var overflow = OverflowArea()
    private(set) var omitted: [[AdvertisingReport.Omission]]

    init(headers: [ADStructure], count: Int) {
        self.headers = headers
        data = headers
        omitted = Array(repeating: [], count: count)
    }

    private var room: Int {
        let taken = lists.reduce(0) { $0 + 2 + $1.uuids.count * $1.width.byteCount }
        return ExactAdvertisement.legacyCapacity - headers.byteCount - taken
    }

    /// Adds the service UUIDs of an app in the foreground to the lists, one list for each width.
    ///
    /// A UUID that does not fit goes to the overflow area. A later, shorter one is still added to its list if
    /// it fits.
    mutating func takeClear(_ app: AppAdvertisement, _ index: Int) {
        for (number, uuid) in app.serviceUUIDs.enumerated() where !clear.contains(uuid) {
            let list = lists.firstIndex { $0.width == uuid.width }
            let needed = uuid.width.byteCount + (list == nil ? 2 : 0)
            guard needed <= room else {
                if let list { lists[list].isCut = true }
                overflow.insert(uuid)
                omit(
                    index, "serviceUUIDs[\(number)]",
                    """
                    it does not fit, so it is in the overflow area, where only iOS devices that scan for it \
                    find it
                    """
                )
                continue
            }
            if let list {
                lists[list].uuids.append(uuid)
            } else {
                lists.append(List(width: uuid.width, uuids: [uuid]))
            }
            clear.insert(uuid)
        }
    }

    mutating func closeLists() {
        data += lists.map { list in
            ADStructure(
                type: .serviceUUIDs(list.width, isComplete: !list.isCut),
                data: list.uuids.flatMap(\.littleEndianBytes))
        }
    }

    /// Adds the first app's name after the UUIDs, or to the scan response if more of it fits there.
    mutating func takeName(_ app: AppAdvertisement, _ index: Int) {
        guard let text = app.localName, !text.isEmpty else { return }
        if let name {
            // Two apps with the same name share the advertised one.
            guard name.type != .completeLocalName || name.data != Array(text.utf8) else { return }
            return omit(index, "localName", "a phone advertises one name, and this is another app's")
        }
        let whole = Array(text.utf8)
        let roomHere = ExactAdvertisement.legacyCapacity - data.byteCount - 2
        let roomThere = PhoneAdvertising.scanResponseNameCapacity - 2
        isNameInScanResponse = whole.count > roomHere && roomThere > roomHere
        let cut = text.prefix(utf8: max(roomHere, roomThere))
        guard cut.utf8.count < whole.count else {
            name = ADStructure(type: .completeLocalName, data: whole)
            return
        }
        guard !cut.isEmpty else {
            return omit(index, "localName", "not even its first character fits")
        }
        name = ADStructure(type: .shortenedLocalName, data: Array(cut.utf8))
        omit(
            index, "localName",
            "it is shortened to \"\(cut)\": \(whole.count) bytes do not fit into \(max(roomHere, roomThere))")
    }

    /// Adds a background app: its name is left out, and every UUID is in the overflow area.
    mutating func takeHidden(_ app: AppAdvertisement, _ index: Int) {
        if let text = app.localName, !text.isEmpty {
            omit(index, "localName", "an app in the background advertises no name")
        }
        if app.serviceUUIDs.isEmpty {
            omit(index, "serviceUUIDs", "without service UUIDs, an app does not advertise in the background")
        }
        for (number, uuid) in app.serviceUUIDs.enumerated() {
            overflow.insert(uuid)
            // The UUID may be in a list, because an app in the foreground advertises it too.
            guard !clear.contains(uuid) else { continue }
            omit(
                index, "serviceUUIDs[\(number)]",
                """
                in the background it is in the overflow area, where only iOS devices that scan for it find it
                """
            )
        }
    }

    /// The composed bytes, or `nil` if there is nothing to advertise.
    ///
    /// In the background, nothing is advertised unless the overflow area has a UUID.
    func bytes(isForeground: Bool, placement: OverflowPlacement) -> ExactAdvertisement? {
        var bytes = ExactAdvertisement(data: data, scanResponse: [])
        guard isForeground else {
            guard !overflow.isEmpty else { return nil }
            switch placement {
            case .advertisingData: bytes.data.append(overflow.structure)
            case .scanResponse: bytes.scanResponse.append(overflow.structure)
            }
            return bytes
        }
        if let name {
            if isNameInScanResponse { bytes.scanResponse.append(name) } else { bytes.data.append(name) }
        }
        // Captures of iOS 7 and of iOS 13 have the overflow area in the scan response: with a 128-bit UUID,
        // it fits nowhere else.
        if !overflow.isEmpty { bytes.scanResponse.append(overflow.structure) }
        return bytes
    }

    /// Records, for the app at an index, that the phone's Nearby Info is left out while an app is in the
    /// foreground.
    mutating func omitNearbyInfo(_ index: Int) {
        omit(
            index, "phone.nearbyInfo",
            "assumed: no capture has it while an app advertises in the foreground")
    }

    private mutating func omit(_ index: Int, _ item: String, _ reason: String) {
        omitted[index].append(.init(item: item, reason: reason))
    }
}
