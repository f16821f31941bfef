import MynahCore
import MynahSupport

/// The advertising of a device on a run's screen.
struct ScreenAir {
    private let data: [UInt8]
    private let scanResponse: [UInt8]
    /// The advertising interval in words, or `nil` if the radio does not report it.
    let interval: String?

    init(_ report: AdvertisingReport) {
        data = report.data
        scanResponse = report.scanResponse
        interval = EventText.interval(of: report)
    }

    /// The advertised name, or `nil` if there is none.
    var name: String? { whole.localName.map { PrintableText.of($0) } }

    /// The advertising data and the scan response, combined.
    private var whole: AdvertisementData {
        var advertisement = AdvertisementData(data)
        advertisement.add(scanResponse)
        return advertisement
    }

    /// The advertising data and the scan response in words; `known` are the services that can be recognized
    /// in an overflow area.
    func words(among known: [BluetoothUUID]) -> [String] {
        AirWords.of(whole, among: known, naming: true)
    }

    /// The advertising in words, each part followed by its bytes.
    func lines(among known: [BluetoothUUID], width: Int) -> [String] {
        func lines(_ title: String, _ bytes: [UInt8], _ more: [String]) -> [String] {
            let words = AirWords.of(AdvertisementData(bytes), among: known, naming: true) + more
            let isWide = width >= 60
            let indent = isWide ? 17 : 4
            var text = ScreenLine.flow(
                words, separator: AirWords.separator, indent: Self.spaces(indent), width: width)
            if !bytes.isEmpty { text.append(Self.spaces(indent) + Hex.encode(bytes)) }
            guard isWide, let first = text.first else { return ["  " + title] + text }
            text[0] = ScreenLine.pad("  " + title, indent) + first.dropFirst(indent)
            return text
        }
        return lines("advertising", data, [interval].compactMap { $0 })
            + (scanResponse.isEmpty ? [] : lines("scan response", scanResponse, []))
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
