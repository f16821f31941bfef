import Foundation
import Glibc
import MynahConsole
import MynahSupport
import Testing

/// The probes of files, in a folder that is made like a machine.
@Suite struct MachineFilesTests {
    /// A machine's files, gone with this.
    private final class Root {
        let path = FileManager.default.temporaryDirectory.appending(path: "mynah-root-\(UUID())").path
        var files: MachineFiles { MachineFiles(root: path) }

        init(_ texts: [String: String] = [:]) throws {
            mkdir(path, 0o755)
            for (path, text) in texts { try write(text, to: path) }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to path: String) throws {
            let parts = path.split(separator: "/")
            var folder = self.path
            for part in parts.dropLast() {
                folder += "/\(part)"
                mkdir(folder, 0o755)
            }
            let file = try #require(fopen(self.path + path, "w"))
            let bytes = Array(text.utf8)
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }
    }

    private static let release = ["/proc/sys/kernel/osrelease": "6.1.0-40-amd64\n"]

    // MARK: - The kernel

    @Test func `a kernel with its Bluetooth loaded is asked for a socket`() throws {
        let root = try Root(
            Self.release.merging([
                "/sys/class/bluetooth/hci0": "", "/sys/class/bluetooth/hci10": "",
                "/sys/class/bluetooth/hci2": "", "/sys/class/bluetooth/hci0:42": "",
                "/sys/class/bluetooth/hci": "",
            ]) { $1 })
        let kernel = root.files.kernel { nil }.value
        #expect(kernel?.release == "6.1.0-40-amd64")
        #expect(kernel?.bluetooth == .loaded)
        #expect(kernel?.adapters == ["hci0", "hci2", "hci10"])
        #expect(root.files.kernel { "no" }.value?.bluetooth == .hidden("no"))
    }

    @Test func `a kernel whose Bluetooth is not loaded is not asked, which would load it`() throws {
        let root = try Root(Self.release)
        func bluetooth() -> MachineFacts.Kernel.Bluetooth? {
            root.files.kernel {
                Issue.record("a socket was made")
                return nil
            }.value?.bluetooth
        }
        #expect(bluetooth() == .absent)
        try root.write("kernel/fs/ext4/ext4.ko:\n", to: "/lib/modules/6.1.0-40-amd64/modules.dep")
        #expect(bluetooth() == .absent)
        try root.write(
            "kernel/net/bluetooth/bluetooth.ko.xz: kernel/crypto/ecc.ko\n",
            to: "/lib/modules/6.1.0-40-amd64/modules.dep")
        #expect(bluetooth() == .loadable)
    }

    @Test func `a machine without proc is not known`() throws {
        let root = try Root()
        #expect(root.files.kernel { nil }.reason?.contains("/proc/sys/kernel/osrelease") == true)
        #expect(root.files.container(user: 0) { _ in nil }.reason?.contains("/proc/self/uid_map") == true)
        #expect(!root.files.mayTakeAdapters)
    }

    @Test
    func `the module for adapters is found where it is installed, and its device file where it is loaded`()
        throws
    {
        let root = try Root()
        func file() -> MachineFacts.AdapterFile { root.files.adapterFile(release: "6.1.0-40-amd64") }
        #expect(file() == .absent)
        try root.write(
            "kernel/drivers/bluetooth/hci_vhci.ko.xz: kernel/net/bluetooth/bluetooth.ko\n",
            to: "/lib/modules/6.1.0-40-amd64/modules.dep")
        #expect(file() == .loadable)
        try root.write("", to: "/dev/vhci")
        #expect(file() == .ready)
        let bare = try Root(["/sys/module/hci_vhci/refcnt": "0\n"])
        #expect(bare.files.adapterFile(release: "6.1.0-40-amd64") == .loadable)
    }

    // MARK: - Containers

    private static let whole = "         0          0 4294967295\n"

    @Test func `a container is known by its marks`() throws {
        let marks: [(String?, [String: String], [String: String])] = [
            (nil, [:], [:]), ("docker", ["/.dockerenv": ""], [:]),
            ("podman", ["/run/.containerenv": ""], [:]),
            ("lxc", [:], ["container": "lxc"]), ("nspawn", ["/run/systemd/container": "nspawn\n"], [:]),
            (nil, ["/run/systemd/container": ""], ["container": ""]),
        ]
        for (kind, files, variables) in marks {
            let root = try Root(files.merging(["/proc/self/uid_map": Self.whole]) { $1 })
            let found = root.files.container(user: 1000) { variables[$0] }.value
            #expect(found?.kind == kind)
            #expect(found?.hasUserNamespace == false)
            #expect(found?.outsideUser == 1000)
        }
    }

