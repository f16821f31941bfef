import MynahCore

/// What each device around advertises, without I/O: its advertising and its scan response are put together.
struct DiscoveryTable: Sendable {
    /// One device.
    private struct Entry: Sendable {
        var data: [UInt8] = []
        var response: [UInt8] = []
        var kind = ScanReport.Kind.nonConnectable
        var number: UInt64 = 0
    }

    /// What is reported of a device that was heard.
    struct Found: Sendable {
        var advertisement: AdvertisementData
        var data: [UInt8]
        var scanResponse: [UInt8]
        var isConnectable: Bool
    }

    private var entries: [DeviceAddress: Entry] = [:]
    private var count: UInt64 = 0

    /// How many devices are remembered; the half that was heard longest ago is forgotten past it.
    static let limit = 4096

    /// How many devices are remembered.
    var size: Int { entries.count }

    /// Takes a report; returns `nil` if it is nothing that is looked for.
    mutating func take(_ report: ScanReport, among services: [BluetoothUUID]?) -> Found? {
        count += 1
        var entry = entries[report.address] ?? Entry()
        entry.number = count
        if report.kind == .scanResponse {
            entry.response = report.data
        } else {
            entry.data = report.data
            entry.kind = report.kind
        }
        entries[report.address] = entry
        if entries.count > Self.limit { shrink() }
        var advertisement = AdvertisementData(entry.data)
        // Bumble's controller sends the advertising data once more as a scan response.
        if entry.response != entry.data { advertisement.add(entry.response) }
        if let services, !services.contains(where: { advertisement.mayHave($0) }) { return nil }
        return Found(
            advertisement: advertisement, data: entry.data, scanResponse: entry.response,
            isConnectable: entry.kind == .connectable || entry.kind == .directed)
    }

    private mutating func shrink() {
        let numbers = entries.values.map(\.number).sorted()
        let middle = numbers[numbers.count / 2]
        entries = entries.filter { $0.value.number >= middle }
    }
}
