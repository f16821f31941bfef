import MynahCore

extension KnownLayouts {
    // Cycling, running and fitness machines.
    static func fitness(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A53:
            [
                bits(
                    1, announces("instantaneousStrideLength"), announces("totalDistance"), .boolean("running")
                ),
                field("instantaneousSpeed", uint16, "m/s", by: Resolution(1, 256)),
                field("instantaneousCadence", uint8, "rpm"),
                field("instantaneousStrideLength", uint16, "m", by: hundredths),
                field("totalDistance", uint32, "m", by: tenths),
            ]
        case 0x2A54:
            booleans(
                2, "instantaneousStrideLength", "totalDistance", "walkingOrRunningStatus",
                "calibrationProcedure",
                "multipleSensorLocations")
        case 0x2A55:
            [
                field("opcode", uint8), field("cumulativeValue", uint32, when: .init("opcode", .equal, 1)),
                field("sensorLocation", uint8, when: .init("opcode", .equal, 3)),
                field("requestOpcode", uint8, when: .init("opcode", .equal, 16)),
                field("responseValue", uint8, when: .init("opcode", .equal, 16)),
                field("supportedLocations", .bytes, count: .rest, when: .init("opcode", .equal, 16)),
            ]
        case 0x2A5B:
            [
                bits(
                    1, announces("cumulativeWheelRevolutions", "lastWheelEventTime"),
                    announces("cumulativeCrankRevolutions", "lastCrankEventTime")),
                field("cumulativeWheelRevolutions", uint32),
                field("lastWheelEventTime", uint16, "s", by: Resolution(1, 1024)),
                field("cumulativeCrankRevolutions", uint16),
                field("lastCrankEventTime", uint16, "s", by: Resolution(1, 1024)),
            ]
        case 0x2A5C: booleans(2, "wheelRevolutionData", "crankRevolutionData", "multipleSensorLocations")
        case 0x2A5D:
            [
                choice(
                    "sensorLocation", "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank",
                    "right crank", "left pedal", "right pedal", "front hub", "rear dropout", "chainstay",
                    "rear wheel", "rear hub", "chest", "spider", "chain ring")
            ]
        case 0x2A63: cyclingPower
        case 0x2A65:
            booleans(
                4, "pedalPowerBalance", "accumulatedTorque", "wheelRevolutionData", "crankRevolutionData",
                "extremeMagnitudes", "extremeAngles", "topAndBottomDeadSpotAngles", "accumulatedEnergy",
                "offsetCompensationIndicator", "offsetCompensation", "contentMasking",
                "multipleSensorLocations",
                "crankLengthAdjustment", "chainLengthAdjustment", "chainWeightAdjustment",
                "spanLengthAdjustment",
                "sensorMeasurementContext", "instantaneousMeasurementDirection", "factoryCalibrationDate",
                "enhancedOffsetCompensation")
        case 0x2ACC, 0x2ACD, 0x2AD1...0x2ADA: machine(number)
        default: nil
        }
    }

    private static var cyclingPower: Entries {
        [
            bits(
                2, announces("pedalPowerBalance"), .boolean("pedalPowerBalanceIsOfLeft"),
                announces("accumulatedTorque"), .boolean("accumulatedTorqueIsOfCrank"),
                announces("cumulativeWheelRevolutions", "lastWheelEventTime"),
                announces("cumulativeCrankRevolutions", "lastCrankEventTime"),
                announces("maximumForceMagnitude", "minimumForceMagnitude"),
                announces("maximumTorqueMagnitude", "minimumTorqueMagnitude"), announces("extremeAngles"),
                announces("topDeadSpotAngle"), announces("bottomDeadSpotAngle"),
                announces("accumulatedEnergy"),
                .boolean("offsetCompensation")),
            field("instantaneousPower", sint16, "W"),
            field("pedalPowerBalance", uint8, "%", by: Resolution(1, 2)),
            field("accumulatedTorque", uint16, "Nm", by: Resolution(1, 32)),
            field("cumulativeWheelRevolutions", uint32),
            field("lastWheelEventTime", uint16, "s", by: Resolution(1, 2048)),
            field("cumulativeCrankRevolutions", uint16),
            field("lastCrankEventTime", uint16, "s", by: Resolution(1, 1024)),
            field("maximumForceMagnitude", sint16, "N"), field("minimumForceMagnitude", sint16, "N"),
            field("maximumTorqueMagnitude", sint16, "Nm", by: Resolution(1, 32)),
            field("minimumTorqueMagnitude", sint16, "Nm", by: Resolution(1, 32)),
            bits("extremeAngles", 3, .number("maximumAngle", width: 12), .number("minimumAngle", width: 12)),
            field("topDeadSpotAngle", uint16, "°"), field("bottomDeadSpotAngle", uint16, "°"),
            field("accumulatedEnergy", uint16, "kJ"),
        ]
    }

    // MARK: - Fitness machines

    private static func machine(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2ACC: [field("machineFeatures", uint32), field("targetSettingFeatures", uint32)]
        case 0x2ACD: treadmill
        case 0x2AD1: rower
        case 0x2AD2: indoorBike
        case 0x2AD3:
            [
                bits(1, announces("text"), .boolean("extendedText")),
                choice(
                    "status", "other", "idle", "warming up", "low intensity interval",
                    "high intensity interval",
                    "recovery interval", "isometric", "heart rate control", "fitness test",
                    "speed below the control region", "speed above the control region", "cool down",
                    "watt control",
                    "manual mode", "pre-workout", "post-workout"), field("text", .utf8, count: .rest),
            ]
        case 0x2AD4: range("Speed", uint16, "km/h", by: hundredths)
        case 0x2AD5: range("Inclination", sint16, "%", by: tenths)
        case 0x2AD6: range("ResistanceLevel", sint16, nil, by: tenths)
        case 0x2AD7: range("HeartRate", uint8, "bpm")
        case 0x2AD8: range("Power", sint16, "W")
        case 0x2AD9: controlPoint
        case 0x2ADA: status
        default: nil
        }
    }

    /// Returns the fields of a supported range, such as that of the target speed.
    ///
    /// The range of the resistance level has 16-bit numbers, in tenths, as in Fitness Machine Service 1.0.
    /// The SIG's later files have 8-bit numbers, but no trainer sends them.
    private static func range(
        _ name: String, _ kind: Kind, _ unit: String?, by resolution: Resolution = .one
    ) -> Entries {
        let increment = kind == sint16 ? uint16 : kind
        return [
            field("minimum\(name)", kind, unit, by: resolution),
            field("maximum\(name)", kind, unit, by: resolution),
            field("minimumIncrement", increment, unit, by: resolution),
        ]
    }

    private static var energy: Entries {
        [
            field("totalEnergy", uint16, "kcal"), field("energyPerHour", uint16, "kcal"),
            field("energyPerMinute", uint8, "kcal"), field("heartRate", uint8, "bpm"),
            field("metabolicEquivalent", uint8, by: tenths), field("elapsedTime", uint16, "s"),
            field("remainingTime", uint16, "s"),
        ]
    }

    /// Makes the More Data bit; the fields with these names are present if it is 0.
    private static func withoutMoreData(_ names: String...) -> LayoutBit {
        .announces(names, isInverted: true)
    }

    private static var indoorBike: Entries {
        [
            bits(
                2, withoutMoreData("instantaneousSpeed"), announces("averageSpeed"),
                announces("instantaneousCadence"), announces("averageCadence"), announces("totalDistance"),
                announces("resistanceLevel"), announces("instantaneousPower"), announces("averagePower"),
                announces("totalEnergy", "energyPerHour", "energyPerMinute"), announces("heartRate"),
                announces("metabolicEquivalent"), announces("elapsedTime"), announces("remainingTime")),
            field("instantaneousSpeed", uint16, "km/h", by: hundredths),
            field("averageSpeed", uint16, "km/h", by: hundredths),
            field("instantaneousCadence", uint16, "rpm", by: Resolution(1, 2)),
            field("averageCadence", uint16, "rpm", by: Resolution(1, 2)), field("totalDistance", uint24, "m"),
            field("resistanceLevel", sint16), field("instantaneousPower", sint16, "W"),
            field("averagePower", sint16, "W"),
        ] + energy
    }

    private static var treadmill: Entries {
        [
            bits(
                2, withoutMoreData("instantaneousSpeed"), announces("averageSpeed"),
                announces("totalDistance"),
                announces("inclination", "rampAngleSetting"),
                announces("positiveElevationGain", "negativeElevationGain"), announces("instantaneousPace"),
                announces("averagePace"), announces("totalEnergy", "energyPerHour", "energyPerMinute"),
                announces("heartRate"), announces("metabolicEquivalent"), announces("elapsedTime"),
                announces("remainingTime"), announces("forceOnBelt", "powerOutput")),
            field("instantaneousSpeed", uint16, "km/h", by: hundredths),
            field("averageSpeed", uint16, "km/h", by: hundredths), field("totalDistance", uint24, "m"),
            field("inclination", sint16, "%", by: tenths), field("rampAngleSetting", sint16, "°", by: tenths),
            field("positiveElevationGain", uint16, "m", by: tenths),
            field("negativeElevationGain", uint16, "m", by: tenths), field("instantaneousPace", uint16, "s"),
            field("averagePace", uint16, "s"),
        ] + energy + [field("forceOnBelt", sint16, "N"), field("powerOutput", sint16, "W")]
    }

    private static var rower: Entries {
        [
            bits(
                2, withoutMoreData("strokeRate", "strokeCount"), announces("averageStrokeRate"),
                announces("totalDistance"), announces("instantaneousPace"), announces("averagePace"),
                announces("instantaneousPower"), announces("averagePower"), announces("resistanceLevel"),
                announces("totalEnergy", "energyPerHour", "energyPerMinute"), announces("heartRate"),
                announces("metabolicEquivalent"), announces("elapsedTime"), announces("remainingTime")),
            field("strokeRate", uint8, "/min", by: Resolution(1, 2)), field("strokeCount", uint16),
            field("averageStrokeRate", uint8, "/min", by: Resolution(1, 2)),
            field("totalDistance", uint24, "m"),
            field("instantaneousPace", uint16, "s"), field("averagePace", uint16, "s"),
            field("instantaneousPower", sint16, "W"), field("averagePower", sint16, "W"),
            field("resistanceLevel", sint16),
        ] + energy
    }

    /// The layout of the control point (Fitness Machine Service 1.0.1, 4.16.1).
    private static var controlPoint: Entries {
        func with(_ opcode: Double) -> LayoutField.Condition { .init("opcode", .equal, opcode) }
        return [
            field("opcode", uint8), field("targetSpeed", uint16, "km/h", by: hundredths, when: with(2)),
            field("targetInclination", sint16, "%", by: tenths, when: with(3)),
            field("targetResistanceLevel", uint8, by: tenths, when: with(4)),
            field("targetPower", sint16, "W", when: with(5)),
            field("targetHeartRate", uint8, "bpm", when: with(6)),
            choice("control", "", "stop", "pause", when: with(8)),
            field("windSpeed", sint16, "m/s", by: thousandths, when: with(0x11)),
            field("grade", sint16, "%", by: hundredths, when: with(0x11)),
            field("rollingResistance", uint8, by: Resolution(1, 10_000), when: with(0x11)),
            field("windResistance", uint8, "kg/m", by: hundredths, when: with(0x11)),
            field("wheelCircumference", uint16, "mm", by: tenths, when: with(0x12)),
            choice("spinDown", "", "start", "ignore", when: with(0x13)),
            field("targetCadence", uint16, "rpm", by: Resolution(1, 2), when: with(0x14)),
            field("requestOpcode", uint8, when: with(0x80)),
            choice(
                "result", "", "success", "not supported", "invalid parameter", "operation failed",
                "control not permitted", when: with(0x80)),
            field("parameter", .bytes, count: .rest),
        ]
    }

    /// The layout of the status (Fitness Machine Service 1.0.1, 4.17).
    private static var status: Entries {
        func with(_ opcode: Double) -> LayoutField.Condition { .init("opcode", .equal, opcode) }
        return [
            field("opcode", uint8), choice("control", "", "stop", "pause", when: with(2)),
            field("targetSpeed", uint16, "km/h", by: hundredths, when: with(5)),
            field("targetInclination", sint16, "%", by: tenths, when: with(6)),
            field("targetResistanceLevel", uint8, by: tenths, when: with(7)),
            field("targetPower", sint16, "W", when: with(8)),
            field("targetHeartRate", uint8, "bpm", when: with(9)),
            field("windSpeed", sint16, "m/s", by: thousandths, when: with(0x12)),
            field("grade", sint16, "%", by: hundredths, when: with(0x12)),
            field("rollingResistance", uint8, by: Resolution(1, 10_000), when: with(0x12)),
            field("windResistance", uint8, "kg/m", by: hundredths, when: with(0x12)),
            field("wheelCircumference", uint16, "mm", by: tenths, when: with(0x13)),
            choice(
                "spinDownStatus", "", "requested", "success", "error", "stop pedaling", when: with(0x14)),
            field("targetCadence", uint16, "rpm", by: Resolution(1, 2), when: with(0x15)),
            field("parameter", .bytes, count: .rest),
        ]
    }
}