    @Test(arguments: [
        ("         0       1000          1\n", 0 as UInt32, 1000 as UInt32?),
        ("0 100000 65536\n", 7, 100007), ("0 1 1000\n1000 0 1\n", 1000, 0), ("1000 1000 1\n", 1000, 1000),
        ("", 65534, nil), ("no numbers\n", 0, nil), ("0 4294967295 4294967295\n", 5, 4),
    ])
    func `a user namespace has other numbers for its users`(text: String, user: UInt32, outside: UInt32?)
        throws
    {
        let root = try Root(["/proc/self/uid_map": text])
        let found = root.files.container(user: user) { _ in nil }.value
        #expect(found?.hasUserNamespace == true)
        #expect(found?.outsideUser == outside)
    }

    // MARK: - bluetoothd

    @Test func `the arguments are those of the process that the bus names, if it is bluetoothd`() throws {
        let root = try Root([
            "/proc/7/cmdline": "/usr/libexec/bluetooth/bluetoothd\0-E\0-f\0/run/main.conf\0",
            "/proc/8/cmdline": "/bin/sh\0",
        ])
        #expect(
            root.files.arguments(ofDaemon: 7)
                == .found(["/usr/libexec/bluetooth/bluetoothd", "-E", "-f", "/run/main.conf"]))
        #expect(root.files.arguments(ofDaemon: 8).reason == "process 8 is not bluetoothd here")
        #expect(root.files.arguments(ofDaemon: 9).reason?.contains("/proc/9/cmdline") == true)
        #expect(root.files.arguments(ofDaemon: nil).value == nil)
    }

    @Test func `the settings are those of the file that bluetoothd was told, or of the usual one`() throws {
        let root = try Root([
            "/etc/bluetooth/main.conf": "[General]\nName = usual\n",
            "/run/a.conf": "[General]\nName = told\n",
        ])
        func name(_ arguments: [String]) -> String? {
            root.files.configuration(arguments: .found(["bluetoothd"] + arguments), isInContainer: false)
                .value?["General", "Name"]
        }
        #expect(name([]) == "usual")
        #expect(name(["-f", "/run/a.conf"]) == "told")
        #expect(name(["--configfile=/run/a.conf"]) == "told")
        #expect(name(["-f"]) == "usual")
        #expect(name(["-f", "/run/none.conf"]) == nil)
    }

    @Test func `a main.conf that is no file, or is another machine's, is not known`() throws {
        let root = try Root(["/etc/bluetooth/other": ""])
        let path = root.path + "/etc/bluetooth/main.conf"
        #expect(mkfifo(path, 0o600) == 0)
        let fifo = root.files.configuration(arguments: .found(["bluetoothd"]), isInContainer: false)
        #expect(fifo.reason == "/etc/bluetooth/main.conf is not a file")
        unlink(path)
        mkdir(path, 0o700)
        #expect(
            root.files.configuration(arguments: .found(["bluetoothd"]), isInContainer: false).value == nil)
        #expect(
            root.files.configuration(arguments: .unknown("no"), isInContainer: true).reason?.contains(
                "outside")
                == true)
    }

    @Test func `a main.conf of any size and any bytes is read as far as the limit`() throws {
        let root = try Root()
        let bytes = String(repeating: "[General]\nName = \u{FFFD}\u{1F}x\n#=\n", count: 10_000)
        try root.write(bytes, to: "/etc/bluetooth/main.conf")
        let found = root.files.configuration(arguments: .found(["bluetoothd"]), isInContainer: false)
        #expect(found.value?["General", "Name"] != nil)
    }

    @Test func `systemd starts bluetoothd if both have what it needs`() throws {
        let root = try Root(["/run/systemd/system/x": ""])
        #expect(!root.files.startsBluetoothd)
        try root.write("", to: "/etc/systemd/system/dbus-org.bluez.service")
        #expect(root.files.startsBluetoothd)
        let other = try Root(["/etc/systemd/system/dbus-org.bluez.service": ""])
        #expect(!other.files.startsBluetoothd)
    }

    // MARK: - Others

    @Test(arguments: [
        ("CapEff:\t0000000000001000\n", true), ("CapEff:\t000001ffffffffff\n", true),
        ("CapEff:\t0000000000000fff\n", false), ("CapEff:\n", false), ("CapEff:\tmany\n", false), ("", false),
    ])
    func `adapters may be taken with CAP_NET_ADMIN`(line: String, isAllowed: Bool) throws {
        let root = try Root(["/proc/self/status": "Name:\tmynah\n\(line)"])
        #expect(root.files.mayTakeAdapters == isAllowed)
    }

    @Test func `programs are looked for in the search path`() throws {
        let root = try Root(["/usr/bin/tshark": "", "/bin/btmon": ""])
        chmod(root.path + "/usr/bin/tshark", 0o755)
        #expect(
            root.files.programs(["tshark", "btmon", "wireshark"], path: "bin::/none:/bin:/usr/bin") == [
                "tshark"
            ])
        #expect(root.files.programs(["tshark"], path: "") == [])
    }
}
