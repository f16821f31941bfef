import MynahCore
import MynahSupport

extension VirtualController {
    /// How a command is answered.
    enum Answer {
        /// It went so, and brought this.
        case now(HCIStatus, [UInt8] = [])
        /// Of one that takes longer: whether it was begun.
        case begun(HCIStatus)

        static let done = Answer.now(.success)
        static let disallowed = Answer.now(.commandDisallowed)
    }

    /// Answers a command; parameters are nil where the packet's lengths disagree.
    mutating func command(_ opcode: HCIOpcode, _ parameters: [UInt8]?) {
        guard let row = CommandRow.all[opcode], isKnown(row) else {
            return status(opcode, .unknownCommand)
        }
        guard let parameters, row.length.map({ $0 == parameters.count }) ?? true else {
            return answer(row, .now(.invalidCommandParameters))
        }
        if let wanted = styleWanted(opcode) {
            guard style ?? wanted == wanted else { return answer(row, .disallowed) }
            style = wanted
        }
        // The answer comes before whatever follows from the command.
        let place = outputs.count
        var reader = ByteReader(parameters)
        let found = perform(opcode, &reader) ?? .now(.invalidCommandParameters)
        let behind = Array(outputs[place...])
        outputs.removeSubrange(place...)
        answer(row, found)
        outputs += behind
    }

    private func styleWanted(_ opcode: HCIOpcode) -> Style? {
        if HCIOpcode.legacyStyle.contains(opcode) { return .legacy }
        return HCIOpcode.extendedStyle.contains(opcode) ? .extended : nil
    }

    func isKnown(_ row: CommandRow) -> Bool {
        switch row.need {
        case .nothing: true
        case .extended: configuration.isExtended
        case .cipher: configuration.cipher != nil
        }
    }

    private mutating func answer(_ row: CommandRow, _ answer: Answer) {
        switch answer {
        case .begun(let code): status(row.opcode, code)
        case .now(let code, _) where row.isLong: status(row.opcode, code)
        case .now(let code, let values):
            tell(
                HCIEvent.commandComplete,
                [1, UInt8(row.opcode.rawValue & 0xFF), UInt8(row.opcode.rawValue >> 8), code.code] + values)
        }
    }

    private mutating func status(_ opcode: HCIOpcode, _ code: HCIStatus) {
        tell(
            HCIEvent.commandStatus,
            [code.code, 1, UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8)])
    }

    /// Does what a command asks; nil: its parameters cannot be.
    private mutating func perform(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Answer? {
        if let answer = performGeneral(opcode, &reader) { return answer }
        switch opcode {
        case .leSetAdvertisingParameters: return setAdvertisingParameters(&reader)
        case .leSetAdvertisingData: return setLegacyData(&reader, isResponse: false)
        case .leSetScanResponseData: return setLegacyData(&reader, isResponse: true)
        case .leSetAdvertisingEnable: return enableAdvertising(&reader)
        case .leSetAdvertisingSetRandomAddress: return setRandomAddressOfSet(&reader)
        case .leSetExtendedAdvertisingParameters: return setExtendedParameters(&reader)
        case .leSetExtendedAdvertisingData: return setExtendedData(&reader, isResponse: false)
        case .leSetExtendedScanResponseData: return setExtendedData(&reader, isResponse: true)
        case .leSetExtendedAdvertisingEnable: return enableSets(&reader)
        case .leRemoveAdvertisingSet: return removeSet(&reader)
        case .leClearAdvertisingSets: return clearSets()
        case .leSetScanParameters: return setScanParameters(&reader)
        case .leSetScanEnable: return enableScan(&reader)
        case .leSetExtendedScanParameters: return setExtendedScanParameters(&reader)
        case .leSetExtendedScanEnable: return enableExtendedScan(&reader)
        case .leCreateConnection: return createConnection(&reader)
        case .leExtendedCreateConnection: return createExtendedConnection(&reader)
        case .leCreateConnectionCancel: return cancelConnection()
        case .leAddDeviceToFilterAcceptList: return changeAcceptList(&reader, adds: true)
        case .leRemoveDeviceFromFilterAcceptList: return changeAcceptList(&reader, adds: false)
        case .leClearFilterAcceptList: return clearAcceptList()
        default: return performOfLink(opcode, &reader) ?? performOfResolving(opcode, &reader)
        }
    }

    // MARK: - Filter accept list (7.8.14 to 7.8.17)

    private var usesAcceptList: Bool {
        scan.isOn && scan.parameters.policy & 1 == 1 || initiation?.peer == nil && initiation != nil
            || sets.values.contains { $0.isOn && $0.parameters.policy != 0 }
    }

    private mutating func changeAcceptList(_ reader: inout ByteReader, adds: Bool) -> Answer? {
        guard let kind = reader.readUInt8(), kind <= 1 || kind == 0xFF,
            let address = reader.readAddress(kind: kind)
        else { return nil }
        guard !usesAcceptList else { return .disallowed }
        // 0xFF means those without an address, whom nobody plays here.
        guard kind <= 1 else { return .done }
        if adds {
            guard !acceptList.contains(address) else { return .done }
            guard acceptList.count < configuration.listLength else { return .now(.memoryCapacityExceeded) }
            acceptList.append(address)
        } else {
            acceptList.removeAll { $0 == address }
        }
        return .done
    }

    private mutating func clearAcceptList() -> Answer {
        guard !usesAcceptList else { return .disallowed }
        acceptList = []
        return .done
    }
}
