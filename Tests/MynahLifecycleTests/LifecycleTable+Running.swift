// Each row: what happens, then the state it ends in, how the app is advertised there, the time to the next
// deadline, and the actions.
extension Situation {
    /// An app with the background mode and a restore identifier, never started.
    static let notRunningTable = """
        enterForeground   foreground  foreground  -    launched enteredForeground
        enterBackground   notRunning  off         -
        suspend           notRunning  off         -
        terminate         notRunning  off         -
        memoryPressure    notRunning  off         -
        crash             notRunning  off         -
        phoneRestarted    notRunning  off         -
        relaunchForbidden notRunning  off         -
        quit              notRunning  off         -
        read              notRunning  off         -    refuse
        write             notRunning  off         -    refuse
        writeCommand      notRunning  off         -    discard
        subscribe         notRunning  off         -    discard
        unsubscribe       notRunning  off         -    discard
        other             notRunning  off         -    discard
        workBegan         notRunning  off         -
        workEnded         notRunning  off         -
        extraneousWork    notRunning  off         -
        deadlineReached   notRunning  off         -
        deadlineTooEarly  notRunning  off         -
        unknown           notRunning  off         -    pause stop clear discard
        resetting         notRunning  off         -    pause stop clear discard
        unsupported       notRunning  off         -    pause stop clear discard
        unauthorized      notRunning  off         -    pause stop clear discard
        poweredOff        notRunning  off         -    pause discard
        poweredOn         notRunning  off         -
        """

    /// On the screen, without background mode or restore identifier.
    static let foregroundTable = """
        enterForeground   foreground  foreground  -
        enterBackground   background  off         5s   enteredBackground
        suspend           suspended   off         -    enteredBackground suspended
        terminate         terminated  off         -    terminated:system dropQueued stop:kept withdraw
        memoryPressure    foreground  foreground  -
        crash             terminated  off         -    terminated:crash dropQueued stop:kept withdraw
        phoneRestarted    terminated  off         -    terminated:restart dropQueued stop:kept withdraw
        relaunchForbidden foreground  foreground  -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              foreground  foreground  -    deliver
        write             foreground  foreground  -    deliver
        writeCommand      foreground  foreground  -    deliver
        subscribe         foreground  foreground  -    deliver
        unsubscribe       foreground  foreground  -    deliver
        other             foreground  foreground  -    deliver
        workBegan         foreground  foreground  -
        workEnded         foreground  foreground  -
        extraneousWork    foreground  foreground  -
        deadlineReached   foreground  foreground  -
        deadlineTooEarly  foreground  foreground  -
        unknown           foreground  off         -    pause stop clear deliver
        resetting         foreground  off         -    pause stop clear deliver
        unsupported       foreground  off         -    pause stop clear deliver
        unauthorized      foreground  off         -    pause stop clear deliver
        poweredOff        foreground  off         -    pause deliver
        poweredOn         foreground  foreground  -
        """

    /// On the screen, with the background mode and a restore identifier.
    static let foregroundOfKeptTable = """
        enterForeground   foreground  foreground  -
        enterBackground   background  background  5s   enteredBackground
        suspend           suspended   background  -    enteredBackground suspended
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    foreground  foreground  -
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden foreground  foreground  -
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              foreground  foreground  -    deliver
        write             foreground  foreground  -    deliver
        writeCommand      foreground  foreground  -    deliver
        subscribe         foreground  foreground  -    deliver
        unsubscribe       foreground  foreground  -    deliver
        other             foreground  foreground  -    deliver
        workBegan         foreground  foreground  -
        workEnded         foreground  foreground  -
        extraneousWork    foreground  foreground  -
        deadlineReached   foreground  foreground  -
        deadlineTooEarly  foreground  foreground  -
        unknown           foreground  off         -    pause stop clear deliver
        resetting         foreground  off         -    pause stop clear deliver
        unsupported       foreground  off         -    pause stop clear deliver
        unauthorized      foreground  off         -    pause stop clear deliver
        poweredOff        foreground  off         -    pause deliver
        poweredOn         foreground  foreground  -
        """

