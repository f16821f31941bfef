# make run plays a heart-rate monitor; make test runs every test. Both install what they need and do no work twice.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: run demo docs simulations test test-build test-beside-the-lab test-in-the-lab interop broadcasts lab lab-all lab-here lab-slow bench \
    bench-air corpus fuzz kill-test kill-test-central kill-pytest histories transcripts transcripts-real format build lint python unit tsan api-digest \
    without-headers schemathesis page python-client install deb packages

PROFILE ?= profiles/heart-rate.yaml
# The device that the demo's phone connects to.
DEVICE ?= Mynah HRM
JOBS := $(shell nproc 2>/dev/null || echo 2)

# Release and debug have a folder each, so that neither makes the other build again. Nothing looks names up in the
# program, and without a table of them it is 3 MB smaller.
RELEASE := -c release --static-swift-stdlib --scratch-path .build-release -j $(JOBS) -Xlinker --no-export-dynamic
DEBUG := -Xswiftc -warnings-as-errors -j $(JOBS)
# Tests at a time, if this Swift can limit them. With all at once, a test may wait longer for a processor than programs
# wait for the test.
WIDTH = $(if $(shell swift test --help-hidden 2>/dev/null | grep maximum-parallelization-width),--experimental-maximum-parallelization-width 8)
MYNAH := .build-release/release/mynah

BUILD_PACKAGES := libdbus-1-dev libglib2.0-dev libssl-dev libyaml-dev pkg-config
RUN_PACKAGES := $(BUILD_PACKAGES) bluez dbus
LAB_PACKAGES := bluez dbus qemu-system-x86 busybox-static kmod python3 python3-venv
TEST_PACKAGES := $(BUILD_PACKAGES) $(LAB_PACKAGES) tshark
PAGE_PACKAGES := chromium chromium-driver

# The packages for `make build`; other targets need more.
PACKAGES := $(BUILD_PACKAGES)

# Without an adapter there is nothing for bluetoothd to do.
HAS_ADAPTER := $(wildcard /sys/class/bluetooth/hci*)

run: PACKAGES := $(if $(HAS_ADAPTER),$(RUN_PACKAGES),$(BUILD_PACKAGES))
run: build
ifeq ($(HAS_ADAPTER),)
	@echo "No Bluetooth adapter here, so the device plays on the virtual radio. A phone for it, in a second terminal:"
	@echo "    $(MYNAH) scan"
	@echo "    $(MYNAH) connect 'Mynah HRM'"
endif
	@exec $(MYNAH) run $(PROFILE)

# The device and a phone beside it in one terminal, on an air of their own.
demo: build
	@air=$$(mktemp -d); export MYNAH_AIR=$$air; \
	$(MYNAH) run --radio virtual $(PROFILE) </dev/null > >(sed -u 's/^/device  | /') & device=$$!; \
	trap 'kill -INT $$device 2>/dev/null || true; wait; rm -rf "$$air"' EXIT; \
	$(MYNAH) scan --radio virtual --timeout 1s </dev/null | sed -u 's/^/phone   | /'; \
	printf '%s\n' 'read body-sensor-location' 'subscribe heart-rate-measurement' 'wait 5 s' \
	    'write heart-rate-control-point 01' 'unsubscribe heart-rate-measurement' | \
	$(MYNAH) connect "$(DEVICE)" --radio virtual | sed -u 's/^/phone   | /'

build:
	@command -v swift >/dev/null || { echo "Swift 6.2 or later is missing: see swift.org/install"; exit 1; }
	@.ci/need $(PACKAGES)
	@.ci/quietly "Building mynah (minutes the first time)" swift build $(RELEASE) --product mynah

lint:
	@.ci/quietly "Checking the style" swift format lint --strict --parallel -r Sources Tests Examples Package.swift
	@.ci/quietly "Checking the rules for words" .ci/words --self-check
	@.ci/quietly "Checking words and the width of lines" .ci/words
	@.ci/quietly "Checking what a build prints" .ci/quietly-check

MODULES := .build/debug/Modules
unit: test-build
	@KEEP='^.{0,4}Test run with|^/[^ ]*: warning:|^warning:' RECAP='recorded an issue|failed after|Fatal error' \
	    .ci/quietly "Running the unit tests" \
	    timeout 1800 swift test $(DEBUG) --skip-build --disable-xctest $(WIDTH)
	@.ci/quietly "Compiling what users of the library write" Tests/PublicAPI/users $(MODULES)
	@.ci/quietly "Comparing the library's public declarations" Tests/PublicAPI/digest --modules $(MODULES)
	@.ci/quietly "Running the examples" Tests/Examples/run .build/debug
	@.ci/quietly "Playing runs in virtual time twice" Tests/Simulation/run --mynah .build/debug/mynah --minutes 1

