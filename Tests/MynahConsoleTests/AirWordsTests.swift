import MynahCore
import MynahSupport
import Testing

@testable import MynahConsole

/// Advertising data in words.
@Suite struct AirWordsTests {
    @Test func `the words of an advertisement have its opaque bytes beside them`() {
        let data = Hex.decode("02010605030D180F18020AF405FF4C00021506162618012000022D6D") ?? []
        #expect(
            AirWords.of(AdvertisementData(data), among: [], naming: true) == [
                "heart-rate, battery", "Manufacturer Specific Data: Apple, Inc. (0x004C) 0215",
                "Service Data: fitness-machine: machine available, indoor bike 012000", "AD type 0x2D 6D",
                "TX power -12 dBm", "flags 06: general discoverable, no BR/EDR",
            ])
    }
}
