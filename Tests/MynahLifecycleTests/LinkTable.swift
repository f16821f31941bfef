import MynahCore
import MynahLifecycle
import MynahTestSupport

/// Every state of a link to one device with every event, for the apps A and B.
enum LinkTable {
    /// A ends means without anything kept; `offKeepingA` that A was terminated and is kept; `shared` a link
    /// that the device made.
    static let events = [
        "connectA", "connectB", "connectBDelayed", "cancelA", "cancelB", "endA", "up", "lost", "down",
        "failed", "delayElapsed", "off", "offKeepingA", "shared",
    ]

    static let situations = [
        "absent": """
        connectA         wanted:A       connecting:A wanted
        connectB         wanted:B       connecting:B wanted
        connectBDelayed  delayed:B      connecting:B wait
        cancelA          absent         -
        cancelB          absent         -
        endA             absent         -
        up               ending:        end
        lost             absent         -
        down             absent         -
        failed           absent         -
        delayElapsed     absent         -
        off              absent         -
        offKeepingA      absent         -
        shared           absent         leave
        """,
        "connectA": """
        connectA         wanted:A       -
        connectB         wanted:AB      connecting:B wanted
        connectBDelayed  wanted:AB      connecting:B wait
        cancelA          absent         disconnected:A:local:pending wanted
        cancelB          wanted:A       -
        endA             absent         wanted
        up               up:A           connected:A wanted
        lost             wanted:A       -
        down             wanted:A       -
        failed           absent         failed:A wanted
        delayElapsed     wanted:A       -
        off              absent         forgotten:A wanted
        offKeepingA      wanted:A       wanted
        shared           up:A           connected:A:local wanted
        """,
        "connectA connectB": """
        connectA         wanted:AB      -
        connectB         wanted:AB      -
        connectBDelayed  wanted:AB      -
        cancelA          wanted:B       disconnected:A:local:pending wanted
        cancelB          wanted:A       disconnected:B:local:pending wanted
        endA             wanted:B       wanted
        up               up:AB          connected:A connected:B wanted
        lost             wanted:AB      -
        down             wanted:AB      -
        failed           absent         failed:A failed:B wanted
        delayElapsed     wanted:AB      -
        off              absent         forgotten:A forgotten:B wanted
        offKeepingA      wanted:A       forgotten:B wanted
        shared           up:AB          connected:A:local connected:B:local wanted
        """,
        "connectBDelayed": """
        connectA         wanted:BA      connecting:A wanted
        connectB         delayed:B      -
        connectBDelayed  delayed:B      -
        cancelA          delayed:B      -
        cancelB          absent         disconnected:B:local:pending wanted
        endA             delayed:B      -
        up               up:B           connected:B wanted
        lost             delayed:B      -
        down             delayed:B      -
        failed           absent         failed:B wanted
        delayElapsed     wanted:B       wanted
        off              absent         forgotten:B wanted
        offKeepingA      absent         forgotten:B wanted
        shared           up:B           connected:B:local wanted
        """,
        "connectA up": """
        connectA         up:A           -
        connectB         up:AB          connecting:B connected:B:local
        connectBDelayed  up:AB          connecting:B connected:B:local
        cancelA          ending:        disconnected:A end
        cancelB          up:A           -
        endA             ending:        end
        up               up:A           -
        lost             absent         disconnected:A:error ended
        down             absent         disconnected:A ended
        failed           up:A           -
        delayElapsed     up:A           -
        off              absent         forgotten:A ended wanted
        offKeepingA      absent         forgotten:A ended wanted
        shared           up:A           -
        """,
        "connectA connectB up": """
        connectA         up:AB          -
        connectB         up:AB          -
        connectBDelayed  up:AB          -
        cancelA          up:B           disconnected:A:local kept:B
        cancelB          up:A           disconnected:B:local kept:A
        endA             up:B           kept:B
        up               up:AB          -
        lost             absent         disconnected:A:error disconnected:B:error ended
        down             absent         disconnected:A disconnected:B ended
        failed           up:AB          -
        delayElapsed     up:AB          -
        off              absent         forgotten:A forgotten:B ended wanted
        offKeepingA      absent         forgotten:A forgotten:B ended wanted
        shared           up:AB          -
        """,
        "reconnectA connectB up": """
        connectA         up:AB          -
        connectB         up:AB          -
        connectBDelayed  up:AB          -
        cancelA          up:B           disconnected:A:local kept:B
        cancelB          up:A           disconnected:B:local kept:A
        endA             up:B           kept:B
        up               up:AB          -
        lost             wanted:A       disconnected:A:error:reconnecting disconnected:B:error wanted ended
        down             absent         disconnected:A disconnected:B ended
        failed           up:AB          -
        delayElapsed     up:AB          -
        off              absent         forgotten:A forgotten:B ended wanted
        offKeepingA      absent         forgotten:A forgotten:B ended wanted
        shared           up:AB          -
        """,
        "connectA up cancelA": """
        connectA         ending:A       connecting:A wanted
        connectB         ending:B       connecting:B wanted
        connectBDelayed  ending:B       connecting:B wait
        cancelA          ending:        -
        cancelB          ending:        -
        endA             ending:        -
        up               ending:        -
        lost             absent         ended
        down             absent         ended
        failed           ending:        -
        delayElapsed     ending:        -
        off              absent         ended wanted
        offKeepingA      absent         ended wanted
        shared           ending:        -
        """,
        "connectA up cancelA connectA": """
        connectA         ending:A       -
        connectB         ending:AB      connecting:B wanted
        connectBDelayed  ending:AB      connecting:B wait
        cancelA          ending:        disconnected:A:local:pending wanted
        cancelB          ending:A       -
        endA             ending:        wanted
        up               ending:A       -
        lost             wanted:A       wanted ended
        down             wanted:A       wanted ended
        failed           ending:A       -
        delayElapsed     ending:A       -
        off              absent         forgotten:A ended wanted
        offKeepingA      wanted:A       ended wanted
        shared           ending:A       -
        """,
        // A link that the device made is left to it.
        "connectA shared": """
        connectA         up:A           -
        connectB         up:AB          connecting:B connected:B:local
        connectBDelayed  up:AB          connecting:B connected:B:local
        cancelA          absent         disconnected:A:local leave
        cancelB          up:A           -
        endA             absent         leave
        up               up:A           -
        lost             absent         disconnected:A:error ended
        down             absent         disconnected:A ended
        failed           up:A           -
        delayElapsed     up:A           -
        off              absent         forgotten:A ended wanted
        offKeepingA      absent         forgotten:A ended wanted
        shared           up:A           -
        """,
        // A further link while the end of the first has not been reported.
        "connectA up cancelA connectA upAgain": """
        connectA         up:A           -
        connectB         up:AB          connecting:B connected:B:local
        connectBDelayed  up:AB          connecting:B connected:B:local
        cancelA          ending:        disconnected:A end
        cancelB          up:A           -
        endA             ending:        end
        up               up:A           -
        lost             up:A           ended
        down             up:A           ended
        failed           up:A           -
        delayElapsed     up:A           -
        off              absent         forgotten:A ended ended wanted
        offKeepingA      absent         forgotten:A ended ended wanted
        shared           up:A           -
        """,
    ]
}

