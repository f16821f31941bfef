import MynahCore

/// What a controller advertises under one handle; legacy commands have one set, of handle 0.
struct AdvertisingSet: Sendable {
    struct Parameters: Sendable {
        var properties: AirAdvertisement.Properties = [.connectable, .scannable, .legacy]
        /// Between two events, in microseconds.
        var interval: Int64 = 1_280_000
        /// Directed, every 3.75 ms at most, and no longer than 1.28 s (Core Specification, Vol 6, Part B, 4.4.2.4.3).
        var isHighDuty = false
        var ownKind: UInt8 = 0
        var peer: DeviceAddress?
        var policy: UInt8 = 0
        var identifier: UInt8?
        var secondaryPHY: UInt8 = 0
        var power: Int8 = 0
        var tellsScanRequests = false
    }

    var parameters = Parameters()
    var randomAddress: DeviceAddress?
    var data: [UInt8] = []
    var response: [UInt8] = []
    /// Data that comes in pieces.
    var partialData: [UInt8]?
    var partialResponse: [UInt8]?

    var isOn = false
    /// Its address on the air, while it is on.
    var onAir: DeviceAddress?
    var next: AirTime?
    /// When it stops by itself.
    var end: AirTime?
    var eventLimit: Int?
    var events = 0

    mutating func stop() {
        isOn = false
        onAir = nil
        next = nil
        end = nil
    }
}
