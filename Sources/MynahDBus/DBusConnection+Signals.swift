import Glibc
import Logging
import MynahCDBus

/// A match rule for signals.
///
/// A field that is `nil` matches anything.
public struct DBusMatch: Hashable, Sendable {
    /// The sender: a unique name, or a well-known name, which means its current owner.
    public var sender: String?
    /// The path of the object that sends the signal.
    public var path: ObjectPath?
    /// The path of the object that sends the signal, or of an ancestor.
    public var pathNamespace: ObjectPath?
    /// The interface.
    public var interface: String?
    /// The signal's name.
    public var member: String?
    /// The first argument of the signal, if it is a string.
    public var argument0: String?

    /// Makes a rule.
    public init(
        sender: String? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
        interface: String? = nil,
        member: String? = nil, argument0: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.argument0 = argument0
    }

    /// The match rule in D-Bus notation.
    var rule: String {
        var rule = "type='signal'"
        for (key, value) in [
            ("sender", sender), ("path", path?.string), ("path_namespace", pathNamespace?.string),
            ("interface", interface), ("member", member), ("arg0", argument0),
        ] {
            guard let value else { continue }
            let quoted = value.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''")
            rule += ",\(key)='\(quoted)'"
        }
        return rule
    }

    /// Returns whether a signal matches; `owner` is the unique name that currently owns `sender`.
    func matches(_ message: DBusMessage, owner: String?) -> Bool {
        if sender != nil, !equal(dbus_message_get_sender(message.raw), owner ?? "") { return false }
        if let interface, !equal(dbus_message_get_interface(message.raw), interface) { return false }
        if let member, !equal(dbus_message_get_member(message.raw), member) { return false }
        if let path, !equal(dbus_message_get_path(message.raw), path.string) { return false }
        if let pathNamespace {
            guard let path = message.path, path == pathNamespace || path.isBelow(pathNamespace) else {
                return false
            }
        }
        if let argument0 {
            var reader = message.reader()
            guard let first = try? reader.readString(), first == argument0 else { return false }
        }
        return true
    }

    private func equal(_ pointer: UnsafePointer<CChar>?, _ text: String) -> Bool {
        guard let pointer else { return false }
        return text.withCString { strcmp(pointer, $0) == 0 }
    }
}

/// A subscription to a signal or to a name's owner, which ends when it is cancelled or released.
public final class DBusSubscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { GLibExecutor.shared.run(end) }

    /// Ends the subscription.
    ///
    /// If this is called on the executor, no further call of the handler follows.
    public func cancel() { GLibExecutor.shared.run(end) }
}

/// A subscription to signals: a match rule and its handler.
struct Subscription {
    let identifier: UInt64
    let match: DBusMatch
    let handler: @Sendable (DBusMessage) -> Void
}

/// The owner of a well-known name, and the handlers to call when the owner changes.
struct NameWatch {
    var owner: String?
    var isKnown = false
    var users = 0
    var handlers: [UInt64: @Sendable (String?) -> Void] = [:]
    var signal: DBusSubscription?
}

extension DBusConnection {
    /// Calls `handler` for each matching signal, in order, until the subscription is released.
    public func subscribe(
        to match: DBusMatch, _ handler: @escaping @Sendable (DBusMessage) -> Void
    ) -> DBusSubscription {
        checkExecutor()
        lastIdentifier += 1
        let identifier = lastIdentifier
        guard !source.isClosed else { return DBusSubscription {} }
        if let name = match.followedName { retain(name) }
        subscriptions.append(Subscription(identifier: identifier, match: match, handler: handler))
        ask("AddMatch", match.rule)
        return DBusSubscription { [weak self] in self?.unsubscribe(identifier) }
    }