/// Runs events that are written as words, about one device.
struct LinkScript {
    private var ledger = LinkLedger()
    private var lastRequest: UInt64 = 0

    init(_ past: String) {
        for event in past.split(separator: " ") where event != "absent" { _ = take(String(event)) }
    }

    var state: String {
        let address = DeviceAddress.device(1)
        let holders = [Peer.ID.second, .first].map { ledger.holders(of: $0) }.first { !$0.isEmpty }
        if let holders { return "up:" + holders.map(\.letter).joined() }
        guard ledger.concerns(address) else { return "absent" }
        let all = [ManagerKey.a, .b].filter { ledger.state(of: address, for: $0) == .connecting }
        let inOrder = all.sorted { rank($0) < rank($1) }.map(\.letter).joined()
        if ledger.address(of: .first) != nil || ledger.address(of: .second) != nil {
            return "ending:" + inOrder
        }
        return (ledger.wanted.isEmpty ? "delayed:" : "wanted:") + inOrder
    }

    /// The order in which managers asked, which is the order of their events.
    private func rank(_ manager: ManagerKey) -> Int {
        var copy = ledger
        var actions: [LinkAction] = []
        copy.failed(.device(1), .lostLink, into: &actions)
        return actions.firstIndex {
            if case .failedToConnect(manager, _, _) = $0 { true } else { false }
        } ?? Int(manager.app)
    }

    mutating func take(_ event: String) -> [String] {
        var actions: [LinkAction] = []
        let address = DeviceAddress.device(1)
        switch event {
        case "connectA": ledger.connect(.a, to: address, into: &actions)
        case "reconnectA": ledger.connect(.a, to: address, .reconnecting, into: &actions)
        case "connectB": ledger.connect(.b, to: address, into: &actions)
        case "connectBDelayed": ledger.connect(.b, to: address, .delayed, into: &actions)
        case "cancelA": ledger.cancel(.a, to: address, into: &actions)
        case "cancelB": ledger.cancel(.b, to: address, into: &actions)
        case "endA": ledger.end(.a, into: &actions)
        case "up": ledger.linkUp(.first, to: address, into: &actions)
        case "shared": ledger.linkUp(.first, to: address, isShared: true, into: &actions)
        case "upAgain": ledger.linkUp(.second, to: address, into: &actions)
        case "lost": ledger.linkDown(.first, .lostLink, into: &actions)
        case "down": ledger.linkDown(.first, nil, into: &actions)
        case "failed": ledger.failed(address, .lostLink, into: &actions)
        case "delayElapsed": ledger.delayElapsed(lastRequest, into: &actions)
        case "off": ledger.powerLost(keepingFor: { _ in false }, into: &actions)
        case "offKeepingA": ledger.powerLost(keepingFor: { $0 == .a }, into: &actions)
        default: return ["no such event"]
        }
        return actions.map { word($0) }
    }

    private mutating func word(_ action: LinkAction) -> String {
        if case .waitForStart(let request, _) = action { lastRequest = request }
        return action.word
    }
}

extension LinkAction {
    /// As the table spells it.
    var word: String {
        switch self {
        case .connecting(let manager, _): "connecting:\(manager.letter)"
        case .connected(let manager, _, _, let isLocal):
            "connected:\(manager.letter)" + (isLocal ? ":local" : "")
        case .failedToConnect(let manager, _, _): "failed:\(manager.letter)"
        case .disconnected(let manager, _, let how):
            "disconnected:\(manager.letter)" + (how.error == nil ? "" : ":error")
                + (how.isLocal ? ":local" : "")
                + (how.wasPending ? ":pending" : "") + (how.isReconnecting ? ":reconnecting" : "")
        case .forgotten(let manager, _): "forgotten:\(manager.letter)"
        case .endLink: "end"
        case .leaveLink: "leave"
        case .linkKept(_, let apps): "kept:" + apps.map { ManagerKey.app($0).letter }.joined()
        case .linkEnded: "ended"
        case .waitForStart: "wait"
        case .wantedChanged: "wanted"
        }
    }
}
