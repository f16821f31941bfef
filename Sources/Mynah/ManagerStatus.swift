package import MynahCore
package import MynahLifecycle

/// The services and advertising of a peripheral manager, or of the managers of one app, at one moment.
package struct ManagerStatus: Sendable {
    /// The data that is advertised for the manager, and the omitted parts of its request.
    package var advertising = AdvertisingReport.silent
    /// The attribute handles, as far as the radio reports them.
    package var handles: [AttributeKey: AttributeHandle] = [:]
    /// The attributes that each central is subscribed to, as far as the radio identifies subscribers.
    package var subscriptions: [Central.ID: [AttributeKey]] = [:]

    /// Makes a status without services and advertising.
    package init() {}

    fileprivate mutating func add(_ manager: ManagerState) {
        if manager.advertising != .silent { advertising = manager.advertising }
        for batch in manager.added where batch.id != nil {
            handles.merge(batch.handles) { _, new in new }
        }
        for attribute in manager.subscriptions.attributes {
            for central in manager.subscriptions.centrals(of: attribute) {
                subscriptions[central, default: []].append(attribute)
            }
        }
    }
}

extension ManagerAccess {
    /// The manager's services and advertising; empty if its app or its phone has ended.
    package var status: ManagerStatus {
        look { manager, _ in
            var status = ManagerStatus()
            status.add(manager)
            return status
        } ?? ManagerStatus()
    }

    /// Sets a static value, with which the radio answers reads by itself.
    ///
    /// Later publications of the service begin with this value.
    package func setStaticValue(_ value: [UInt8], of attribute: AttributeKey) async {
        try? await ask { phone, reference in
            guard let manager = phone.memory.manager(reference) else { return }
            for index in manager.added.indices {
                manager.added[index].services.setStaticValue(value, of: attribute)
            }
            manager.save()
            await phone.radio.setValue(value, of: attribute)
        }
    }
}

extension AppAccess {
    /// The state of the app; `notRunning` after its phone was stopped.
    package var state: AppState { look { app, _ in app.state } ?? .notRunning }

    /// The services and advertising of the app's managers, including while the app does not run.
    package var status: ManagerStatus {
        look { app, _ in
            var status = ManagerStatus()
            for manager in app.managers { status.add(manager) }
            return status
        } ?? ManagerStatus()
    }
}

extension [ServiceDefinition] {
    /// The static values, with which the radio answers reads by itself, in the order of their attributes.
    package var staticValues: [(attribute: AttributeKey, value: [UInt8])] {
        flatMap(\.characteristics).flatMap { characteristic in
            [(characteristic.key, characteristic.value)]
                + characteristic.descriptors.map { ($0.key, $0.value) }
        }
        .compactMap { key, value in value.map { (key, $0) } }
    }

    /// The static value of an attribute, with which the radio answers reads by itself, or `nil` if there is
    /// none.
    package func staticValue(of attribute: AttributeKey) -> [UInt8]? {
        staticValues.first { $0.attribute == attribute }?.value
    }

    /// Changes the static value of an attribute; does nothing for an attribute without one.
    package mutating func setStaticValue(_ value: [UInt8], of attribute: AttributeKey) {
        for service in indices {
            for index in self[service].characteristics.indices {
                if self[service].characteristics[index].key == attribute,
                    self[service].characteristics[index].value != nil
                {
                    self[service].characteristics[index].value = value
                }
                for number in self[service].characteristics[index].descriptors.indices
                where self[service].characteristics[index].descriptors[number].key == attribute
                    && self[service].characteristics[index].descriptors[number].value != nil
                {
                    self[service].characteristics[index].descriptors[number].value = value
                }
            }
        }
    }
}