    /// Calls `handler` with the current owner of a well-known name, and again after each change of owner.
    ///
    /// The owner is the unique name of a connection, or `nil` if no connection owns the name. The calls end
    /// when the subscription is released.
    public func watchOwner(
        of name: String, _ handler: @escaping @Sendable (_ owner: String?) -> Void
    ) -> DBusSubscription {
        checkExecutor()
        guard !source.isClosed else { return DBusSubscription {} }
        lastIdentifier += 1
        let identifier = lastIdentifier
        retain(name)
        names[name]?.handlers[identifier] = handler
        if let watch = names[name], watch.isKnown {
            // The handler is called later, because the caller does not have its subscription yet.
            GLibExecutor.shared.enqueueWork { [weak self] in
                guard let self, let watch = self.names[name] else { return }
                watch.handlers[identifier]?(watch.owner)
            }
        }
        return DBusSubscription { [weak self] in
            guard let self, self.names[name]?.handlers.removeValue(forKey: identifier) != nil else { return }
            self.release(name)
        }
    }

    func deliver(_ message: DBusMessage) {
        // Handlers may subscribe and unsubscribe; a subscription that was cancelled meanwhile is not called.
        for subscription in subscriptions {
            let owner = subscription.match.followedName.map { names[$0]?.owner } ?? subscription.match.sender
            guard subscription.match.matches(message, owner: owner),
                subscriptions.contains(where: { $0.identifier == subscription.identifier })
            else { continue }
            subscription.handler(message)
        }
    }

    private func unsubscribe(_ identifier: UInt64) {
        guard let index = subscriptions.firstIndex(where: { $0.identifier == identifier }) else { return }
        let match = subscriptions.remove(at: index).match
        ask("RemoveMatch", match.rule)
        if let name = match.followedName { release(name) }
    }

    private func ask(_ member: String, _ rule: String) {
        do throws(DBusError) {
            try send(Bus.name, Bus.path, Bus.interface, member, body: { $0.append(rule) }) {
                [logger] result in
                guard case .failure(let error) = result, error.name != .disconnected else { return }
                logger.warning("match rule refused", metadata: ["rule": "\(rule)", "error": "\(error)"])
            }
        } catch {
            logger.warning("match rule invalid", metadata: ["rule": "\(rule)", "error": "\(error)"])
        }
    }

    // MARK: - Names

    private func retain(_ name: String) {
        names[name, default: NameWatch()].users += 1
        guard names[name]?.users == 1 else { return }
        names[name]?.signal = subscribe(
            to: DBusMatch(
                sender: Bus.name, path: Bus.path, interface: Bus.interface, member: "NameOwnerChanged",
                argument0: name)
        ) { [weak self] message in
            var reader = message.reader()
            reader.skip()
            reader.skip()
            if let owner = try? reader.readString() { self?.setOwner(of: name, owner) }
        }
        do throws(DBusError) {
            try send(Bus.name, Bus.path, Bus.interface, "GetNameOwner", body: { $0.append(name) }) {
                [weak self] result in
                switch result {
                case .success(let message):
                    var reader = message.reader()
                    self?.setOwner(of: name, (try? reader.readString()) ?? "")
                case .failure(let error) where error.name == .disconnected: break
                case .failure: self?.setOwner(of: name, "")
                }
            }
        } catch {
            logger.warning("name invalid", metadata: ["name": "\(name)", "error": "\(error)"])
        }
    }

    private func release(_ name: String) {
        guard let users = names[name]?.users else { return }
        if users > 1 { names[name]?.users = users - 1 } else { names[name] = nil }
    }

    private func setOwner(of name: String, _ owner: String) {
        let owner = owner.isEmpty ? nil : owner
        guard let watch = names[name], !watch.isKnown || watch.owner != owner else { return }
        names[name]?.owner = owner
        names[name]?.isKnown = true
        for identifier in watch.handlers.keys.sorted() {
            names[name]?.handlers[identifier]?(owner)
        }
    }
}

extension DBusMatch {
    /// The sender, if it is a well-known name whose owner may change, or else `nil`.
    var followedName: String? {
        guard let sender, !sender.hasPrefix(":"), sender != Bus.name else { return nil }
        return sender
    }
}
