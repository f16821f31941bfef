extension Situation {
    /// Without background mode or restore identifier.
    static let suspendedTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   suspended   off         -
        suspend           suspended   off         -
        terminate         terminated  off         -    terminated:system dropQueued stop:kept withdraw
        memoryPressure    terminated  off         -    terminated:memoryPressure dropQueued stop:kept withdraw
        crash             terminated  off         -    terminated:crash dropQueued stop:kept withdraw
        phoneRestarted    terminated  off         -    terminated:restart dropQueued stop:kept withdraw
        relaunchForbidden suspended   off         -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              suspended   off         -    refuse
        write             suspended   off         -    refuse
        writeCommand      suspended   off         -    refuse
        subscribe         suspended   off         -    queue
        unsubscribe       suspended   off         -    queue
        other             suspended   off         -    queue
        workBegan         suspended   off         -
        workEnded         suspended   off         -
        extraneousWork    suspended   off         -
        deadlineReached   suspended   off         -
        deadlineTooEarly  suspended   off         -
        unknown           suspended   off         -    pause stop clear queue
        resetting         suspended   off         -    pause stop clear queue
        unsupported       suspended   off         -    pause stop clear queue
        unauthorized      suspended   off         -    pause stop clear queue
        poweredOff        suspended   off         -    pause queue
        poweredOn         suspended   off         -
        """

    /// With the background mode and a restore identifier.
    static let suspendedOfKeptTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   suspended   background  -
        suspend           suspended   background  -
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    terminated  background  -    terminated:memoryPressure dropQueued
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden suspended   background  -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              woken       background  10s  woken:read deliverQueued deliver
        write             woken       background  10s  woken:write deliverQueued deliver
        writeCommand      woken       background  10s  woken:writeCommand deliverQueued deliver
        subscribe         woken       background  10s  woken:subscribe deliverQueued deliver
        unsubscribe       woken       background  10s  woken:unsubscribe deliverQueued deliver
        other             suspended   background  -    queue
        workBegan         suspended   background  -
        workEnded         suspended   background  -
        extraneousWork    suspended   background  -
        deadlineReached   suspended   background  -
        deadlineTooEarly  suspended   background  -
        unknown           suspended   off         -    pause stop clear queue
        resetting         suspended   off         -    pause stop clear queue
        unsupported       suspended   off         -    pause stop clear queue
        unauthorized      suspended   off         -    pause stop clear queue
        poweredOff        suspended   off         -    pause queue
        poweredOn         suspended   background  -
        """

    /// Without background mode or restore identifier.
    static let terminatedTable = """
        enterForeground   foreground  foreground  -    launched enteredForeground
        enterBackground   terminated  off         -
        suspend           terminated  off         -
        terminate         terminated  off         -
        memoryPressure    terminated  off         -
        crash             terminated  off         -
        phoneRestarted    terminated  off         -
        relaunchForbidden terminated  off         -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              terminated  off         -    refuse
        write             terminated  off         -    refuse
        writeCommand      terminated  off         -    discard
        subscribe         terminated  off         -    discard
        unsubscribe       terminated  off         -    discard
        other             terminated  off         -    discard
        workBegan         terminated  off         -
        workEnded         terminated  off         -
        extraneousWork    terminated  off         -
        deadlineReached   terminated  off         -
        deadlineTooEarly  terminated  off         -
        unknown           terminated  off         -    pause stop clear discard
        resetting         terminated  off         -    pause stop clear discard
        unsupported       terminated  off         -    pause stop clear discard
        unauthorized      terminated  off         -    pause stop clear discard
        poweredOff        terminated  off         -    pause discard
        poweredOn         terminated  off         -
        """

    /// With a restore identifier alone: the user's launch restores it, and no event does.
    static let terminatedRestorableTable = """
        enterForeground   foreground  foreground  -    launchedRestoring enteredForeground
        enterBackground   terminated  off         -
        suspend           terminated  off         -
        terminate         terminated  off         -
        memoryPressure    terminated  off         -
        crash             terminated  off         -
        phoneRestarted    terminated  off         -
        relaunchForbidden terminated  off         -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              terminated  off         -    refuse
        write             terminated  off         -    refuse
        writeCommand      terminated  off         -    discard
        subscribe         terminated  off         -    discard
        unsubscribe       terminated  off         -    discard
        other             terminated  off         -    discard
        workBegan         terminated  off         -
        workEnded         terminated  off         -
        extraneousWork    terminated  off         -
        deadlineReached   terminated  off         -
        deadlineTooEarly  terminated  off         -
        unknown           terminated  off         -    pause stop clear discard
        resetting         terminated  off         -    pause stop clear discard
        unsupported       terminated  off         -    pause stop clear discard
        unauthorized      terminated  off         -    pause stop clear discard
        poweredOff        terminated  off         -    pause discard
        poweredOn         terminated  off         -
        """

    /// With the background mode and a restore identifier.
    static let terminatedKeptTable = """
        enterForeground   foreground  foreground  -    launchedRestoring enteredForeground
        enterBackground   terminated  background  -
        suspend           terminated  background  -
        terminate         terminated  background  -
        memoryPressure    terminated  background  -
        crash             terminated  background  -
        phoneRestarted    terminated  background  -
        relaunchForbidden terminated  off         -    stop clear forget
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              woken       background  10s  launchedInBackgroundRestoring woken:read deliver
        write             woken       background  10s  launchedInBackgroundRestoring woken:write deliver
        writeCommand      woken       background  10s  \
        launchedInBackgroundRestoring woken:writeCommand deliver
        subscribe         woken       background  10s  launchedInBackgroundRestoring woken:subscribe deliver
        unsubscribe       woken       background  10s  launchedInBackgroundRestoring woken:unsubscribe deliver
        other             terminated  background  -    discard
        workBegan         terminated  background  -
        workEnded         terminated  background  -
        extraneousWork    terminated  background  -
        deadlineReached   terminated  background  -
        deadlineTooEarly  terminated  background  -
        unknown           terminated  off         -    pause stop clear discard
        resetting         terminated  off         -    pause stop clear discard
        unsupported       terminated  off         -    pause stop clear discard
        unauthorized      terminated  off         -    pause stop clear discard
        poweredOff        terminated  off         -    pause discard
        poweredOn         terminated  background  -
        """

    /// It had the background mode and a restore identifier, and the user ended it.
    static let quitTable = """
        enterForeground   foreground  foreground  -    launched enteredForeground
        enterBackground   quit        off         -
        suspend           quit        off         -
        terminate         quit        off         -
        memoryPressure    quit        off         -
        crash             quit        off         -
        phoneRestarted    quit        off         -
        relaunchForbidden quit        off         -
        quit              quit        off         -
        read              quit        off         -    refuse
        write             quit        off         -    refuse
        writeCommand      quit        off         -    discard
        subscribe         quit        off         -    discard
        unsubscribe       quit        off         -    discard
        other             quit        off         -    discard
        workBegan         quit        off         -
        workEnded         quit        off         -
        extraneousWork    quit        off         -
        deadlineReached   quit        off         -
        deadlineTooEarly  quit        off         -
        unknown           quit        off         -    pause stop clear discard
        resetting         quit        off         -    pause stop clear discard
        unsupported       quit        off         -    pause stop clear discard
        unauthorized      quit        off         -    pause stop clear discard
        poweredOff        quit        off         -    pause discard
        poweredOn         quit        off         -
        """
}
