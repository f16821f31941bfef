import MynahDBus
import MynahSupport

/// Has bluetoothd's name, and answers nothing.
final class SilentDaemon: DBusObject {
    let interfaces = [
        DBusInterface(
            "org.freedesktop.DBus.ObjectManager",
            methods: [.init("GetManagedObjects", returns: "a{oa{sa{sv}}}")])
    ]

    private let calls = Lock<[MethodCall]>([])

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) { calls.withLock { $0.append(call) } }
}