test-build:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building the tests, warnings as errors (minutes the first time)" swift build $(DEBUG) --build-tests

# The library's public declarations as they are now, for Tests/PublicAPI: `make unit` compares with them.
api-digest:
	@.ci/need $(BUILD_PACKAGES) python3
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@Tests/PublicAPI/digest --modules $(MODULES) --update

# The Python client and its pytest plugin, with the program of the debug build, the control API as it describes itself,
# and the layouts of values.
PYTHON := .build-python
OPENAPI_SECONDS := 20
python: python-client
	@KEEP='passed|failed' .ci/quietly "Running the tests of the Python client" \
	    env MYNAH=$(CURDIR)/.build/debug/mynah timeout 900 $(PYTHON)/bin/pytest -q -p no:cacheprovider clients/python
	@KEEP='^seed|[0-9] generated' .ci/quietly "Sending the control API requests for $(OPENAPI_SECONDS) s" \
	    $(PYTHON)/bin/python Tests/OpenAPI/run --mynah .build/debug/mynah --seconds $(OPENAPI_SECONDS) --seed 1
	@.ci/quietly "Building the program that prints the layouts" swift build $(DEBUG) --product mynah-layouts
	@KEEP='^[0-9]+ layouts' .ci/quietly "Comparing the layouts with the SIG's files" \
	    $(PYTHON)/bin/python Tests/Layouts/run --program .build/debug/mynah-layouts

python-client:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building mynah for the Python client" swift build $(DEBUG) --product mynah
	@[ -x $(PYTHON)/bin/python ] || python3 -m venv $(PYTHON)
	@.ci/quietly "Installing the Python client" \
	    $(PYTHON)/bin/pip install -q --upgrade pytest -r Tests/OpenAPI/requirements.txt ./clients/python

# The page of the control API in Debian's Chromium; its pictures are in .build/page. PICTURE is the one in the README: it
# is written if the page looks different, and not by make test, as other machines have other fonts.
PICTURE := page/page.webp
page: python-client
	@.ci/need $(PAGE_PACKAGES)
	@$(PYTHON)/bin/pip install -q -r Tests/Page/requirements.txt
	@KEEP='^[0-9]+ |^10,000|^a filter|^the p' .ci/quietly "Using the page in a browser" \
	    timeout 900 $(PYTHON)/bin/python Tests/Page/run --mynah .build/debug/mynah $(if $(PICTURE),--readme $(PICTURE))

# Requests of every kind, made from the control API's OpenAPI document, for 5 minutes or so many seconds. Each run has
# another seed, and make test always the same one; OPENAPI_SEED repeats a run: make schemathesis OPENAPI_SEED='--seed 7'
schemathesis: OPENAPI_SECONDS := 300
schemathesis: python-client
	@$(PYTHON)/bin/python Tests/OpenAPI/run --mynah .build/debug/mynah --seconds $(OPENAPI_SECONDS) $(OPENAPI_SEED)

# A package that needs no radio of ours builds where libdbus and GLib are missing.
without-headers:
	@STEPS=1 .ci/quietly "Building a package that depends on the product Mynah alone" Tests/PublicAPI/without-headers

# The library's pages, in .build/docs: a static site.
docs: PACKAGES := $(TEST_PACKAGES)
docs:
	@.ci/need $(PACKAGES)
	@.ci/quietly "Building the library and its tests" swift build $(DEBUG) --build-tests
	@.ci/quietly "Making the documentation pages" .ci/docs

# Installs the program with its manual pages, completions, profiles and service; PREFIX and DESTDIR are as usual.
PREFIX := /usr/local
DESTDIR :=
install: PACKAGES := $(BUILD_PACKAGES) binutils python3
install: build
	@packaging/stage $(MYNAH) "$(DESTDIR)" "$(PREFIX)"
	@echo "mynah is in $(DESTDIR)$(PREFIX)/bin"

# The Debian package, .build-release/mynah_VERSION_ARCHITECTURE.deb, and mynah.deb, which is a link to it.
deb: PACKAGES := $(BUILD_PACKAGES) binutils python3 dpkg-dev
deb: build
	@package=$$(packaging/deb $(MYNAH) .build-release) && ln -f $$package .build-release/mynah.deb && echo $$package

