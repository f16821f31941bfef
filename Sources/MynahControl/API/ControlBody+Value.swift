import MynahEmulator
import MynahSupport

extension ControlBody {
    /// Returns the value in the member `hex`, `text` or `fields`.
    func writtenValue() throws(ControlProblem) -> WrittenValue {
        // In hexadecimal, 512 bytes with spaces fit.
        let hex = try self.text("hex", longest: 2048)
        let text = try self.text("text")
        switch (hex, text, self["fields"]) {
        case (let hex?, nil, nil):
            guard let bytes = Hex.decode(hex) else {
                throw ControlProblem(
                    400,
                    "\"hex\" must be hexadecimal, as in \"01 ff\", not \(ControlProblem.shortened(hex))"
                )
            }
            return .bytes(bytes)
        case (nil, let text?, nil): return .bytes(Array(text.utf8))
        case (nil, nil, let fields?): return .fields(fields)
        case (nil, nil, nil):
            throw ControlProblem(400, "there is no value: give \"hex\", \"text\" or \"fields\"")
        default: throw ControlProblem(400, "only one of \"hex\", \"text\" and \"fields\" is allowed")
        }
    }
}
