import MynahSupport

/// A capability that a device needs from its radio, with the location of the declaration that needs it.
///
/// `Location` is a type of the caller, such as a line of a profile or of a program.
package struct RadioRequirement<Location: Sendable>: Sendable {
    /// The capability that the device needs.
    package var need: RadioNeed
    /// The part of the device that needs the capability, for messages, as in `the characteristic 2A39`.
    package var subject: String
    /// The location of the declaration.
    package var location: Location

    package init(_ need: RadioNeed, of subject: String, at location: Location) {
        self.need = need
        self.subject = subject
        self.location = location
    }
}

/// A capability that a device can need and that some radios lack.
package enum RadioNeed: Hashable, Sendable {
    /// Answer a read with this error.
    case readError(ATTError)
    /// Answer a write with this error.
    case writeError(ATTError)
    /// Answer a write with this error.
    ///
    /// A behavior does so if a central writes to its control point without a subscription.
    case behaviorError(ATTError)
    /// Answer write requests with an error on a characteristic that also accepts write commands.
    case refusalBesideCommands
    /// Delay the answer to write requests on a characteristic that also accepts write commands.
    case answersBesideCommands
    /// Answer write requests of more than this number of bytes with 0x0D on a characteristic that also
    /// accepts write commands.
    case lengthLimitBesideCommands(Int)
    /// Accept writes of up to this many bytes.
    case writes(Int)
    /// Accept long writes, in prepared parts, of up to this many bytes.
    case longWrites(Int)
    /// Require security for write commands on a characteristic without write requests.
    case protectedCommands
    /// Ask for the device's consent before a central subscribes.
    case authorizedSubscriptions
    /// Advertise at this interval.
    case advertisingInterval(Duration)
    /// Advertise a UUID in the width in which it is written, even if it has a shorter form.
    case advertisedWidth(BluetoothUUID)
    /// Advertise a company or a service without data after its identifier.
    case emptyAdvertisingData
    /// Advertise the named content, which requires a radio that sends exactly the given bytes.
    case exactAdvertising(String)
    /// Put fields other than the name into the scan response.
    case scanResponseFields
    /// Publish an iPhone's own services in the GATT server.
    case phoneServices
    /// Publish L2CAP channels.
    case channels
    /// Have a GATT server without the characteristic Service Changed.
    case noServiceChanged
    /// Request connection parameters from centrals.
    case connectionParameters
    /// Stop advertising at a certain number of connected centrals.
    case limitedCentrals
    /// Offer a smaller ATT_MTU than the radio's own.
    case limitedMTU
    /// Limit the size of encryption keys.
    case limitedKeySize
    /// Report whether a link that has ended was lost.
    case lostLinks
    /// Send values to centrals that have not subscribed.
    case unaskedValues
    /// Send a value that is too long for a link in pieces.
    case valuesInPieces
}

/// A requirement that a radio does not meet.
package struct RadioShortcoming<Location: Sendable>: Sendable {
    /// The requirement that the radio does not meet.
    package var requirement: RadioRequirement<Location>
    /// `true` if the device would behave differently from the request.
    ///
    /// Otherwise, only a part of the requested behavior is missing, and the run reports that.
    package var isFatal: Bool
    /// A sentence about the missing capability, with advice, without its full stop.
    package var message: String
}

extension RadioCapabilities {
    /// Returns the requirements that the radio does not meet, in order.
    package func shortcomings<Location>(
        _ requirements: some Sequence<RadioRequirement<Location>>
    ) -> [RadioShortcoming<Location>] {
        requirements.compactMap { requirement in
            shortcoming(requirement.need, requirement.subject).map {
                RadioShortcoming(requirement: requirement, isFatal: $0.isFatal, message: $0.message)
            }
        }
    }

    private static let ownHost = "needs Mynah's own host: choose --radio virtual, netsim or hci:"

