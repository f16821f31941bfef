public import MynahCore

extension RadioError {
    /// The CBError.Code that an iOS app would get for this error, as its raw value.
    ///
    /// Apple does not document which controller error leads to which code. The codes for a timeout and for a
    /// disconnection by the peer are known; the others are assumptions.
    public var coreBluetoothCode: Int {
        switch (reason, code) {
        // Connection Timeout and LL Response Timeout (Core Specification, Vol 1, Part F, 1.3):
        // connectionTimeout.
        case (0x08, _), (0x22, _), (nil, .timedOut): 6
        // Remote User, Low Resources, Power Off: peripheralDisconnected.
        case (0x13, _), (0x14, _), (0x15, _), (nil, .disconnected): 7
        // Connection Failed to be Established: connectionFailed.
        case (0x3E, _): 10
        // Connection Limit Exceeded, Limited Resources: connectionLimitReached.
        case (0x09, _), (0x0D, _): 11
        // PIN or Key Missing: peerRemovedPairingInformation.
        case (0x06, _): 14
        // uuidNotAllowed.
        case (nil, .uuidNotAllowed): 8
        // operationNotSupported.
        case (nil, .unsupported): 13
        default: 0
        }
    }
}
