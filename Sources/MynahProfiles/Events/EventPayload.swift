package import MynahCore
package import MynahSupport
package import MynahValues

/// The content of an event besides its name.
///
/// `EventTable` lists the payload and the fields of each event.
package enum EventPayload: Hashable, Sendable {
    /// The event has only a name.
    case none
    /// An access to an attribute of the device, or the reason that its app was woken.
    case attribute(AttributeUse)
    indirect case notice(Notice)
    indirect case ready(Ready)
    /// A host that uses a controller of `mynah air`.
    indirect case host(Host)
    indirect case scenarioEnd(ScenarioEnd)
    case state(RadioState)
    indirect case radio(RadioFigures)
    indirect case advertising(AdvertisingReport)
    indirect case central(CentralLink)
    indirect case pairing(Pairing)
    /// The connection parameters of a link, or a request for other parameters.
    indirect case parameters(Parameters)
    /// An L2CAP channel, or an SDU on it.
    indirect case channel(ChannelUse)
    indirect case fault(AppliedFault)
    indirect case scan(Scan)
    indirect case discovery(Discovery)
    indirect case retrieval(Retrieval)
    /// A link to a peripheral, or an alert about it.
    indirect case link(PeripheralLink)
    /// An access to an attribute of a peripheral, or a discovery.
    indirect case remote(RemoteUse)
    indirect case app(AppStep)
    indirect case restoration(Restoration)
    /// The connection made by `mynah connect`.
    indirect case connection(Connection)

    // MARK: Parts of several payloads

    /// The attribute that the event concerns, or `nil` if there is none.
    package var attribute: EventAttribute? {
        switch self {
        case .attribute(let use): use.attribute
        case .remote(let use): use.attribute
        case .notice(let notice): notice.attribute
        default: nil
        }
    }

    /// The value that was read, written or sent, or `nil` if there is none.
    package var value: [UInt8]? {
        switch self {
        case .attribute(let use): use.value
        case .remote(let use): use.value
        case .channel(let use): use.value
        case .connection(let connection): connection.value
        default: nil
        }
    }

    /// The decoded fields of the value.
    ///
    /// The value is `nil` if the payload has no value, if no layout is known, or if the value does not fit
    /// the layout.
    package var valueFields: [NamedField]? {
        // A part of a value cannot be decoded.
        if case .attribute(let use) = self, use.offset != nil { return nil }
        return value.flatMap { attribute?.fields(of: $0) }
    }

    /// The peripheral that the event concerns, or `nil` if there is none.
    package var peripheral: EventPeripheral? {
        switch self {
        case .notice(let notice): notice.peripheral
        case .pairing(let pairing): pairing.peripheral
        case .discovery(let discovery): discovery.peripheral
        case .link(let link): link.peripheral
        case .parameters(let parameters): parameters.peripheral
        case .channel(let use): use.peripheral
        case .remote(let use): use.peripheral
        default: nil
        }
    }

    /// The estimated size of the memory to which the payload refers, in bytes.
    package var memory: Int {
        switch self {
        case .none, .state: 0
        case .attribute(let use):
            Self.allocation(use.value?.count) + Self.allocation(use.attribute.path?.utf8.count)
        case .remote(let use): 512 + Self.allocation(use.value?.count)
        case .channel(let use): 256 + Self.allocation(use.value?.count)
        case .notice(let notice): 256 + notice.message.utf8.count
        case .central, .pairing, .fault, .app, .radio, .scenarioEnd: 192
        default: 512
        }
    }

    private static func allocation(_ count: Int?) -> Int { count.map { 32 + $0 } ?? 0 }
}

// MARK: - The device's side

extension EventPayload {
    /// An access to an attribute of the device.
    package struct AttributeUse: Hashable, Sendable {
        package var central: EventCentral?
        package var attribute: EventAttribute
        /// The number of the request, if a test answers the request.
        package var id: Int?
        package var access: RefusedRequest.Access?
        /// The offset of the value in the attribute, or `nil` if it is 0.
        package var offset: Int?
        package var value: [UInt8]?
        package var withResponse: Bool?
        package var error: ATTError?
        /// The reason that a request was refused or not answered, or that the app was woken.
        package var reason: String?
        package var delivery: Delivery?
        package var tick: Int?
        /// The length of the whole value in bytes, or `nil` if the link to the central did not cut the
        /// value.
        package var length: Int?

        package init(
            _ attribute: EventAttribute = .init(), by central: EventCentral? = nil,
            because reason: String? = nil
        ) {
            self.attribute = attribute
            self.central = central
            self.reason = reason
        }
    }

