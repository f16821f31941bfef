/// The names of a controller's error codes (Core Specification, Vol 1, Part F, 1.3).
package enum ControllerErrorNames {
    /// The name of a code, as in `connectionTimeout`, or `nil` if the code is not assigned.
    package static func name(of code: UInt8) -> String? { names[code] }

    private static let names: [UInt8: String] = [
        0x01: "unknownHCICommand", 0x02: "unknownConnectionIdentifier", 0x03: "hardwareFailure",
        0x04: "pageTimeout", 0x05: "authenticationFailure", 0x06: "pinOrKeyMissing",
        0x07: "memoryCapacityExceeded", 0x08: "connectionTimeout", 0x09: "connectionLimitExceeded",
        0x0A: "synchronousConnectionLimitExceeded", 0x0B: "connectionAlreadyExists",
        0x0C: "commandDisallowed", 0x0D: "connectionRejectedLimitedResources",
        0x0E: "connectionRejectedSecurityReasons", 0x0F: "connectionRejectedUnacceptableAddress",
        0x10: "connectionAcceptTimeoutExceeded", 0x11: "unsupportedFeatureOrParameterValue",
        0x12: "invalidHCICommandParameters", 0x13: "remoteUserTerminatedConnection",
        0x14: "remoteDeviceTerminatedLowResources", 0x15: "remoteDeviceTerminatedPowerOff",
        0x16: "connectionTerminatedByLocalHost", 0x17: "repeatedAttempts", 0x18: "pairingNotAllowed",
        0x19: "unknownLMPPDU", 0x1A: "unsupportedRemoteFeature", 0x1B: "scoOffsetRejected",
        0x1C: "scoIntervalRejected", 0x1D: "scoAirModeRejected", 0x1E: "invalidLLParameters",
        0x1F: "unspecifiedError", 0x20: "unsupportedLLParameterValue", 0x21: "roleChangeNotAllowed",
        0x22: "llResponseTimeout", 0x23: "llProcedureCollision", 0x24: "lmpPDUNotAllowed",
        0x25: "encryptionModeNotAcceptable", 0x26: "linkKeyCannotBeChanged",
        0x27: "requestedQoSNotSupported", 0x28: "instantPassed", 0x29: "pairingWithUnitKeyNotSupported",
        0x2A: "differentTransactionCollision", 0x2C: "qosUnacceptableParameter", 0x2D: "qosRejected",
        0x2E: "channelClassificationNotSupported", 0x2F: "insufficientSecurity",
        0x30: "parameterOutOfMandatoryRange", 0x32: "roleSwitchPending", 0x34: "reservedSlotViolation",
        0x35: "roleSwitchFailed", 0x36: "extendedInquiryResponseTooLarge",
        0x37: "secureSimplePairingNotSupportedByHost", 0x38: "hostBusyPairing",
        0x39: "connectionRejectedNoSuitableChannel", 0x3A: "controllerBusy",
        0x3B: "unacceptableConnectionParameters", 0x3C: "advertisingTimeout",
        0x3D: "connectionTerminatedMICFailure", 0x3E: "connectionFailedToBeEstablished",
        0x40: "coarseClockAdjustmentRejected", 0x41: "type0SubmapNotDefined",
        0x42: "unknownAdvertisingIdentifier", 0x43: "limitReached", 0x44: "operationCancelledByHost",
        0x45: "packetTooLong", 0x46: "tooLate", 0x47: "tooEarly", 0x48: "insufficientChannels",
    ]
}