# The package in bare trees of bookworm and trixie: installed, played and purged; and the container's root.
packages: PACKAGES := $(BUILD_PACKAGES) binutils python3 dpkg-dev debootstrap lintian systemd python3-seccomp
packages: deb
	@lintian --fail-on error,warning .build-release/mynah.deb
	@Tests/Packages/service packaging/mynah@.service $(MYNAH)
	@Tests/Packages/run .build-release/mynah.deb

# Data races in code with threads: locks, executors, transports, hosts and phones. TSAN_JOBS=1 leaves a busy machine
# alone.
TSAN_JOBS := $(JOBS)
TSAN := --sanitize=thread --scratch-path .build-tsan -j $(TSAN_JOBS)
TSAN_TESTS := ^Mynah(Support|HCI|Host|DBus|Emulator|Control|)Tests\.
tsan:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building for ThreadSanitizer (many minutes the first time)" swift build $(TSAN) --build-tests
	@KEEP='^.{0,4}Test run with|WARNING: ThreadSanitizer' \
	    TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/tsan-suppressions history_size=4" \
	    .ci/quietly "Running the tests that have threads with ThreadSanitizer" \
	    timeout 3600 swift test $(TSAN) --skip-build --disable-xctest $(WIDTH) --filter '$(TSAN_TESTS)'

# The debug build uses every core. After it, two rows of steps run beside each other, because the tests and the lab wait
# more than they work. The steps of a row follow one another: most of the first share a build folder.
test: lint
	@.ci/need $(TEST_PACKAGES) $(PAGE_PACKAGES)
	@$(MAKE) --no-print-directory test-build
	@$(MAKE) -j2 --no-print-directory --output-sync=line test-beside-the-lab test-in-the-lab

test-beside-the-lab:
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory without-headers
	@$(MAKE) --no-print-directory python
	@$(MAKE) --no-print-directory page PICTURE=
	@Tests/Fuzz/run --quick --seconds 5 --jobs 1
	@$(MAKE) --no-print-directory interop
	@$(MAKE) --no-print-directory lab-here

test-in-the-lab: PACKAGES := $(TEST_PACKAGES)
test-in-the-lab: lab-slow
	@.ci/quietly "Checking the size of the program and the libraries that it needs" .ci/program $(MYNAH)
	@Tests/Lab/lab bookworm --mynah $(MYNAH)

# Without a virtual machine: mynah's own host on a virtual controller of this machine.
lab-here: PACKAGES := $(TEST_PACKAGES)
lab-here: lab-slow
	@Tests/Lab/lab here --mynah $(MYNAH)

lab-slow: build
	@.ci/quietly "Building the lab's slow device" swift build $(RELEASE) --product mynah-lab-slow

# mynah run, killed right after it has reported what it keeps: so many times after each of three events.
KILL_TRIES := 334
kill-test:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@MYNAH_KILL_TRIES=$(KILL_TRIES) swift test $(DEBUG) --skip-build --disable-xctest --filter '\.KillTests'

# The same with an app that is a central, killed at random instants, two runs at a time.
CENTRAL_KILLS := 1000
kill-test-central:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@MYNAH_CENTRAL_KILLS=$(CENTRAL_KILLS) swift test $(DEBUG) --skip-build --disable-xctest --filter CentralKillTests

# Twenty kills of a pytest whose Mynah plays, by each of SIGKILL, SIGTERM and SIGINT: no process and no file may stay.
PYTEST_KILLS := 20
kill-pytest: python-client
	@MYNAH=$(CURDIR)/.build/debug/mynah MYNAH_PYTEST_KILLS=$(PYTEST_KILLS) \
	    $(PYTHON)/bin/pytest -q -p no:cacheprovider clients/python/tests/test_kills.py

# Histories of two apps with both roles; make unit plays the first ten thousand of them.
HISTORIES := 50000
histories:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@MYNAH_HISTORIES=$(HISTORIES) swift test $(DEBUG) --skip-build --disable-xctest --filter PhoneHistoryTests

# Runs in virtual time, each played in two processes, whose events and captures must be the same bytes. OTHER is another
# build for the second process: make simulations OTHER=.build-release/release/mynah
SEEDS := 200
simulations:
	@.ci/need $(BUILD_PACKAGES) python3
	@.ci/quietly "Building mynah for the simulations" swift build $(DEBUG) --product mynah
	@Tests/Simulation/run --mynah .build/debug/mynah --seeds $(SEEDS) $(if $(OTHER),--other $(OTHER))

