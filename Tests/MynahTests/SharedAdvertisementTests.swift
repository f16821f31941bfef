import MynahCore
import MynahLifecycle
import Testing

@testable import Mynah

/// The advertisement of a phone's managers together, without a radio.
@Suite struct SharedAdvertisementTests {
    private typealias Part = SharedAdvertisement.Part

    private func named(_ name: String) -> Advertisement {
        var advertisement = Advertisement()
        advertisement.localName = name
        return advertisement
    }

    private func app(_ number: UInt64, _ name: String, _ mode: AdvertisingMode = .foreground) -> Part {
        Part(
            manager: number, name: "app \(number)",
            content: .app(AppAdvertisement(localName: name, serviceUUIDs: ["180F"], mode: mode)))
    }

    private let on = AdvertisingReport(isOn: true)

    @Test func `an accessory's advertisement is sent as it is, once, and stopped once`() {
        var shared = SharedAdvertisement(PhoneAdvertising())
        let part = Part(manager: 1, content: .accessory(named("one")))
        #expect(shared.next([]) == .none)
        #expect(shared.next([part]) == .advertise(named("one")))
        shared.note(on)
        #expect(shared.next([part]) == .none)
        #expect(shared.report(for: 1) == on)
        #expect(shared.report(for: 2) == .silent)
        #expect(shared.next([]) == .stop)
        shared.note(.silent)
        #expect(shared.next([]) == .none)
    }

    @Test func `a held advertisement stays as it is until it is released`() {
        var shared = SharedAdvertisement(PhoneAdvertising())
        shared.isHeld = true
        #expect(shared.next([app(1, "one")]) == .none)
        shared.isHeld = false
        guard case .advertise = shared.next([app(1, "one")]) else {
            Issue.record("nothing is advertised after the release")
            return
        }
        shared.note(on)
        shared.isHeld = true
        #expect(shared.next([]) == .none)
        shared.isHeld = false
        #expect(shared.next([]) == .stop)
    }

    @Test(arguments: ["silence", "refusal", "request"])
    func `the radio is asked for the same again after`(what: String) {
        var shared = SharedAdvertisement(PhoneAdvertising())
        let part = Part(manager: 1, content: .accessory(named("one")))
        _ = shared.next([part])
        shared.note(on)
        switch what {
        case "silence": shared.note(.silent)
        case "refusal": shared.refused()
        default: shared.requestAgain()
        }
        var stopped = shared
        #expect(shared.next([part]) == .advertise(named("one")))
        // It is stopped in any case.
        #expect(stopped.next([]) == .stop)
    }

    @Test func `two apps have one advertisement and a report each`() {
        var shared = SharedAdvertisement(PhoneAdvertising())
        let parts = [app(1, "Fred"), app(2, "Barney", .background)]
        guard case .advertise(let advertisement) = shared.next(parts) else {
            Issue.record("nothing is advertised")
            return
        }
        #expect(advertisement.exact != nil)
        shared.note(on)
        #expect(shared.report(for: 1).omitted.isEmpty)
        #expect(shared.report(for: 2).omitted.map(\.item) == ["localName"])
        let whole = shared.wholeReport()
        #expect(whole?.isOn == true)
        #expect(whole?.omitted.first?.reason.hasPrefix("app 2: ") == true)
        #expect(shared.wholeReport() == nil)
    }

    @Test func `an app that is silent now is off in its own report`() {
        var shared = SharedAdvertisement(PhoneAdvertising())
        _ = shared.next([app(1, "Fred"), app(2, "Barney", .off)])
        shared.note(on)
        #expect(shared.report(for: 1).isOn)
        #expect(!shared.report(for: 2).isOn)
    }

    @Test func `UUIDs that are changed in the background wait for the foreground`() {
        var requested = RequestedAdvertisement()
        func uuids(_ mode: AdvertisingMode) -> [BluetoothUUID]? {
            requested.part(mode, deferringChanges: true)?.serviceUUIDs
        }
        var advertisement = Advertisement()
        advertisement.serviceUUIDs = ["180F"]
        requested.start(advertisement, isInForeground: true)
        advertisement.serviceUUIDs = ["180D"]
        requested.start(advertisement, isInForeground: false)
        #expect(uuids(.background) == ["180F"])
        requested.stop()
        #expect(uuids(.background) == nil)
        requested.start(advertisement, isInForeground: false)
        #expect(uuids(.background) == [])
        #expect(uuids(.foreground) == ["180D"])
        #expect(uuids(.background) == ["180D"])
    }
}
