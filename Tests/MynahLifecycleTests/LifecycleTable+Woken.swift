extension Situation {
    /// A read woke it, four of its ten seconds are over.
    static let wokenTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   woken       background  6s
        suspend           suspended   background  -    suspended
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    woken       background  6s
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden woken       background  6s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              woken       background  10s  deliver
        write             woken       background  10s  deliver
        writeCommand      woken       background  10s  deliver
        subscribe         woken       background  10s  deliver
        unsubscribe       woken       background  10s  deliver
        other             woken       background  6s   deliver
        workBegan         woken       background  6s
        workEnded         woken       background  6s
        extraneousWork    woken       background  6s   extraneous
        deadlineReached   suspended   background  -    suspended
        deadlineTooEarly  woken       background  1ns
        unknown           woken       off         6s   pause stop clear deliver
        resetting         woken       off         6s   pause stop clear deliver
        unsupported       woken       off         6s   pause stop clear deliver
        unauthorized      woken       off         6s   pause stop clear deliver
        poweredOff        woken       off         6s   pause deliver
        poweredOn         woken       background  6s
        """

    /// A read woke it, it has work, four of its ten seconds are over.
    static let wokenBusyTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   woken       background  6s
        suspend           suspended   background  -    suspended
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    woken       background  6s
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden woken       background  6s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              woken       background  10s  deliver
        write             woken       background  10s  deliver
        writeCommand      woken       background  10s  deliver
        subscribe         woken       background  10s  deliver
        unsubscribe       woken       background  10s  deliver
        other             woken       background  6s   deliver
        workBegan         woken       background  6s
        workEnded         woken       background  6s
        extraneousWork    woken       background  6s   extraneous
        deadlineReached   throttled   background  10s  throttled
        deadlineTooEarly  woken       background  1ns
        unknown           woken       off         6s   pause stop clear deliver
        resetting         woken       off         6s   pause stop clear deliver
        unsupported       woken       off         6s   pause stop clear deliver
        unauthorized      woken       off         6s   pause stop clear deliver
        poweredOff        woken       off         6s   pause deliver
        poweredOn         woken       background  6s
        """

    /// A read woke it, its work outlasted the ten seconds, and four of the last ten are over.
    static let throttledTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   throttled   background  6s
        suspend           suspended   background  -    suspended
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    throttled   background  6s
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden throttled   background  6s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              throttled   background  6s   deliver
        write             throttled   background  6s   deliver
        writeCommand      throttled   background  6s   deliver
        subscribe         throttled   background  6s   deliver
        unsubscribe       throttled   background  6s   deliver
        other             throttled   background  6s   deliver
        workBegan         throttled   background  6s
        workEnded         suspended   background  -    suspended
        extraneousWork    throttled   background  6s   extraneous
        deadlineReached   terminated  background  -    terminated:overran dropQueued
        deadlineTooEarly  throttled   background  1ns
        unknown           throttled   off         6s   pause stop clear deliver
        resetting         throttled   off         6s   pause stop clear deliver
        unsupported       throttled   off         6s   pause stop clear deliver
        unauthorized      throttled   off         6s   pause stop clear deliver
        poweredOff        throttled   off         6s   pause deliver
        poweredOn         throttled   background  6s
        """

    /// Without the background mode, its work outlasted all its time, and four of the last ten seconds are
    /// over.
    static let throttledForegroundOnlyTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   throttled   off         6s
        suspend           suspended   off         -    suspended
        terminate         terminated  off         -    terminated:system dropQueued stop:kept withdraw
        memoryPressure    throttled   off         6s
        crash             terminated  off         -    terminated:crash dropQueued stop:kept withdraw
        phoneRestarted    terminated  off         -    terminated:restart dropQueued stop:kept withdraw
        relaunchForbidden throttled   off         6s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              throttled   off         6s   refuse
        write             throttled   off         6s   refuse
        writeCommand      throttled   off         6s   refuse
        subscribe         throttled   off         6s   queue
        unsubscribe       throttled   off         6s   queue
        other             throttled   off         6s   queue
        workBegan         throttled   off         6s
        workEnded         suspended   off         -    suspended
        extraneousWork    throttled   off         6s
        deadlineReached   terminated  off         -    terminated:overran dropQueued stop:kept withdraw
        deadlineTooEarly  throttled   off         1ns
        unknown           throttled   off         6s   pause stop clear queue
        resetting         throttled   off         6s   pause stop clear queue
        unsupported       throttled   off         6s   pause stop clear queue
        unauthorized      throttled   off         6s   pause stop clear queue
        poweredOff        throttled   off         6s   pause queue
        poweredOn         throttled   off         6s
        """
}
