#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// Calls of the system whose names types of ours have as well.

func systemSocket(_ domain: Int32, _ type: Int32, _ number: Int32) -> Int32 { socket(domain, type, number) }

func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}

func systemListen(_ descriptor: Int32) -> Int32 { listen(descriptor, 4096) }

func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}

func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}

func systemWrite(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { write(descriptor, bytes, bytes.count) }

func systemSend(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
    send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
}

/// A thread that does one thing.
enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts it; without a thread, it is done here.
    static func start(_ body: @escaping @Sendable () -> Void) {
        if !attempt(body) { body() }
    }

    /// Starts it; returns `false` if the system gives no thread.
    static func attempt(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Keeps signals from this thread, also those that its own writing causes: SIGPIPE and SIGXFSZ would end the process.
    static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
