package import MynahCore
package import MynahHCI

/// Joins the fragments of extended advertising reports (Core Specification, Vol 4, Part E, 7.7.65.13).
package struct ReportAssembler: Sendable {
    private struct Key: Hashable {
        var address: DeviceAddress
        var set: UInt8?
        var isResponse: Bool
    }

    private var pieces: [Key: [UInt8]] = [:]

    /// Makes an assembler without fragments.
    package init() {}

    /// The maximum length of advertising data in bytes (7.8.57).
    static let limit = 1650
    /// The largest number of senders with incomplete reports.
    ///
    /// A further sender makes the assembler drop all incomplete reports, some of which may never be
    /// completed.
    static let senderLimit = 64

    /// The number of senders with incomplete reports.
    var count: Int { pieces.count }

    /// Adds a fragment; returns the scan report that is now complete, or `nil` if more data must follow.
    package mutating func add(_ report: LEAdvertisingReport) -> ScanReport? {
        let key = Key(address: report.address, set: report.set, isResponse: report.kind == .scanResponse)
        let data = (pieces.removeValue(forKey: key) ?? []) + report.data
        if report.progress == .more, data.count < Self.limit {
            if pieces.count >= Self.senderLimit { pieces = [:] }
            pieces[key] = data
            return nil
        }
        var whole = ScanReport(
            address: report.address, kind: Self.kind(of: report.kind), data: Array(data.prefix(Self.limit)),
            rssi: report.rssi, isExtended: report.isExtended)
        (whole.set, whole.primaryPHY, whole.secondaryPHY) = (
            report.set, report.primaryPHY, report.secondaryPHY
        )
        whole.periodicInterval = report.periodicInterval.map { .microseconds(Int64($0) * 1250) }
        return whole
    }

    private static func kind(of kind: LEAdvertisingReport.Kind) -> ScanReport.Kind {
        switch kind {
        case .connectable: .connectable
        case .directed: .directed
        case .scannable: .scannable
        case .nonConnectable: .nonConnectable
        case .scanResponse: .scanResponse
        }
    }
}