    private func shortcoming(_ need: RadioNeed, _ subject: String) -> (isFatal: Bool, message: String)? {
        switch need {
        case .readError(let error) where !readErrors.contains(error):
            (true, "\(name) cannot answer a read with \(error); it can send \(readErrors)")
        case .writeError(let error) where !writes.errors.contains(error):
            (true, "\(name) cannot answer a write with \(error); it can send \(writes.errors)")
        case .behaviorError(let error) where !writes.errors.contains(error):
            (
                false,
                """
                \(name) cannot answer a write with \(error), as \(subject) does for a control point that is \
                not subscribed to; the central gets 0x0E
                """
            )
        case .refusalBesideCommands where !writes.areRefusedBesideCommands:
            (
                true,
                """
                \(name) cannot refuse a write of \(subject), because it has writeWithoutResponse; remove \
                that or the error
                """
            )
        case .answersBesideCommands where !writes.areRefusedBesideCommands:
            (
                true,
                """
                \(name) cannot wait for the answer to a write of \(subject), because it has \
                writeWithoutResponse; remove that or ask: write
                """
            )
        case .lengthLimitBesideCommands(let length)
        where !writes.areRefusedBesideCommands && length < writes.maximumLength:
            (
                false,
                """
                \(name) does not answer writes of more than \(length.counting("byte")) with 0x0D, because \
                \(subject) has writeWithoutResponse
                """
            )
        case .writes(let length) where length > writes.maximumLength:
            (
                false,
                """
                \(name) accepts writes of up to \(writes.maximumLength) bytes, but \(subject) allows \
                \(length); set maxLength: \(writes.maximumLength)
                """
            )
        // If a single write cannot have this length either, that is already reported.
        case .longWrites(let length)
        where length > writes.maximumLongLength && length <= writes.maximumLength:
            (
                false,
                """
                \(name) accepts long writes (over ATT_MTU − 3 bytes) of up to \(writes.maximumLongLength) \
                bytes, but \(subject) allows \(length); set maxLength: \(writes.maximumLongLength)
                """
            )
        case .protectedCommands where !writes.protectsCommandsAlone:
            (false, "\(name) protects commands only by giving \(subject) the property write as well")
        case .authorizedSubscriptions where !subscriptions.areAuthorized:
            (true, "\(name) cannot ask for consent before a central subscribes to \(subject)")
        case .advertisingInterval where !advertising.keepsInterval:
            (
                false,
                """
                \(name) advertises at its own interval\(advertising.intervalRemedy.map { "; " + $0 } ?? "")
                """
            )
        case .advertisedWidth(let uuid) where !advertising.isExact:
            (false, "\(name) advertises \(uuid) as \(uuid.shortest)")
        case .emptyAdvertisingData where !advertising.sendsEmptyData:
            (true, "\(name) does not advertise \(subject) without a byte of data")
        case .exactAdvertising(let what) where !advertising.isExact:
            (true, "\(name) cannot advertise \(what); choose --radio virtual, netsim or hci:")
        case .scanResponseFields where !advertising.placesScanResponse:
            (
                true,
                """
                \(name) puts only the name into the scan response; bluetoothd from 5.80 on puts \(subject) \
                there, and so do --radio virtual, netsim and hci:
                """
            )
        case .phoneServices where !playsPhoneServices:
            (
                false,
                """
                \(name) leaves out \(subject), because its GATT server has services of its own; choose \
                --radio virtual, netsim or hci:
                """
            )
        case .channels where !publishesL2CAPChannels:
            (
                false,
                """
                \(name) leaves out \(subject), because it publishes no L2CAP channels; choose \
                --radio virtual, netsim or hci:
                """
            )
        case .lostLinks where !limitsLinks:
            (
                false,
                """
                \(name) does not say that a link was lost, and \(subject) raises no alert then; choose \
                --radio virtual, netsim or hci:
                """
            )
        case .noServiceChanged where !playsPhoneServices:
            (
                false,
                """
                \(name) ignores \(subject), because its GATT server always has Service Changed; choose \
                --radio virtual, netsim or hci:
                """
            )
        case .connectionParameters where !requestsConnectionLatency:
            (
                false,
                """
                \(name) leaves out \(subject), because it requests no connection parameters; choose \
                --radio virtual, netsim or hci:
                """
            )
        case .limitedCentrals where !limitsLinks:
            (true, "\(name) advertises with any number of centrals: \(subject) \(Self.ownHost)")
        case .limitedMTU where !limitsLinks:
            (true, "\(name) offers the ATT_MTU of bluetoothd's configuration: \(subject) \(Self.ownHost)")
        case .limitedKeySize where !limitsLinks:
            (true, "\(name) uses the kernel's encryption key sizes: \(subject) \(Self.ownHost)")
        case .unaskedValues where !limitsLinks:
            (true, "\(name) adds 2902 itself and sends to subscribers: \(subject) \(Self.ownHost)")
        case .valuesInPieces where !cutsValues:
            (true, "\(name) cannot send values in pieces: \(subject) \(Self.ownHost)")
        default: nil
        }
    }
}

extension RadioCapabilities.ErrorCodes: CustomStringConvertible {
    /// The codes, with ranges of codes combined: `0x06 to 0x08 and 0x80 to 0x9F`.
    package var description: String {
        var runs: [ClosedRange<UInt8>] = []
        for code in UInt8.min...UInt8.max where contains(ATTError(code: code)) {
            if let last = runs.last, Int(last.upperBound) + 1 == Int(code) {
                runs[runs.count - 1] = last.lowerBound...code
            } else {
                runs.append(code...code)
            }
        }
        let words = runs.flatMap { run in
            switch run.count {
            case 1: [Self.text(run.lowerBound)]
            case 2: [Self.text(run.lowerBound), Self.text(run.upperBound)]
            default: ["\(Self.text(run.lowerBound)) to \(Self.text(run.upperBound))"]
            }
        }
        guard words.count > 1, let last = words.last else { return words.first ?? "none" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }

    private static func text(_ code: UInt8) -> String { "0x" + Hex.encode([code]) }
}