    /// A warning or an error.
    package struct Notice: Hashable, Sendable {
        package var attribute = EventAttribute()
        package var peripheral = EventPeripheral()
        package var code: String?
        package var message = ""
        package var central: EventCentral?

        package init(
            code: String? = nil, _ message: String = "", _ peripheral: EventPeripheral = .init(),
            on attribute: EventAttribute = .init(), central: EventCentral? = nil
        ) {
            self.attribute = attribute
            self.peripheral = peripheral
            self.code = code
            self.message = message
            self.central = central
        }
    }

    /// The content of the event `ready`: the devices, their radio, and the address of the control API.
    package struct Ready: Hashable, Sendable {
        package var profile: String?
        package var phone: String?
        package var radio: String?
        package var address: DeviceAddress?
        package var services: [BluetoothUUID]?
        package var control: String?
        /// The places where hosts connect to controllers of `mynah air`.
        package var listening: [String]?
        /// The adapters of this machine whose controllers `mynah air` simulates.
        package var adapters: [String]?

        package init() {}
    }

    /// A host that uses a controller of `mynah air`, and the reason that it left.
    package struct Host: Hashable, Sendable {
        package var host = ""
        package var address: DeviceAddress?
        /// The place where the host has connected: `tcp:HOST:PORT`, `unix:PATH` or `vhci`.
        package var place = ""
        /// The name of HCI's error code.
        package var reason: String?
        /// HCI's error code.
        package var code: Int?
        package var message: String?

        package init() {}
    }

    package struct ScenarioEnd: Hashable, Sendable {
        package var scenario = ""
        package var isPass = false
        package var step = 0
        package var message = ""

        init() {}

        package init(_ scenario: String, isPass: Bool, step: Int, _ message: String) {
            self.scenario = scenario
            self.isPass = isPass
            self.step = step
            self.message = message
        }

        /// The result in the event: `pass` or `fail`.
        var result: String {
            get { isPass ? "pass" : "fail" }
            set { isPass = newValue == "pass" }
        }
    }

    /// The measured use of the radio; numbers that are zero are left out.
    package struct RadioFigures: Hashable, Sendable {
        package var advertisingEvents: Int?
        package var scanSeconds: Double?
        package var linkSeconds: Double?
        package var packetsSent: Int?
        package var packetsReceived: Int?
        package var airtimeMilliseconds: Double?
        package var isEstimated: Bool?

        package init() {}
    }

    package struct CentralLink: Hashable, Sendable {
        package var central: EventCentral?
        package var name: String?
        package var mtu: Int?

        package init(_ central: EventCentral? = nil, name: String? = nil, mtu: Int? = nil) {
            self.central = central
            self.name = name
            self.mtu = mtu
        }
    }

    /// A pairing with a central, or with a peripheral.
    package struct Pairing: Hashable, Sendable {
        package var central: EventCentral?
        package var peripheral: EventPeripheral
        package var step: PairingStep?
        /// `true` if the passkey that has to be entered is in the profile, so that nobody is asked for it.
        ///
        /// The value is `nil` if the pairing step does not require that a passkey is entered.
        package var isEntered: Bool?

        package init(
            _ central: EventCentral? = nil, _ peripheral: EventPeripheral = .init(),
            _ step: PairingStep? = nil
        ) {
            self.central = central
            self.peripheral = peripheral
            self.step = step
        }
    }

    /// The connection parameters of the link to a central or to a peripheral, or a request for other
    /// parameters.
    package struct Parameters: Hashable, Sendable {
        package var central: EventCentral?
        package var peripheral = EventPeripheral()
        /// The procedure of the request, `l2cap` or `linkLayer`, or `nil` if the parameters have changed.
        package var procedure: String?
        /// The current interval, or the shortest requested one.
        package var interval = Duration.zero
        /// The longest requested interval, or `nil` if there is only one.
        package var longestInterval: Duration?
        package var latency = 0
        package var supervisionTimeout = Duration.zero
        package var isAccepted: Bool?
        /// The name of the rule that a refused request violates; `message` describes the violation.
        package var rule: String?
        package var message: String?

        package init() {}
    }

    /// An L2CAP channel with a central, or to a peripheral.
    package struct ChannelUse: Hashable, Sendable {
        package var central: EventCentral?
        package var peripheral = EventPeripheral()
        package var psm = 0
        /// The SDU that was sent or received.
        package var value: [UInt8]?

        package init() {}
    }

    package struct AppliedFault: Hashable, Sendable {
        package var fault = ""
        package var trigger = ""
        package var central: EventCentral?

        init() {}

        package init(_ fault: String, on trigger: String, by central: EventCentral?) {
            self.fault = fault
            self.trigger = trigger
            self.central = central
        }
    }
}

// MARK: - The phone's side

extension EventPayload {
    package struct Scan: Hashable, Sendable {
        package var services: [BluetoothUUID] = []
        package var solicited: [BluetoothUUID]?
        package var allowsDuplicates = false
        /// The scan interval, or `nil` if the radio does not scan for the app.
        package var interval: Duration?
        package var window: Duration?
        package var omitted: [AdvertisingReport.Omission] = []

        package init() {}
    }