    /// Without the background mode, two of its five seconds off the screen are over.
    static let backgroundTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   background  off         3s
        suspend           suspended   off         -    suspended
        terminate         terminated  off         -    terminated:system dropQueued stop:kept withdraw
        memoryPressure    background  off         3s
        crash             terminated  off         -    terminated:crash dropQueued stop:kept withdraw
        phoneRestarted    terminated  off         -    terminated:restart dropQueued stop:kept withdraw
        relaunchForbidden background  off         3s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              background  off         3s   refuse
        write             background  off         3s   refuse
        writeCommand      background  off         3s   refuse
        subscribe         background  off         3s   queue
        unsubscribe       background  off         3s   queue
        other             background  off         3s   queue
        workBegan         background  off         3s
        workEnded         background  off         3s
        extraneousWork    background  off         3s
        deadlineReached   suspended   off         -    suspended
        deadlineTooEarly  background  off         1ns
        unknown           background  off         3s   pause stop clear queue
        resetting         background  off         3s   pause stop clear queue
        unsupported       background  off         3s   pause stop clear queue
        unauthorized      background  off         3s   pause stop clear queue
        poweredOff        background  off         3s   pause queue
        poweredOn         background  off         3s
        """

    /// Without the background mode, its five seconds are over and it has work: two of ten more are over.
    static let backgroundBusyTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   background  off         8s
        suspend           suspended   off         -    suspended
        terminate         terminated  off         -    terminated:system dropQueued stop:kept withdraw
        memoryPressure    background  off         8s
        crash             terminated  off         -    terminated:crash dropQueued stop:kept withdraw
        phoneRestarted    terminated  off         -    terminated:restart dropQueued stop:kept withdraw
        relaunchForbidden background  off         8s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              background  off         8s   refuse
        write             background  off         8s   refuse
        writeCommand      background  off         8s   refuse
        subscribe         background  off         8s   queue
        unsubscribe       background  off         8s   queue
        other             background  off         8s   queue
        workBegan         background  off         8s
        workEnded         suspended   off         -    suspended
        extraneousWork    background  off         8s
        deadlineReached   throttled   off         10s  throttled
        deadlineTooEarly  background  off         1ns
        unknown           background  off         8s   pause stop clear queue
        resetting         background  off         8s   pause stop clear queue
        unsupported       background  off         8s   pause stop clear queue
        unauthorized      background  off         8s   pause stop clear queue
        poweredOff        background  off         8s   pause queue
        poweredOn         background  off         8s
        """

    /// With the background mode and a restore identifier, two of its five seconds off the screen are over.
    static let backgroundOfKeptTable = """
        enterForeground   foreground  foreground  -    enteredForeground deliverQueued
        enterBackground   background  background  3s
        suspend           suspended   background  -    suspended
        terminate         terminated  background  -    terminated:system dropQueued
        memoryPressure    background  background  3s
        crash             terminated  background  -    terminated:crash dropQueued
        phoneRestarted    terminated  background  -    terminated:restart dropQueued
        relaunchForbidden background  background  3s
        quit              quit        off         -    userQuit dropQueued stop clear forget
        read              background  background  10s  deliver
        write             background  background  10s  deliver
        writeCommand      background  background  10s  deliver
        subscribe         background  background  10s  deliver
        unsubscribe       background  background  10s  deliver
        other             background  background  3s   deliver
        workBegan         background  background  3s
        workEnded         background  background  3s
        extraneousWork    background  background  3s
        deadlineReached   suspended   background  -    suspended
        deadlineTooEarly  background  background  1ns
        unknown           background  off         3s   pause stop clear deliver
        resetting         background  off         3s   pause stop clear deliver
        unsupported       background  off         3s   pause stop clear deliver
        unauthorized      background  off         3s   pause stop clear deliver
        poweredOff        background  off         3s   pause deliver
        poweredOn         background  background  3s
        """
}
