extension KnownLayouts {
    // Pulse oximeters, cuffs, scales and what they are made of.
    static func body(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A36:
            [
                bits(
                    1, .otherUnit(["currentCuffPressure"]), announces("timestamp"), announces("pulseRate"),
                    announces("userID"), announces("status")),
                field("currentCuffPressure", .medfloat16, "mmHg", or: .init("kPa")),
                // These two fields are not used, and are NaN.
                field("diastolic", .medfloat16), field("meanArterialPressure", .medfloat16),
                field("timestamp", .dateTime), field("pulseRate", .medfloat16, "bpm"),
                field("userID", uint8), pressureStatus,
            ]
        case 0x2A5E:
            [
                bits(
                    1, announces("timestamp"), announces("measurementStatus"),
                    announces("deviceAndSensorStatus"), announces("pulseAmplitudeIndex"),
                    .boolean("clockNotSet")),
                field("spO2", .medfloat16, "%"), field("pulseRate", .medfloat16, "bpm"),
                field("timestamp", .dateTime),
            ] + oximeterStatus
        case 0x2A5F:
            [
                bits(
                    1, announces("spO2Fast", "pulseRateFast"), announces("spO2Slow", "pulseRateSlow"),
                    announces("measurementStatus"), announces("deviceAndSensorStatus"),
                    announces("pulseAmplitudeIndex")),
                field("spO2", .medfloat16, "%"), field("pulseRate", .medfloat16, "bpm"),
                field("spO2Fast", .medfloat16, "%"), field("pulseRateFast", .medfloat16, "bpm"),
                field("spO2Slow", .medfloat16, "%"), field("pulseRateSlow", .medfloat16, "bpm"),
            ] + oximeterStatus
        case 0x2A60:
            [
                bits(
                    2, announces("measurementStatusSupport"), announces("deviceAndSensorStatusSupport"),
                    .boolean("spotCheckStorage"), .boolean("spotCheckTimestamp"), .boolean("fastMeasurement"),
                    .boolean("slowMeasurement"), .boolean("pulseAmplitudeIndex"), .boolean("multipleBonds")),
                field("measurementStatusSupport", uint16), field("deviceAndSensorStatusSupport", uint24),
            ]
        case 0x2A9B:
            [
                bits(
                    4, .boolean("timestamp"), .boolean("multipleUsers"), .boolean("basalMetabolism"),
                    .boolean("musclePercentage"), .boolean("muscleMass"), .boolean("fatFreeMass"),
                    .boolean("softLeanMass"), .boolean("bodyWaterMass"), .boolean("impedance"),
                    .boolean("weight"), .boolean("height"), .number("massResolution", width: 4),
                    .number("heightResolution", width: 3))
            ]
        case 0x2A9C: bodyComposition
        case 0x2A9E:
            [
                bits(
                    4, .boolean("timestamp"), .boolean("multipleUsers"), .boolean("bmi"),
                    .number("weightResolution", width: 4), .number("heightResolution", width: 3))
            ]
        default: nil
        }
    }

    private static var oximeterStatus: Entries {
        [
            field("measurementStatus", uint16), field("deviceAndSensorStatus", uint24),
            field("pulseAmplitudeIndex", .medfloat16, "%"),
        ]
    }

    private static var bodyComposition: Entries {
        [
            bits(
                2,
                .otherUnit([
                    "muscleMass", "fatFreeMass", "softLeanMass", "bodyWaterMass", "weight", "height",
                ]), announces("timestamp"), announces("userID"), announces("basalMetabolism"),
                announces("musclePercentage"), announces("muscleMass"), announces("fatFreeMass"),
                announces("softLeanMass"), announces("bodyWaterMass"), announces("impedance"),
                announces("weight"), announces("height"), .boolean("multiplePacketMeasurement")),
            field("bodyFatPercentage", uint16, "%", by: tenths), field("timestamp", .dateTime),
            field("userID", uint8), field("basalMetabolism", uint16, "kJ"),
            field("musclePercentage", uint16, "%", by: tenths), mass("muscleMass"), mass("fatFreeMass"),
            mass("softLeanMass"), mass("bodyWaterMass"), field("impedance", uint16, "Ω", by: tenths),
            mass("weight"), field("height", uint16, "m", by: thousandths, or: .init("in", tenths)),
        ]
    }

    private static func mass(_ name: String) -> LayoutField {
        field(name, uint16, "kg", by: Resolution(1, 200), or: .init("lb", hundredths))
    }
}
