import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

@Suite struct ValueTests {
    @Test(arguments: [
        ("5.66", BlueZVersion(5, 66)), ("5.87\n", BlueZVersion(5, 87)), ("5.80-1", BlueZVersion(5, 80)),
    ])
    func `a version is read as the program prints it`(text: String, version: BlueZVersion) {
        #expect(BlueZVersion(text) == version)
    }

    @Test(arguments: ["", "5", "bluetoothd", ".66", "5."])
    func `an invalid version is refused`(text: String) {
        #expect(BlueZVersion(text) == nil)
    }

    @Test func `an adapter's identifier tells the version where bluetoothd wrote it`() {
        #expect(BlueZVersion(modalias: "usb:v1D6Bp0246d0542") == BlueZVersion(5, 66))
        #expect(BlueZVersion(modalias: "usb:v1D6Bp0246d0552") == BlueZVersion(5, 82))
        #expect(BlueZVersion(modalias: "usb:v05ACp0001d0542") == nil)
        #expect(BlueZVersion(modalias: "usb:v1D6Bp0246dXY") == nil)
        #expect(BlueZVersion(modalias: "") == nil)
    }

    @Test func `abilities follow the version`() {
        let old = BlueZCapabilities.capabilities()
        #expect(old.writes.maximumLength == 510)
        #expect(old.writes.maximumLongLength == 508)
        #expect(!old.advertising.keepsInterval)
        #expect(!old.readErrors.contains(.cccdImproperlyConfigured))
        let fixed = BlueZCapabilities.capabilities(version: BlueZVersion(5, 69))
        #expect(fixed.writes.maximumLength == 512)
        #expect(fixed.writes.maximumLongLength == 512)
        let new = BlueZCapabilities.capabilities(version: BlueZVersion(5, 77))
        #expect(new.advertising.keepsInterval)
        #expect(new.writes.errors.contains(.cccdImproperlyConfigured))
        #expect(BlueZCapabilities.capabilities(keepsInterval: true).advertising.keepsInterval)
    }

    @Test func `the pacer lets its rate through, and a burst of a tenth of a second`() {
        var pacer = NotificationPacer(rate: 100)
        var count = 0
        while pacer.spend(at: .zero) { count += 1 }
        #expect(count == 10)
        #expect(pacer.pause > .zero)
        for hundredth in 1...100 {
            while pacer.spend(at: .milliseconds(hundredth * 10)) { count += 1 }
        }
        #expect((109...110).contains(count))
    }

    @Test func `without a rate everything goes`() {
        var pacer = NotificationPacer(rate: nil)
        for _ in 0..<10_000 where !pacer.spend(at: .zero) { Issue.record("held back") }
        #expect(pacer.pause == .zero)
    }

    @Test func `a rate of zero lets nothing through and does not spin`() {
        var pacer = NotificationPacer(rate: 0)
        #expect(pacer.spend(at: .seconds(1)) == false)
    }

    @Test(arguments: [
        (
            "org.freedesktop.DBus.Error.ServiceUnknown", "", RadioError.Code.unreachable,
            "systemctl start bluetooth"
        ),
        ("org.freedesktop.DBus.Error.Spawn.ChildExited", "x", .unreachable, "systemctl start bluetooth"),
        ("org.freedesktop.DBus.Error.Spawn.Failed", "x", .unreachable, "systemctl start bluetooth"),
        ("org.freedesktop.systemd1.UnitMasked", "x", .unreachable, "systemctl start bluetooth"),
        ("org.freedesktop.DBus.Error.FileNotFound", "x", .unreachable, "systemctl start dbus"),
        ("org.freedesktop.DBus.Error.AccessDenied", "x", .notPermitted, "group bluetooth"),
        (
            "org.freedesktop.DBus.Error.NoReply", "no answer within 10 s", .timedOut,
            "systemctl restart bluetooth"
        ),
        ("org.bluez.Error.Blocked", "x", .blocked, "rfkill unblock bluetooth"),
    ])
    func `an error says what to do`(name: String, message: String, code: RadioError.Code, remedy: String) {
        let error = BlueZErrors.radioError(
            DBusError(DBusError.Name(rawValue: name), message), doing: "testing")
        #expect(error.code == code)
        #expect(error.remedy?.contains(remedy) == true)
    }

    @Test func `a daemon that dies with a call under way is lost, not slow`() {
        let error = BlueZErrors.radioError(
            DBusError(.noReply, "Message recipient disconnected from message bus without replying"),
            doing: "testing")
        #expect(error.code == .lost)
    }

    @Test func `an advertisement's refusal says why as far as bluetoothd does`() {
        let full = BlueZErrors.advertisementError(
            DBusError("org.bluez.Error.NotPermitted", "Maximum advertisements reached"))
        #expect(full.code == .noAdvertisingSet)
        let kernel = BlueZErrors.advertisementError(
            DBusError("org.bluez.Error.Failed", "Failed to register advertisement"))
        #expect(kernel.code == .advertisementRefused)
        #expect(kernel.remedy?.contains("kernel") == true)
    }
}
