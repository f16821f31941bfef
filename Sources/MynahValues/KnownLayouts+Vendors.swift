import MynahCore

extension KnownLayouts {
    /// The control point of Nordic's secure DFU, with requests and responses (nRF5 SDK 17.1).
    static var nordicUpdate: Entries {
        func with(_ opcode: Double) -> LayoutField.Condition { .init("opcode", .equal, opcode) }
        return [
            field("opcode", uint8),
            choice("objectType", "", "init packet", "firmware", when: with(1)),
            field("size", uint32, when: with(1)),
            field("packetsPerReceipt", uint16, when: with(2)),
            choice("selectedType", "", "init packet", "firmware", when: with(6)),
            field("requestOpcode", uint8, when: with(0x60)),
            choice(
                "result", "invalid", "success", "not supported", "invalid parameter",
                "insufficient resources", "invalid object", "", "unsupported type",
                "operation not permitted", "", "operation failed", "extended error", when: with(0x60)),
            field("parameter", .bytes, count: .rest),
        ]
    }
}
