import Glibc

/// An error number of `errno`, with the system's text.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package var number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    package var description: String { String(cString: strerror(number)) }
}
