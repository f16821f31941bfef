import MynahCGLib

/// A GLib event source whose functions prepare, check and dispatch are methods of this class.
///
/// The GSource retains the object until it is destroyed, so no dispatch uses a freed object.
class LoopSource: @unchecked Sendable {
    // `@unchecked`: GLib protects the GSource. State of subclasses is used only on the loop's thread, or its
    // comment says how it is protected.
    let raw: UnsafeMutablePointer<GSource>

    init() {
        let objectOffset = MemoryLayout<GSource>.stride
        raw = g_source_new(Self.functions, UInt32(objectOffset + MemoryLayout<UnsafeRawPointer>.size))
        // No dispatch runs the loop. Without this flag GLib removes the source's file descriptors from the
        // poll around each dispatch, which costs two wake-ups a request.
        g_source_set_can_recurse(raw, 1)
        UnsafeMutableRawPointer(raw).storeBytes(
            of: Unmanaged.passRetained(self).toOpaque(), toByteOffset: objectOffset,
            as: UnsafeMutableRawPointer.self)
    }

    /// Returns whether the source has events; the loop calls this before it sleeps.
    func prepare() -> Bool { false }

    /// Returns whether the source has events; the loop calls this after it has slept.
    func check() -> Bool { prepare() }

    /// Handles the events of the source; also called at the time set by `setReadyTime`.
    func dispatch() {}

    func attach(to context: OpaquePointer) {
        g_source_attach(raw, context)
    }

    /// Sets the time at which `dispatch` is called even without events; `nil` means never.
    ///
    /// The time is in microseconds of the monotonic clock.
    func setReadyTime(_ time: Int64?) {
        g_source_set_ready_time(raw, gint64(time ?? -1))
    }

    /// The present time of the monotonic clock, in microseconds.
    static var now: Int64 { Int64(g_get_monotonic_time()) }

    /// Removes the source from the loop, and releases the object; must be called exactly once.
    func destroy() {
        g_source_destroy(raw)
        g_source_unref(raw)
    }

    /// The functions of all sources, which are never freed.
    // `unsafe`: the table is complete before any thread can see it, and GLib only reads it.
    nonisolated(unsafe) private static let functions: UnsafeMutablePointer<GSourceFuncs> = {
        // `unsafe`: the table is written only here, and only read afterwards.
        let table = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        var functions = GSourceFuncs()
        functions.prepare = { source, timeout in
            timeout?.pointee = -1
            return LoopSource.object(of: source)?.prepare() == true ? 1 : 0
        }
        functions.check = { source in LoopSource.object(of: source)?.check() == true ? 1 : 0 }
        functions.dispatch = { source, _, _ in
            LoopSource.object(of: source)?.dispatch()
            return 1
        }
        functions.finalize = { source in
            guard let source else { return }
            LoopSource.reference(in: source).release()
        }
        table.initialize(to: functions)
        return table
    }()

    private static func reference(in source: UnsafeMutablePointer<GSource>) -> Unmanaged<LoopSource> {
        let pointer = UnsafeRawPointer(source).load(
            fromByteOffset: MemoryLayout<GSource>.stride, as: UnsafeRawPointer.self)
        return Unmanaged.fromOpaque(pointer)
    }

    private static func object(of source: UnsafeMutablePointer<GSource>?) -> LoopSource? {
        guard let source else { return nil }
        return reference(in: source).takeUnretainedValue()
    }
}
