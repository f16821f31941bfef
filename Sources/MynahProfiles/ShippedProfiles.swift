// swift-format-ignore-file
// Made by profiles/embed from profiles/*.yaml; edit those.
enum ShippedProfiles {
    static let all: [(name: String, text: String)] = [
        (
            "heart-rate",
            #"""
            # A chest strap: phones find it, read where it is worn and watch the heart rate move.
            mynah: 1
            name: Heart rate monitor

            device:
              name: Mynah HRM
              appearance: heart-rate-belt

            advertising:
              serviceUUIDs: [heart-rate, battery]
              interval: 100 ms

            services:
              - uuid: heart-rate
                characteristics:
                  # Notified once a second while somebody is subscribed, and readable, which a real strap is not.
                  - uuid: heart-rate-measurement
                    properties: [read, notify]
                    value: {generate: heart-rate, min: 60, max: 100, period: 30 s}
                    every: 1 s
                  - uuid: body-sensor-location
                    properties: [read]
                    value: {hex: 01}            # chest
                  # 01 resets the energy expended. Make it refuse with `errors: {write: 0x80}`.
                  - uuid: heart-rate-control-point
                    properties: [write]
                    maxLength: 1

              - uuid: battery
                characteristics:
                  - uuid: battery-level
                    properties: [read, notify]
                    value: {hex: 64}            # 100 %
            """# + "\n"
        ),
    ]
}
