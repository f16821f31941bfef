import MynahRun
import MynahCore
import Testing

@Suite struct AutoRadioTests {
    private let alive = AutoRadio.Emulator.alive("netsim instance 1, 127.0.0.1:6402")
    private let absent = AutoRadio.Emulator.absent("no Android emulator is running")

    @Test func `an adapter comes first`() {
        for emulator in [alive, absent] {
            #expect(AutoRadio.forDevice(bluez: nil, needsBlueZ: false, emulator: emulator) == .bluez)
        }
    }

    @Test(arguments: [.noAdapter, .unreachable, .timedOut, .lost] as [RadioError.Code])
    func `without one a live emulator is taken, else the virtual radio, with the reasons`(
        code: RadioError.Code
    ) {
        let trouble = RadioError(code, "bluetoothd is not running", remedy: "start it")
        #expect(
            AutoRadio.forDevice(bluez: trouble, needsBlueZ: false, emulator: alive)
                == .emulator(
                    RadioWarning(
                        "netsimRadio",
                        """
                        bluetoothd is not running: the device plays on the Android emulator's radio \
                        (netsim instance 1, 127.0.0.1:6402)
                        """
                    )))
        #expect(
            AutoRadio.forDevice(bluez: trouble, needsBlueZ: false, emulator: absent)
                == .virtual(
                    RadioWarning(
                        "virtualRadio",
                        """
                        bluetoothd is not running, and no Android emulator is running: the device plays \
                        on the virtual radio, where `mynah scan` sees it
                        """
                    )))
    }

    @Test func `an adapter of the kernel, or one that was named, is mended and not replaced`() {
        let trouble = RadioError(.unreachable, "bluetoothd is not running")
        for emulator in [alive, absent] {
            #expect(
                AutoRadio.forDevice(bluez: trouble, needsBlueZ: true, emulator: emulator) == .failed(trouble))
        }
    }

    @Test func `a user who may not use bluetoothd is told so`() {
        let trouble = RadioError(.notPermitted, "this user may not talk to bluetoothd")
        #expect(
            AutoRadio.forDevice(bluez: trouble, needsBlueZ: false, emulator: alive) == .failed(trouble))
    }

    @Test func `a phone takes a live emulator, else the virtual radio, and says that it skips BlueZ`() {
        #expect(
            AutoRadio.forPhone("scan", emulator: alive)
                == .emulator(
                    RadioWarning(
                        "netsimRadio",
                        """
                        scan never uses BlueZ; it uses the Android emulator's radio (netsim instance 1, \
                        127.0.0.1:6402)
                        """
                    )))
        #expect(
            AutoRadio.forPhone("connect", emulator: absent)
                == .virtual(
                    RadioWarning(
                        "virtualRadio",
                        """
                        connect never uses BlueZ; it uses the virtual radio, because no Android \
                        emulator is running
                        """
                    )))
    }
}
