extension KnownLayouts {
    // Heart rate, temperature, blood pressure, weight and glucose.
    static func health(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A37:
            [
                bits(
                    1, .widens("heartRate"), .optionalBoolean("contact"), announces("energyExpended"),
                    announces("rrIntervals")),
                field("heartRate", uint8, "bpm", wide: uint16), field("energyExpended", uint16, "kJ"),
                field("rrIntervals", uint16, "s", by: Resolution(1, 1024), count: .rest),
            ]
        case 0x2A38: [choice("location", "other", "chest", "wrist", "finger", "hand", "ear lobe", "foot")]
        case 0x2A39: [choice("command", "", "reset energy expended")]
        case 0x2A1C, 0x2A1E:
            [
                bits(1, .otherUnit(["temperature"]), announces("timestamp"), announces("temperatureType")),
                field("temperature", .medfloat32, "°C", or: .init("°F")), field("timestamp", .dateTime),
                temperatureType,
            ]
        case 0x2A1D: [temperatureType]
        case 0x2A21: [field("measurementInterval", uint16, "s")]
        case 0x2A35: bloodPressure
        case 0x2A49:
            booleans(
                2, "bodyMovementDetection", "cuffFitDetection", "irregularPulseDetection",
                "pulseRateRangeDetection",
                "measurementPositionDetection", "multipleBonds")
        case 0x2A9D:
            [
                bits(
                    1, .otherUnit(["weight", "height"]), announces("timestamp"), announces("userID"),
                    announces("bmi", "height")),
                field("weight", uint16, "kg", by: Resolution(1, 200), or: .init("lb", hundredths)),
                field("timestamp", .dateTime), field("userID", uint8), field("bmi", uint16, by: tenths),
                field("height", uint16, "m", by: thousandths, or: .init("in", tenths)),
            ]
        case 0x2A18, 0x2A34, 0x2A51, 0x2A52: glucose(number)
        case 0x2AA7...0x2AAC: continuousGlucose(number)
        default: nil
        }
    }

    private static var temperatureType: LayoutField {
        choice(
            "temperatureType", "", "armpit", "body", "ear", "finger", "gastrointestinal tract", "mouth",
            "rectum",
            "toe", "tympanum")
    }

    private static var bloodPressure: Entries {
        [
            bits(
                1, .otherUnit(["systolic", "diastolic", "meanArterialPressure"]), announces("timestamp"),
                announces("pulseRate"), announces("userID"), announces("status")),
            field("systolic", .medfloat16, "mmHg", or: .init("kPa")),
            field("diastolic", .medfloat16, "mmHg", or: .init("kPa")),
            field("meanArterialPressure", .medfloat16, "mmHg", or: .init("kPa")),
            field("timestamp", .dateTime),
            field("pulseRate", .medfloat16, "bpm"), field("userID", uint8),
            pressureStatus,
        ]
    }

    static var pressureStatus: LayoutField {
        bits(
            "status", 2, .boolean("bodyMovement"), .boolean("cuffTooLoose"), .boolean("irregularPulse"),
            .enumeration("pulseRateRange", width: 2, names: ["within the range", "above it", "below it"]),
            .boolean("improperPosition"))
    }

    /// The E2E-CRC at the end of a value, which is optional.
    private static var e2eCRC: LayoutField { field("e2eCRC", uint16, count: .rest) }

    private static var monitorStatus: LayoutField {
        bits(
            "status", 1, .boolean("sessionStopped"), .boolean("deviceBatteryLow"),
            .boolean("sensorTypeIncorrect"), .boolean("sensorMalfunction"), .boolean("deviceSpecificAlert"),
            .boolean("generalDeviceFault"))
    }

    private static var monitorCalibration: LayoutField {
        bits(
            "calibrationAndTemperature", 1, .boolean("timeSynchronizationRequired"),
            .boolean("calibrationNotAllowed"), .boolean("calibrationRecommended"),
            .boolean("calibrationRequired"), .boolean("sensorTemperatureTooHigh"),
            .boolean("sensorTemperatureTooLow"))
    }

    private static var monitorWarning: LayoutField {
        bits(
            "warning", 1, .boolean("lowerThanPatientLow"), .boolean("higherThanPatientHigh"),
            .boolean("lowerThanHypo"), .boolean("higherThanHyper"), .boolean("rateOfDecreaseExceeded"),
            .boolean("rateOfIncreaseExceeded"), .boolean("lowerThanDevice"), .boolean("higherThanDevice"))
    }

    private static func continuousGlucose(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2AA7:
            [
                field("size", uint8),
                bits(
                    1, announces("trend"), announces("quality"), .reserved(3), announces("warning"),
                    announces("calibrationAndTemperature"), announces("status")),
                field("concentration", .medfloat16, "mg/dL"), field("timeOffset", uint16, "min"),
                monitorStatus, monitorCalibration, monitorWarning,
                field("trend", .medfloat16, "mg/dL/min"), field("quality", .medfloat16, "%"), e2eCRC,
            ]
        case 0x2AA8:
            [
                bits(
                    3, .boolean("calibration"), .boolean("patientHighLowAlerts"), .boolean("hypoAlerts"),
                    .boolean("hyperAlerts"), .boolean("rateAlerts"), .boolean("deviceSpecificAlert"),
                    .boolean("sensorMalfunctionDetection"), .boolean("sensorTemperatureDetection"),
                    .boolean("sensorResultDetection"), .boolean("lowBatteryDetection"),
                    .boolean("sensorTypeErrorDetection"), .boolean("generalDeviceFault"),
                    .boolean("e2eCRCSupport"), .boolean("multipleBonds"), .boolean("multipleSessions"),
                    .boolean("trendInformation"), .boolean("qualityInformation")),
                bits(
                    "typeAndLocation", 1,
                    .enumeration(
                        "type", width: 4,
                        names: [
                            "", "capillary whole blood", "capillary plasma", "venous whole blood",
                            "venous plasma", "arterial whole blood", "arterial plasma",
                            "undetermined whole blood", "undetermined plasma", "interstitial fluid",
                            "control solution",
                        ]),
                    .enumeration(
                        "sampleLocation", width: 4,
                        names: [
                            "", "finger", "alternate site", "ear lobe", "control solution",
                            "subcutaneous tissue",
                        ])),
                e2eCRC,
            ]
        case 0x2AA9:
            [field("timeOffset", uint16, "min"), monitorStatus, monitorCalibration, monitorWarning, e2eCRC]
        case 0x2AAA:
            [
                field("sessionStartTime", .dateTime), field("timeZone", sint8, "min", by: Resolution(15)),
                field("dstOffset", uint8, "min", by: Resolution(15)), e2eCRC,
            ]
        case 0x2AAB: [field("sessionRunTime", uint16, "h"), e2eCRC]
        case 0x2AAC: [field("opcode", uint8), field("operand", .bytes, count: .rest)]
        default: nil
        }
    }

    private static func glucose(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A18:
            [
                bits(
                    1, announces("timeOffset"), announces("concentration", "typeAndLocation"),
                    .otherUnit(["concentration"]), announces("sensorStatus"), .boolean("contextFollows")),
                field("sequenceNumber", uint16), field("baseTime", .dateTime),
                field("timeOffset", sint16, "min"),
                // The value is sent in moles a litre, but people read millimoles.
                field("concentration", .medfloat16, "kg/L", or: .init("mmol/L", Resolution(1000))),
                bits(
                    "typeAndLocation", 1,
                    .enumeration(
                        "type", width: 4,
                        names: [
                            "", "capillary whole blood", "capillary plasma", "venous whole blood",
                            "venous plasma",
                            "arterial whole blood", "arterial plasma", "undetermined whole blood",
                            "undetermined plasma", "interstitial fluid", "control solution",
                        ]),
                    .enumeration(
                        "sampleLocation", width: 4,
                        names: ["", "finger", "alternate site", "ear lobe", "control solution"])),
                field("sensorStatus", uint16),
            ]
        case 0x2A34:
            [
                bits(
                    1, announces("carbohydrateID", "carbohydrate"), announces("meal"),
                    announces("testerAndHealth"),
                    announces("exerciseDuration", "exerciseIntensity"),
                    announces("medicationID", "medication"),
                    .otherUnit(["medication"]), announces("hba1c"), announces("extendedFlags")),
                field("sequenceNumber", uint16), field("extendedFlags", uint8),
                choice(
                    "carbohydrateID", "", "breakfast", "lunch", "dinner", "snack", "drink", "supper", "brunch"
                ),
                field("carbohydrate", .medfloat16, "g", by: Resolution(1000)),
                choice("meal", "", "preprandial", "postprandial", "fasting", "casual", "bedtime"),
                bits(
                    "testerAndHealth", 1,
                    .enumeration(
                        "tester", width: 4, names: ["", "self", "health care professional", "lab test"]),
                    .enumeration(
                        "health", width: 4,
                        names: [
                            "", "minor health issues", "major health issues", "during menses", "under stress",
                            "no issues",
                        ]
                    )),
                field("exerciseDuration", uint16, "s"), field("exerciseIntensity", uint8, "%"),
                choice(
                    "medicationID", "", "rapid acting insulin", "short acting insulin",
                    "intermediate acting insulin",
                    "long acting insulin", "premixed insulin"),
                field(
                    "medication", .medfloat16, "mg", by: Resolution(1_000_000),
                    or: .init("mL", Resolution(1000))),
                field("hba1c", .medfloat16, "%"),
            ]
        case 0x2A51:
            booleans(
                2, "lowBatteryDetection", "sensorMalfunctionDetection", "sensorSampleSize",
                "sensorStripInsertionErrorDetection", "sensorStripTypeErrorDetection",
                "sensorResultHighLowDetection",
                "sensorTemperatureHighLowDetection", "sensorReadInterruptDetection", "generalDeviceFault",
                "timeFault",
                "multipleBonds")
        case 0x2A52:
            [
                choice(
                    "opcode", "", "report stored records", "delete stored records", "abort operation",
                    "report number of stored records", "number of stored records response", "response code"),
                choice(
                    "operator", "null", "all records", "less than or equal to", "greater than or equal to",
                    "within range of", "first record", "last record"), field("operand", .bytes, count: .rest),
            ]
        default: nil
        }
    }
}
