/* The floor: the cost of a GATT application on bare libdbus with one constant value.
 * It registers a service with one characteristic and an advertisement, and answers reads. Once it has a subscriber, it sends
 * as many notifications as the bus accepts. Mynah's cost is compared with it. */
#include "bus.h"

static const char *const application = "/floor", *const service = "/floor/service",
                         *const characteristic = "/floor/service/characteristic", *const advert = "/floor/advert";
static unsigned char value[4];

static void ask(DBusConnection *bus, const char *interface, const char *member, const char *path) {
    DBusMessage *call = dbus_message_new_method_call("org.bluez", "/org/bluez/hci0", interface, member);
    DBusMessageIter body;
    dbus_message_iter_init_append(call, &body);
    put_text(&body, DBUS_TYPE_OBJECT_PATH, path);
    DBusMessageIter options = open_in(&body, DBUS_TYPE_ARRAY, "{sv}");
    close_in(&body, &options);
    dbus_connection_send(bus, call, NULL);
    dbus_message_unref(call);
}

static void put_object(DBusMessageIter *objects, const char *path, const char *interface, int is_characteristic) {
    static const char *const flags[] = {"read", "notify", NULL};
    DBusMessageIter object = open_in(objects, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&object, DBUS_TYPE_OBJECT_PATH, path);
    DBusMessageIter interfaces = open_in(&object, DBUS_TYPE_ARRAY, "{sa{sv}}");
    DBusMessageIter entry = open_in(&interfaces, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&entry, DBUS_TYPE_STRING, interface);
    DBusMessageIter properties = open_in(&entry, DBUS_TYPE_ARRAY, "{sv}");
    if (is_characteristic) {
        option_text(&properties, "UUID", DBUS_TYPE_STRING, "00002a37-0000-1000-8000-00805f9b34fb");
        option_text(&properties, "Service", DBUS_TYPE_OBJECT_PATH, service);
        option_texts(&properties, "Flags", flags);
    } else {
        dbus_bool_t primary = TRUE;
        option_text(&properties, "UUID", DBUS_TYPE_STRING, "0000180d-0000-1000-8000-00805f9b34fb");
        option(&properties, "Primary", DBUS_TYPE_BOOLEAN, &primary);
    }
    close_in(&entry, &properties);
    close_in(&interfaces, &entry);
    close_in(&object, &interfaces);
    close_in(objects, &object);
}

static void answer(DBusConnection *bus, DBusMessage *call, const char *member, int *subscribed) {
    if (!strcmp(member, "StartNotify")) *subscribed = 1;
    if (!strcmp(member, "StopNotify")) *subscribed = 0;
    if (dbus_message_get_no_reply(call)) return;
    DBusMessage *reply = dbus_message_new_method_return(call);
    DBusMessageIter body;
    dbus_message_iter_init_append(reply, &body);
    if (!strcmp(member, "ReadValue")) {
        put_bytes(&body, value, sizeof value);
    } else if (!strcmp(member, "GetManagedObjects")) {
        DBusMessageIter objects = open_in(&body, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}");
        put_object(&objects, service, "org.bluez.GattService1", 0);
        put_object(&objects, characteristic, CHARACTERISTIC, 1);
        close_in(&body, &objects);
    } else if (!strcmp(member, "GetAll")) {
        DBusMessageIter properties = open_in(&body, DBUS_TYPE_ARRAY, "{sv}");
        option_text(&properties, "Type", DBUS_TYPE_STRING, "peripheral");
        close_in(&body, &properties);
    }
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
}

static void notify(DBusConnection *bus) {
    DBusMessage *signal = dbus_message_new_signal(characteristic, PROPERTIES, "PropertiesChanged");
    DBusMessageIter body;
    for (int i = 0; i < 4 && ++value[i] == 0; i++) continue;
    dbus_message_iter_init_append(signal, &body);
    put_text(&body, DBUS_TYPE_STRING, CHARACTERISTIC);
    DBusMessageIter changed = open_in(&body, DBUS_TYPE_ARRAY, "{sv}");
    option_bytes(&changed, "Value", value, sizeof value);
    close_in(&body, &changed);
    put_texts(&body, NULL);
    dbus_connection_send(bus, signal, NULL);
    dbus_message_unref(signal);
}

int main(void) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *bus = dbus_bus_get(DBUS_BUS_SYSTEM, &error);
    if (!bus) {
        fprintf(stderr, "floor: %s\n", error.message);
        return 1;
    }
    ask(bus, "org.bluez.GattManager1", "RegisterApplication", application);
    ask(bus, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", advert);
    int subscribed = 0;
    while (dbus_connection_read_write(bus, subscribed ? 0 : -1)) {
        DBusMessage *message;
        while ((message = dbus_connection_pop_message(bus))) {
            const char *member = dbus_message_get_member(message);
            if (member && dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL)
                answer(bus, message, member, &subscribed);
            dbus_message_unref(message);
        }
        for (int i = 0; subscribed && i < 16 && dbus_connection_get_outgoing_size(bus) < 65536; i++) notify(bus);
    }
    return 0;
}
