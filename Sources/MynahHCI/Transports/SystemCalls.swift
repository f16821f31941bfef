import Glibc

// System calls whose names are also names of methods in our types.

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
