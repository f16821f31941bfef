/// The keys of each section of a profile, in the order in which they are usually written.
///
/// The decoder knows a key by them, and the published schema is tested against them.
enum ProfileKeys {
    static let root = [
        "mynah", "name", "device", "security", "advertising", "app", "central", "variables", "services",
        "faults", "scenarios",
    ]
    static let device = ["name", "appearance"]
    static let security = ["io", "passkey"]
    static let advertising = [
        "localName", "serviceUUIDs", "interval", "manufacturerData", "serviceData", "solicitedServiceUUIDs",
        "appearance",
        "txPower", "raw",
    ]
    /// The advertising fields of an app; the phone decides the others.
    static let appAdvertising = ["localName", "serviceUUIDs"]
    static let app = [
        "backgroundModes", "restoreIdentifier", "state", "suspendAfter", "taskTime", "iOS",
        "foregroundInterval",
        "backgroundInterval",
    ]
    static let central = ["restoreIdentifier", "scan", "reconnect", "peripherals"]
    static let scan = ["services", "allowDuplicates", "solicited", "until"]
    static let peripheral = [
        "name", "match", "connect", "discover", "read", "subscribe", "write", "whenDone", "onDisconnect",
    ]
    static let match = ["services", "localName", "rssi"]
    static let connect = [
        "notifyOnConnection", "notifyOnDisconnection", "notifyOnNotification", "startDelay", "autoReconnect",
    ]
    static let write = ["to", "value", "withResponse", "every"]
    static let service = [
        "uuid", "use", "omit", "primary", "includes", "behavior", "records", "characteristics",
    ]
    static let characteristic = [
        "uuid", "properties", "permissions", "value", "every", "maxLength", "errors", "ask",
        "on", "descriptors",
    ]
    static let descriptor = ["uuid", "properties", "permissions", "value", "maxLength"]
    static let permissions = ["read", "write", "notify"]
    static let descriptorPermissions = ["read", "write"]
    static let errors = ["read", "write"]
    static let on = ["write", "subscribe"]
    static let reaction = ["match"] + effects
    static let effects = ["set", "answer", "notify", "error", "disconnect", "advertise"]
    static let answer = ["to", "value", "after"]
    /// The forms of a value: a value has exactly one of them, or only a layout.
    static let valueForms = ["hex", "text", "base64", "generate", "fields"]
    static let fault =
        ["name", "on", "after", "of", "nth", "times", "chance", "central", "when", "delay"]
        + faultEffects + faultParameters + ["off"]
    /// The effects of a fault, which has at most one.
    static let faultEffects = ["error", "truncate", "corrupt", "value", "mtu", "do"]
    /// The keys that say more about an effect of `do`.
    static let faultParameters = ["reason", "how", "remove", "with", "for"]
    static let faultAdvertising = [
        "localName", "serviceUUIDs", "interval", "manufacturerData", "serviceData", "appearance",
        "connectable",
    ]
    static let scenario = ["name", "steps"]
    /// The keys of a scenario's step, which has exactly one of them.
    static let steps = ["await", "expect", "after", "set", "fault", "app", "end"]
    /// The steps that wait for an event; their other keys are fields of the event.
    static let eventSteps = ["await", "expect"]
    /// The words of an entry of a layout that are no field's name.
    static let layoutWords = ["when", "count", "unit", "resolution", "bigEndian"]
}