# Records what the commands in Tests/Transcripts, the README and the articles print, and the screens in
# Tests/MynahConsoleTests/Screens; read the difference before it is committed. Of the README and the articles it replaces
# only lines that differ.
transcripts:
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@MYNAH_RECORD=1 swift test $(DEBUG) --skip-build --disable-xctest \
	    --filter 'TranscriptTests|ScreenFileTests|DocumentTests'

# Plays the transcripts with the program, in real time, which takes as long as their commands plan; and compares runs in
# real and in virtual time.
transcripts-real:
	@.ci/quietly "Building the tests" swift build $(DEBUG) --build-tests
	@MYNAH_REAL=1 swift test $(DEBUG) --skip-build --disable-xctest --filter TranscriptTests
	@Tests/Simulation/real --mynah .build/debug/mynah

interop:
	@.ci/need $(TEST_PACKAGES)
	@for product in mynah-interop mynah; do \
	    .ci/quietly "Building $$product for the stacks that are not ours" swift build $(DEBUG) --product $$product; \
	done
	@Tests/Interop/interop --helper .build/debug/mynah-interop --mynah .build/debug/mynah
	@Tests/Interop/captures --mynah .build/debug/mynah
	@$(MAKE) --no-print-directory broadcasts
	@KEEP='^[0-9]+ devices' .ci/quietly "Importing and playing captures of made-up devices" \
	    Tests/Corpus/run --mynah .build/debug/mynah --quick

# The data of broadcasters, as Home Assistant's parsers read it; `make interop` does it.
BROADCASTS := .build-broadcasts
broadcasts:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building mynah for the parsers of broadcasts" swift build $(DEBUG) --product mynah
	@[ -x $(BROADCASTS)/bin/python ] || python3 -m venv $(BROADCASTS)
	@.ci/quietly "Installing the parsers of broadcasts" \
	    $(BROADCASTS)/bin/pip install -q -r Tests/Interop/requirements.txt
	@$(BROADCASTS)/bin/python Tests/Interop/broadcasts --mynah .build/debug/mynah

# Captures of some forty made-up devices, imported and played, and mutated ones. CI plays a few of them. Or those of another
# seed, or captures of your own: make corpus CORPUS='--seed 7'; make corpus CORPUS='--captures FILE ...'
CORPUS := --mutants 20
corpus:
	@.ci/need $(TEST_PACKAGES)
	@.ci/quietly "Building mynah for the corpus" swift build $(DEBUG) --product mynah
	@Tests/Corpus/run --mynah .build/debug/mynah $(CORPUS)

lab: PACKAGES := $(TEST_PACKAGES)
lab: build
	@Tests/Lab/lab bookworm --mynah $(MYNAH) --demo $(PROFILE)

lab-all: PACKAGES := $(TEST_PACKAGES) debootstrap
lab-all: lab-slow
	@status=0; for each in $$(awk '!/^#/ && NF { print $$1 }' Tests/Lab/generations); do \
	    Tests/Lab/lab $$each --mynah $(MYNAH) || status=1; \
	done; exit $$status

# OTHER is another release build, whose instructions a request are counted for comparison.
OTHER :=
bench: PACKAGES := $(RUN_PACKAGES) binutils python3 python3-venv valgrind
bench: build
	@Tests/Bench/run $(MYNAH)
	@echo
	@Tests/Bench/control $(if $(OTHER),-b $(OTHER)) $(MYNAH)
	@echo
	@Tests/Bench/check $(MYNAH)
	@echo
	@Tests/Bench/faults $(MYNAH)
	@echo
	@.ci/quietly "Building the benchmark of the air" swift build $(RELEASE) --product mynah-bench-hci
	@Tests/Bench/crowd $(MYNAH) .build-release/release/mynah-bench-hci
	@echo
	@Tests/Bench/simulated $(MYNAH)

# The processor time of 50 processes that share an air, for a minute; or others: make bench-air PROCESSES=30 BENCH_SECONDS=20
PROCESSES := 50
BENCH_SECONDS := 60
bench-air: build
	@Tests/Bench/air $(MYNAH) $(PROCESSES) $(BENCH_SECONDS)

# Each decoder for so many seconds, or one: make fuzz FUZZ_SECONDS=3600 TARGET=att-server
FUZZ_SECONDS := 600
TARGET :=
fuzz:
	@.ci/need $(BUILD_PACKAGES)
	@Tests/Fuzz/run --seconds $(FUZZ_SECONDS) $(TARGET)

format:
	@swift format --in-place --parallel -r Sources Tests Examples Package.swift
