import Glibc
import MynahCDBus

/// Checks the syntax of names, paths and signatures.
///
/// libdbus ends the process if it is passed an invalid one, so each is checked here first.
enum Syntax {
    static func isPath(_ string: String) -> Bool { check(string) { dbus_validate_path($0, nil) } }
    static func isInterface(_ string: String) -> Bool { check(string) { dbus_validate_interface($0, nil) } }
    static func isMember(_ string: String) -> Bool { check(string) { dbus_validate_member($0, nil) } }
    static func isErrorName(_ string: String) -> Bool { check(string) { dbus_validate_error_name($0, nil) } }
    static func isBusName(_ string: String) -> Bool { check(string) { dbus_validate_bus_name($0, nil) } }
    static func isSignature(_ string: String) -> Bool { check(string) { dbus_signature_validate($0, nil) } }
    static func isSingleSignature(_ string: String) -> Bool {
        check(string) { dbus_signature_validate_single($0, nil) }
    }

    /// Whether a text has no NUL, the only check needed: a Swift string is always valid UTF-8.
    static func isText(_ string: String) -> Bool { check(string) { _ in 1 } }

    static func require(
        _ valid: Bool, _ what: StaticString, _ string: String
    ) throws(DBusError) {
        if !valid { throw DBusError(.invalidArguments, "not \(what): \(string.debugDescription)") }
    }

    private static func check(_ string: String, _ validate: (UnsafePointer<CChar>) -> dbus_bool_t) -> Bool {
        string.withCString { strlen($0) == string.utf8.count && validate($0) != 0 }
    }
}

/// The type codes of D-Bus, because Swift does not import the macros `DBUS_TYPE_…`.
enum TypeCode {
    static let invalid: Int32 = 0
    static let byte = Int32(UInt8(ascii: "y"))
    static let boolean = Int32(UInt8(ascii: "b"))
    static let int16 = Int32(UInt8(ascii: "n"))
    static let uint16 = Int32(UInt8(ascii: "q"))
    static let int32 = Int32(UInt8(ascii: "i"))
    static let uint32 = Int32(UInt8(ascii: "u"))
    static let int64 = Int32(UInt8(ascii: "x"))
    static let uint64 = Int32(UInt8(ascii: "t"))
    static let double = Int32(UInt8(ascii: "d"))
    static let string = Int32(UInt8(ascii: "s"))
    static let objectPath = Int32(UInt8(ascii: "o"))
    static let signature = Int32(UInt8(ascii: "g"))
    static let fileDescriptor = Int32(UInt8(ascii: "h"))
    static let array = Int32(UInt8(ascii: "a"))
    static let variant = Int32(UInt8(ascii: "v"))
    static let structure = Int32(UInt8(ascii: "r"))
    static let dictEntry = Int32(UInt8(ascii: "e"))

    /// The letter of a type code in a signature.
    static func letter(_ code: Int32) -> String {
        UInt8(exactly: code).map { String(UnicodeScalar($0)) } ?? "?"
    }
}
