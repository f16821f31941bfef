import MynahCore
import MynahProfiles
package import MynahSupport
import MynahValues

/// A value as a test writes it.
package enum WrittenValue: Hashable, Sendable {
    case bytes([UInt8])
    /// Fields by their names, as in a profile: `{"heartRate": 72}`.
    case fields(JSON)

    /// Returns the value as bytes; fields are encoded with the attribute's layout.
    ///
    /// `name` is the attribute's name in error messages.
    func bytes(in layout: ValueLayout?, of name: String) throws(ControlRefusal) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .fields(let fields):
            guard let layout else {
                throw .invalid("the fields of \(name) are not known: its profile has no layout for them")
            }
            do throws(LayoutProblem) {
                return try WrittenFields.encode(fields, in: layout)
            } catch {
                throw .invalid(error.message)
            }
        }
    }
}
