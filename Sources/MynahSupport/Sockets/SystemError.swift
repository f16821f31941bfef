import Glibc

/// An error of the system: a number of `errno` and the text for it.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package var number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    package var description: String { String(cString: strerror(number)) }
}
