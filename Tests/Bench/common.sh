# Common parts of run and control, which source it. $here and $top are set.
work=$(mktemp -d)
bus=
device=
trap 'for each in $bus $device; do kill "$each" 2>/dev/null || true; done; rm -rf "$work"' EXIT
: >"$work/figures"

# build PROGRAM…: compiles programs of this folder.
build() {
    local compiler each
    compiler=$(command -v cc || command -v clang)
    for each in "$@"; do
        # shellcheck disable=SC2046
        "$compiler" -O2 -o "$work/$each" "$here/$each.c" $(pkg-config --cflags --libs dbus-1)
    done
}

# --- A bus with nobody on it
cat >"$work/bus.conf" <<C
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=$work/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
<allow send_requested_reply="true"/><allow receive_requested_reply="true"/></policy></busconfig>
C
start_bus() {
    mkfifo "$work/ready"
    dbus-daemon --config-file="$work/bus.conf" --nofork --nopidfile --print-address=3 3>"$work/ready" 2>/dev/null &
    bus=$!
    read -r _ <"$work/ready"
    rm "$work/ready"
}
stop_bus() {
    kill "$bus" 2>/dev/null || true
    wait "$bus" 2>/dev/null || true
    bus=
}
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/bus

# figures COLUMN COMMAND…: keeps the figures that a command prints.
figures() {
    local column=$1
    shift
    if ! "$@" >"$work/out" 2>"$work/err"; then
        echo "$column did not finish: $(tail -n 3 "$work/err")" >&2
    fi
    awk -v column="$column" '{ print column, $1, $2 }' "$work/out" >>"$work/figures"
}
# measure COLUMN ARGUMENT…: the same for the driver, with a bus of its own.
measure() {
    local column=$1
    shift
    start_bus
    figures "$column" "$work/driver" "$@"
    stop_bus
}

median() { # COLUMN FIGURE
    awk -v c="$1" -v f="$2" '$1 == c && $2 == f { print $3 }' "$work/figures" | sort -g |
        awk '{ v[NR] = $1 } END { if (NR) print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
row() { printf '%-46s %12s %12s %8s  %s\n' "$1" "${2:--}" "${3:--}" "${4:-}" "${5:-}"; }

percent() { awk -v a="$1" -v b="$2" 'BEGIN { if (b) printf "%.1f %%", 100 * a / b }'; }

# --- A device on the stand-in for bluetoothd
options=(--radio bluez --events off --notification-rate 0)
profile() { # WHAT ELSE THE CHARACTERISTIC HAS
    cat <<P
mynah: 1
name: Bench
device: {name: Bench}
advertising: {serviceUUIDs: [FFF0]}
services:
  - uuid: FFF0
    characteristics:
      - {uuid: FFF1, properties: [read, write, writeWithoutResponse, notify], maxLength: 4, value: {hex: 01020304}$1}
P
}
# instructions COLUMN KIND PROFILE COMMAND…: of a request, as the difference between runs with few and with many of them.
instructions() {
    local column=$1 kind=$2 profile=$3 count totals=()
    shift 3
    for count in 300 1300; do
        # Dictionaries are in another order in each run otherwise.
        SWIFT_DETERMINISTIC_HASHING=1 measure callgrind "$kind" $count fff1 valgrind --tool=callgrind \
            --callgrind-out-file="$work/callgrind" "$@" "${options[@]}" "$work/$profile.yaml"
        totals+=("$(awk '/^totals:/ { print $2 }' "$work/callgrind")")
        rm -f "$work/callgrind"
    done
    echo "$column $kind $(((totals[1] - totals[0]) / 1000))" >>"$work/figures"
}
