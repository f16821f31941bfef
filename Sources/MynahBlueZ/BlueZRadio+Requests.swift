import MynahCore
import MynahDBus

// The centrals, and bluetoothd's requests for them.
extension BlueZRadio {
    func handle(_ method: GATTMethod, _ key: AttributeKey, _ call: MethodCall) {
        switch method {
        case .readValue: access(key, call, isRead: true)
        case .writeValue: access(key, call, isRead: false)
        case .acquireNotify: acquireNotify(key, call)
        case .startNotify:
            call.reply()
            if services.registry[key] != nil { carryOut(notifier.startNotify(key)) }
        case .stopNotify:
            call.reply()
            carryOut(notifier.stopNotify(key))
        case .confirm:
            call.reply()
            report(.confirmed(key, nil))
        }
    }

    private func access(_ key: AttributeKey, _ call: MethodCall, isRead: Bool) {
        guard let attribute = services.registry[key], let request = AttributeRequest(call, isRead: isRead)
        else { return call.finish(.failure(.unlikelyError), isRead: isRead) }
        let central = central(of: request.options)
        switch attribute.verdict(on: request, isAuthorized: central.isAuthorized) {
        case .answer(let value):
            call.finish(.success(value), isRead: isRead)
            guard isRead else { return }
            ask(request.event(key, from: central.id, answered: value, wantsResponse: true))
        case .refuse(let error):
            if call.wantsNoReply, let warning = attribute.droppedWriteWarning(error, request) {
                warnOnce(warning, about: attribute.uuid.description)
            }
            call.finish(.failure(error), isRead: isRead)
        case .askSink:
            let event = request.event(key, from: central.id, wantsResponse: !call.wantsNoReply)
            let (answer, isFirst) = (ask(event), pending.isEmpty)
            let (limit, send) = (environment.options.answerLimit, events)
            let waiting = PendingRequests.Request(
                call: call, central: central.id, attribute: key, isRead: isRead, due: RadioClock.now + limit)
            guard let (number, later) = pending.answer(waiting, with: answer) else { return }
            if isFirst { timers?.schedule(.answer, after: limit) }
            later.whenAnswered { outcome in GLibExecutor.shared.run { send(.answered(number, outcome)) } }
        }
    }

    private func acquireNotify(_ key: AttributeKey, _ call: MethodCall) {
        guard notifier.usesSockets, let attribute = services.registry[key],
            let request = AttributeRequest(call, isRead: true), request.options.device != nil,
            let (ours, theirs) = NotifySocket.pair()
        else {
            // After this error bluetoothd calls StartNotify; Failed would end the subscription.
            return call.fail(
                DBusError("org.bluez.Error.NotSupported", "notification sockets are not supported"))
        }
        let central = central(of: request.options)
        let (socketKey, send) = (NotificationSocketKey(attribute: key, peer: central.id), events)
        let socket = NotifySocket(ours) { send(.socket(socketKey, $0)) }
        call.reply { body in
            body.append(theirs)
            body.append(UInt16(clamping: central.mtu ?? GATT.defaultMTU))
        }
        carryOut(notifier.acquired(socketKey, socket, delivery: attribute.delivery))
    }

    // MARK: Answers

    func answerOverdue() {
        let now = RadioClock.now
        for request in pending.takeOverdue(at: now) {
            request.finish(.failure(.unlikelyError))
            let uuid = services.registry[request.attribute]?.uuid.description ?? "an attribute"
            report(.warning(request.lateWarning(uuid, limit: environment.options.answerLimit)))
        }
        if let due = pending.nextDue { timers?.schedule(.answer, after: due - now) }
    }

    // MARK: Centrals

    private func central(of options: RequestOptions) -> CentralTable.Central {
        guard let path = options.device else { return .unknown }
        let (central, changes) = centrals.request(
            from: path, mtu: options.mtu, device: adapter.session.objects.devices[path])
        carryOut(changes)
        return central
    }

    func carryOut(_ changes: [CentralTable.Change]) {
        for change in changes {
            switch change {
            case .connected(let peer):
                report(change.event)
                carryOut(notifier.connected(peer.id))
                advertiser.linkBegan()
            case .disconnected(let id, let isBonded):
                let ended = notifier.disconnected(
                    id, isBonded: isBonded, isLast: centrals.connected.isEmpty, at: RadioClock.now)
                report(change.event)
                advertiser.linkEnded()
                carryOut(ended)
            case .peerChanged, .paired, .mtuChanged: report(change.event)
            }
        }
    }

    // MARK: Pairing

    func handle(_ method: AgentMethod, _ call: MethodCall, isRouted: Bool) {
        if !isRouted, let device = AgentRequest.device(of: call), !adapter.session.owns(device) {
            guard let other = adapter.otherRadio(for: device) else { return AgentRequest.reject(call) }
            return other(.agentRequest(method, call, isRouted: true))
        }
        switch AgentRequest(method, call) {
        case .acknowledge: call.reply()
        case .reject: AgentRequest.reject(call)
        case .release:
            call.reply()
            carryOut(adapter.session.agentReleased())
        case .pairing(let device, let step, let isAwaited):
            if !isAwaited { call.reply() }
            let answer = report(.pairing(central(of: RequestOptions(device: device)).id, step))
            if isAwaited { AgentRequest.answer(call, step, answer) }
        }
    }
}
