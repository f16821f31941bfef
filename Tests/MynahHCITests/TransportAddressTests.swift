import MynahCore
import MynahHCI
import Testing

@Suite struct TransportAddressTests {
    @Test(
        arguments: [
            ("tcp-client:localhost:6402", .tcpClient(host: "localhost", port: 6402), nil),
            ("tcp-client:[::1]:1", .tcpClient(host: "::1", port: 1), nil),
            ("tcp-server:6402", .tcpServer(host: "127.0.0.1", port: 6402), "tcp-server:127.0.0.1:6402"),
            ("tcp-server::0", .tcpServer(host: "127.0.0.1", port: 0), "tcp-server:127.0.0.1:0"),
            ("tcp-server:0.0.0.0:6402", .tcpServer(host: "0.0.0.0", port: 6402), nil),
            ("unix:/run/a:b", .unixClient(path: "/run/a:b"), nil),
            ("unix-server:x", .unixServer(path: "x"), nil),
            ("pty:/dev/pts/3", .serial(path: "/dev/pts/3", baud: nil), nil),
            (
                "serial:/dev/ttyACM0", .serial(path: "/dev/ttyACM0", baud: 1_000_000),
                "serial:/dev/ttyACM0,1000000"
            ),
            ("serial:/dev/ttyUSB0,115200", .serial(path: "/dev/ttyUSB0", baud: 115200), nil),
            ("user:0", .userChannel(0), nil), ("user:hci3", .userChannel(3), "user:3"),
        ] as [(String, HCITransportAddress, String?)])
    func `an address is read, and written as it is read`(
        text: String, address: HCITransportAddress, written: String?
    ) throws {
        #expect(try HCITransportAddress(parsing: text) == address)
        #expect(address.description == written ?? text)
        #expect(try HCITransportAddress(parsing: address.description) == address)
    }

    @Test(arguments: [
        ("", "nothing is not a controller's address"), ("tcp", "tcp is not a controller's address"),
        ("tcp-client:localhost", "tcp-client:localhost has no port from 0 to 65535"),
        ("tcp-client:localhost:65536", "tcp-client:localhost:65536 has no port from 0 to 65535"),
        ("tcp-client:localhost:+1", "tcp-client:localhost:+1 has no port from 0 to 65535"),
        ("tcp-client:localhost:0", "tcp-client:localhost:0 has the port 0, which accepts no connections"),
        ("tcp-client:::1:5", "tcp-client:::1:5 has colons in its host: write an IPv6 address in brackets"),
        ("unix:", "unix: has no path"), ("pty", "pty has no path"),
        (
            "serial:/dev/x,",
            "serial:/dev/x, has no valid baud rate, such as 115200 or 1000000"
        ),
        ("serial:,9600", "serial:,9600 has no valid baud rate, such as 115200 or 1000000"),
        ("user:", "user: has no adapter number; user:0 is hci0"),
        ("user:-1", "user:-1 has no adapter number; user:0 is hci0"),
        ("user:65535", "user:65535 has no adapter number; user:0 is hci0"),
    ]) func `an invalid address says why, and which forms are valid`(text: String, message: String) {
        #expect { try HCITransportAddress(parsing: text) } throws: { error in
            let error = error as? RadioError
            return error?.message == message && error?.remedy?.contains("tcp-client:HOST:PORT") == true
        }
    }

    @Test(
        arguments: [
            ("tcp:6402", .tcpServer(host: "127.0.0.1", port: 6402)),
            ("tcp:0.0.0.0:0", .tcpServer(host: "0.0.0.0", port: 0)),
            ("tcp:[::1]:6402", .tcpServer(host: "::1", port: 6402)),
            ("unix:/run/hci", .unixServer(path: "/run/hci")),
        ] as [(String, HCITransportAddress)])
    func `a place to listen at is read`(text: String, address: HCITransportAddress) throws {
        #expect(try HCITransportAddress(listeningAt: text) == address)
    }

    @Test(arguments: [
        ("", "nothing is no place to listen at"), ("6402", "6402 is no place to listen at"),
        ("tcp-server:6402", "tcp-server:6402 is no place to listen at"), ("unix:", "unix: has no path"),
        ("tcp:localhost", "tcp:localhost has no port from 0 to 65535"),
        ("tcp:::1:5", "tcp:::1:5 has colons in its host: write an IPv6 address in brackets"),
    ]) func `an invalid place to listen at says why, and which forms are valid`(text: String, message: String)
    {
        #expect { try HCITransportAddress(listeningAt: text) } throws: { error in
            let error = error as? RadioError
            return error?.message == message
                && error?.remedy == "write one of tcp:HOST:PORT, tcp:PORT, unix:PATH"
        }
    }
}
