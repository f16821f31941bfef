import Dispatch
import MynahConsole
import MynahSupport

import Glibc

/// The lines of standard input.
enum StandardInput {
    /// Lines that are read one at a time, when their taker waits, so that the writer of a pipe waits too and
    /// nothing is stored.
    static func lines() -> LineFeed {
        let feed = LineFeed()
        // A thread of its own: standard input blocks, and may be any file.
        let queue = DispatchQueue(label: "mynah.input")
        feed.onEmpty { [feed] in queue.async { read(into: feed) } }
        return feed
    }

    /// Reads until the taker has its line.
    private static func read(into feed: LineFeed) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while feed.isAwaited {
            let count = Glibc.read(0, &buffer, buffer.count)
            let code = errno
            switch count {
            case 1...: feed.add(Array(buffer[..<count]))
            case 0: feed.finish()
            default:
                switch code {
                case EINTR: continue
                case EAGAIN:
                    var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                    _ = poll(&ready, 1, -1)
                default: feed.fail(String(cString: strerror(code)))
                }
            }
        }
    }
}