    package struct Discovery: Hashable, Sendable {
        package var peripheral = EventPeripheral()
        package var rssi: Int?
        package var services: [BluetoothUUID] = []
        package var overflowServices: [BluetoothUUID] = []
        package var coalesced = 1
        package var data: [UInt8] = []
        package var scanResponse: [UInt8] = []

        package init() {}
    }

    /// The devices that the system returned to an app.
    package struct Retrieval: Hashable, Sendable {
        package var alias = ""
        /// The kind of the app's call: `identifiers`, or `connected` for devices with a connection.
        package var way = ""
        package var asked: [BluetoothUUID] = []
        package var found: [BluetoothUUID] = []

        init() {}

        package init(
            _ alias: String, by way: String, _ asked: [BluetoothUUID], found: [BluetoothUUID]
        ) {
            self.alias = alias
            self.way = way
            self.asked = asked
            self.found = found
        }
    }

    package struct PeripheralLink: Hashable, Sendable {
        package var peripheral: EventPeripheral
        /// In a connection, `true` if another app had already made the phone connect to the peripheral.
        ///
        /// In a disconnection, `true` if the phone ended the link.
        package var isLocal: Bool?
        package var wasPending: Bool?
        package var isReconnecting: Bool?
        package var message: String?
        /// The code of the CBError.
        package var code: Int?
        /// The controller's error code in hexadecimal, such as `0x13`, for a phone without apps.
        package var reason: String?
        package var heldBy: [String]?
        /// The cause of an alert.
        package var cause: String?
        package var app: String?
        /// The central that the alert concerns.
        package var central: EventCentral?

        package init(
            _ peripheral: EventPeripheral = .init(), isLocal: Bool? = nil, heldBy: [String]? = nil,
            cause: String? = nil, app: String? = nil
        ) {
            self.peripheral = peripheral
            self.isLocal = isLocal
            self.heldBy = heldBy
            self.cause = cause
            self.app = app
        }
    }

    package struct RemoteUse: Hashable, Sendable {
        package var peripheral: EventPeripheral
        package var attribute: EventAttribute
        package var value: [UInt8]?
        package var withResponse: Bool?
        package var isOn: Bool?
        package var uuids: [BluetoothUUID]?
        package var error: ATTError?
        /// The message about a failure that is not an answer of the peripheral.
        package var message: String?

        package init(
            _ peripheral: EventPeripheral = .init(), _ attribute: EventAttribute = .init(),
            value: [UInt8]? = nil, uuids: [BluetoothUUID]? = nil
        ) {
            self.peripheral = peripheral
            self.attribute = attribute
            self.value = value
            self.uuids = uuids
        }
    }
}

// MARK: - Apps

extension EventPayload {
    /// A launch of an app, its end, or an action of its user.
    package struct AppStep: Hashable, Sendable {
        package var restoreIdentifiers: [String]?
        package var centralRestoreIdentifiers: [String]?
        package var isInBackground: Bool?
        /// The reason that the app was terminated or is not relaunched, or the action of the phone's user.
        package var reason: String?
        /// The app's permission to use Bluetooth.
        package var authorization: String?

        package init(reason: String? = nil, authorization: String? = nil) {
            self.reason = reason
            self.authorization = authorization
        }
    }

    /// The restored state of a manager.
    ///
    /// The members that this program does not use are kept as JSON.
    package struct Restoration: Hashable, Sendable {
        /// The role of the manager: `peripheral` or `central`.
        package var role = ""
        package var restoreIdentifier = ""
        package var services: [BluetoothUUID]?
        package var isAdvertising: Bool?
        package var subscribers: JSON?
        package var scanServices: JSON?
        package var scanOptions: JSON?
        package var peripherals: JSON?

        package init() {}
    }
}

// MARK: - The command connect

extension EventPayload {
    package struct Connection: Hashable, Sendable {
        package var address: DeviceAddress?
        package var name: String?
        package var message: String?
        /// The code of an ATT error.
        package var code: Int?
        package var mtu: Int?
        package var rssi: Int?
        /// The first handle of the changed services.
        package var start: Int?
        package var end: Int?
        /// The value handle of an unknown characteristic that sent a value.
        package var handle: Int?
        package var value: [UInt8]?
        package var services: JSON?

        package init(message: String? = nil, mtu: Int? = nil, rssi: Int? = nil, services: JSON? = nil) {
            self.message = message
            self.mtu = mtu
            self.rssi = rssi
            self.services = services
        }

        var addressKind: DeviceAddress.Kind? {
            get { address?.kind }
            set { address = address.map { DeviceAddress(value: $0.value, kind: newValue ?? $0.kind) } }
        }
    }
}
