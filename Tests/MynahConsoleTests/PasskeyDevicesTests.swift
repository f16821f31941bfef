import MynahConsole
import MynahSupport
import Testing

@Suite struct PasskeyDevicesTests {
    private final class Device: Sendable {
        let isAsked = Lock(false)
        let entered = Lock<[UInt32]>([])
    }

    private func add(_ device: Device, to devices: inout PasskeyDevices) {
        devices.add(ObjectIdentifier(device)) {
            device.isAsked.withLock { $0 }
        } entered: { number in
            device.entered.withLock { $0.append(number) }
        }
    }

    @Test func `a number is asked for while a device asks, and every device gets it`() {
        let (first, second) = (Device(), Device())
        var devices = PasskeyDevices()
        add(first, to: &devices)
        add(second, to: &devices)
        #expect(!devices.isNumberAsked)
        second.isAsked.withLock { $0 = true }
        #expect(devices.isNumberAsked)
        devices.enter(42)
        #expect(first.entered.withLock { $0 } == [42] && second.entered.withLock { $0 } == [42])
    }

    @Test func `a device that is removed is asked no more, and not kept`() {
        var devices = PasskeyDevices()
        weak var gone: Device?
        do {
            let device = Device()
            gone = device
            add(device, to: &devices)
            device.isAsked.withLock { $0 = true }
            devices.remove(ObjectIdentifier(device))
        }
        #expect(!devices.isNumberAsked)
        #expect(gone == nil)
    }
}
