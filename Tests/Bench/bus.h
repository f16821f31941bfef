/* Writing the few D-Bus shapes that the bench needs. */
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTERISTIC "org.bluez.GattCharacteristic1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"

static inline DBusMessageIter open_in(DBusMessageIter *outer, int type, const char *signature) {
    DBusMessageIter inner;
    if (!dbus_message_iter_open_container(outer, type, signature, &inner)) abort();
    return inner;
}

static inline void close_in(DBusMessageIter *outer, DBusMessageIter *inner) {
    if (!dbus_message_iter_close_container(outer, inner)) abort();
}

static inline void put(DBusMessageIter *iter, int type, const void *value) {
    if (!dbus_message_iter_append_basic(iter, type, value)) abort();
}

static inline void put_text(DBusMessageIter *iter, int type, const char *text) { put(iter, type, &text); }

static inline void put_bytes(DBusMessageIter *iter, const unsigned char *bytes, int count) {
    DBusMessageIter array = open_in(iter, DBUS_TYPE_ARRAY, "y");
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, count);
    close_in(iter, &array);
}

static inline void put_texts(DBusMessageIter *iter, const char *const *texts) {
    DBusMessageIter array = open_in(iter, DBUS_TYPE_ARRAY, "s");
    for (; texts && *texts; texts++) put_text(&array, DBUS_TYPE_STRING, *texts);
    close_in(iter, &array);
}

/* Entries of an a{sv}. */
static inline void option(DBusMessageIter *dict, const char *key, int type, const void *value) {
    char signature[2] = {(char)type, 0};
    DBusMessageIter entry = open_in(dict, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&entry, DBUS_TYPE_STRING, key);
    DBusMessageIter variant = open_in(&entry, DBUS_TYPE_VARIANT, signature);
    put(&variant, type, value);
    close_in(&entry, &variant);
    close_in(dict, &entry);
}

static inline void option_text(DBusMessageIter *dict, const char *key, int type, const char *text) {
    option(dict, key, type, &text);
}

static inline void option_texts(DBusMessageIter *dict, const char *key, const char *const *texts) {
    DBusMessageIter entry = open_in(dict, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&entry, DBUS_TYPE_STRING, key);
    DBusMessageIter variant = open_in(&entry, DBUS_TYPE_VARIANT, "as");
    put_texts(&variant, texts);
    close_in(&entry, &variant);
    close_in(dict, &entry);
}

static inline void option_bytes(DBusMessageIter *dict, const char *key, const unsigned char *bytes, int count) {
    DBusMessageIter entry = open_in(dict, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&entry, DBUS_TYPE_STRING, key);
    DBusMessageIter variant = open_in(&entry, DBUS_TYPE_VARIANT, "ay");
    put_bytes(&variant, bytes, count);
    close_in(&entry, &variant);
    close_in(dict, &entry);
}
