/* Plays bluetoothd for one application: starts it, lets it register, then reads, writes and counts notifications as a phone would.
 *
 *     driver READS MILLISECONDS UUID COMMAND [ARGUMENT…]
 *     driver read|write|command|notification COUNT UUID COMMAND [ARGUMENT…]
 *     driver wait COUNT SOCKET UUID COMMAND [ARGUMENT…]
 *     driver stream COUNT RATE READERS SOCKET UUID COMMAND [ARGUMENT…]
 *
 * Prints one figure a line. READS is how often the characteristic whose UUID contains UUID is read, one by one and 16 at a time;
 * MILLISECONDS how long notifications are counted; either may be 0. The first four bytes of a notification are taken for a counter.
 * The other forms are for the figures of the control API: so many requests of one kind and nothing else; writes that a client
 * of the API on SOCKET waits for; and RATE writes a second (0: as many as are answered), counted by READERS of its events. */
#define _GNU_SOURCE
#include "bus.h"
#include "control.h"

#include <ctype.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define ADAPTER "/org/bluez/hci0"
#define DEVICE ADAPTER "/dev_F0_F1_F2_F3_F4_F5"

static DBusConnection *bus;
static pid_t child;
static char *owner, *application_path, *advert_path, *characteristic;
static DBusMessage *application_call, *advert_call;
static dbus_uint32_t application_query, advert_query;
static int characteristics, application_done, advert_done;
static const char *wanted;
static long notifications, lost;
static long last_counter;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

void fail(const char *text) {
    fprintf(stderr, "driver: %s\n", text);
    if (child > 0) kill(child, SIGKILL);
    exit(1);
}

static dbus_uint32_t post(DBusMessage *message) {
    dbus_uint32_t serial = 0;
    if (!dbus_connection_send(bus, message, &serial)) fail("out of memory");
    dbus_message_unref(message);
    return serial;
}

/* --- What the daemon's objects say --- */

static void adapter_properties(DBusMessageIter *dict) {
    dbus_bool_t on = TRUE, off = FALSE;
    dbus_uint32_t zero = 0;
    static const char *const roles[] = {"central", "peripheral", NULL};
    option_text(dict, "Address", DBUS_TYPE_STRING, "00:AA:01:00:00:42");
    option_text(dict, "AddressType", DBUS_TYPE_STRING, "public");
    option_text(dict, "Name", DBUS_TYPE_STRING, "bench");
    option_text(dict, "Alias", DBUS_TYPE_STRING, "bench");
    option(dict, "Class", DBUS_TYPE_UINT32, &zero);
    option(dict, "Powered", DBUS_TYPE_BOOLEAN, &on);
    option(dict, "Discoverable", DBUS_TYPE_BOOLEAN, &off);
    option(dict, "DiscoverableTimeout", DBUS_TYPE_UINT32, &zero);
    option(dict, "Pairable", DBUS_TYPE_BOOLEAN, &on);
    option(dict, "PairableTimeout", DBUS_TYPE_UINT32, &zero);
    option(dict, "Discovering", DBUS_TYPE_BOOLEAN, &off);
    option_texts(dict, "UUIDs", NULL);
    option_text(dict, "Modalias", DBUS_TYPE_STRING, "usb:v1D6Bp0246d0542");
    option_texts(dict, "Roles", roles);
}

static void advertising_properties(DBusMessageIter *dict) {
    unsigned char active = advert_done ? 1 : 0, supported = 5 - active;
    static const char *const includes[] = {"tx-power", "appearance", "local-name", NULL};
    static const char *const channels[] = {"1M", "2M", "Coded", NULL};
    option(dict, "ActiveInstances", DBUS_TYPE_BYTE, &active);
    option(dict, "SupportedInstances", DBUS_TYPE_BYTE, &supported);
    option_texts(dict, "SupportedIncludes", includes);
    option_texts(dict, "SupportedSecondaryChannels", channels);
}

static void device_properties(DBusMessageIter *dict) {
    dbus_bool_t on = TRUE, off = FALSE;
    option_text(dict, "Address", DBUS_TYPE_STRING, "F0:F1:F2:F3:F4:F5");
    option_text(dict, "AddressType", DBUS_TYPE_STRING, "random");
    option_text(dict, "Alias", DBUS_TYPE_STRING, "phone");
    option_text(dict, "Adapter", DBUS_TYPE_OBJECT_PATH, ADAPTER);
    option(dict, "Connected", DBUS_TYPE_BOOLEAN, &on);
    option(dict, "Paired", DBUS_TYPE_BOOLEAN, &off);
    option(dict, "Bonded", DBUS_TYPE_BOOLEAN, &off);
}

static void no_properties(DBusMessageIter *dict) { (void)dict; }

typedef void (*Properties)(DBusMessageIter *);
static const struct { const char *path, *interface; Properties properties; } objects[] = {
    {"/org/bluez", "org.bluez.AgentManager1", no_properties},
    {ADAPTER, "org.bluez.Adapter1", adapter_properties},
    {ADAPTER, "org.bluez.GattManager1", no_properties},
    {ADAPTER, "org.bluez.LEAdvertisingManager1", advertising_properties},
};
enum { OBJECTS = sizeof objects / sizeof *objects };

static void put_interface(DBusMessageIter *interfaces, const char *name, Properties properties) {
    DBusMessageIter entry = open_in(interfaces, DBUS_TYPE_DICT_ENTRY, NULL);
    put_text(&entry, DBUS_TYPE_STRING, name);
    DBusMessageIter dict = open_in(&entry, DBUS_TYPE_ARRAY, "{sv}");
    properties(&dict);
    close_in(&entry, &dict);
    close_in(interfaces, &entry);
}

static void managed_objects(DBusMessageIter *body) {
    DBusMessageIter dict = open_in(body, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}");
    for (int i = 0; i < OBJECTS;) {
        const char *path = objects[i].path;
        DBusMessageIter object = open_in(&dict, DBUS_TYPE_DICT_ENTRY, NULL);
        put_text(&object, DBUS_TYPE_OBJECT_PATH, path);
        DBusMessageIter interfaces = open_in(&object, DBUS_TYPE_ARRAY, "{sa{sv}}");
        for (; i < OBJECTS && !strcmp(objects[i].path, path); i++)
            put_interface(&interfaces, objects[i].interface, objects[i].properties);
        close_in(&object, &interfaces);
        close_in(&dict, &object);
    }
    close_in(body, &dict);
}

/* Answers Properties.Get out of what GetAll would say. */
static int get_property(DBusMessageIter *body, const char *interface, const char *name) {
    for (int i = 0; i < OBJECTS; i++) {
        if (strcmp(objects[i].interface, interface)) continue;
        DBusMessage *all = dbus_message_new(DBUS_MESSAGE_TYPE_SIGNAL);
        DBusMessageIter iter, dict, entry, variant;
        dbus_message_iter_init_append(all, &iter);
        dict = open_in(&iter, DBUS_TYPE_ARRAY, "{sv}");
        objects[i].properties(&dict);
        close_in(&iter, &dict);
        int found = 0;
        dbus_message_iter_init(all, &iter);
        for (dbus_message_iter_recurse(&iter, &dict); dbus_message_iter_get_arg_type(&dict) && !found;
             dbus_message_iter_next(&dict)) {
            const char *key;
            dbus_message_iter_recurse(&dict, &entry);
            dbus_message_iter_get_basic(&entry, &key);
            if (strcmp(key, name)) continue;
            dbus_message_iter_next(&entry);
            dbus_message_iter_recurse(&entry, &variant);
            int type = dbus_message_iter_get_arg_type(&variant);
            if (type == DBUS_TYPE_ARRAY) continue;
            DBusBasicValue value;
            dbus_message_iter_get_basic(&variant, &value);
            char signature[2] = {(char)type, 0};
            DBusMessageIter out = open_in(body, DBUS_TYPE_VARIANT, signature);
            put(&out, type, &value);
            close_in(body, &out);
            found = 1;
        }
        dbus_message_unref(all);
        return found;
    }
    return 0;
}

/* --- Registration --- */

static dbus_uint32_t query(const char *path, const char *interface, const char *member, const char *argument) {
    DBusMessage *call = dbus_message_new_method_call(owner, path, interface, member);
    if (argument) dbus_message_append_args(call, DBUS_TYPE_STRING, &argument, DBUS_TYPE_INVALID);
    return post(call);
}

static void begin_registration(DBusMessage *call, int is_application) {
    const char *path = NULL;
    DBusMessageIter iter;
    if (!dbus_message_has_signature(call, "oa{sv}")) fail("a registration has wrong arguments");
    dbus_message_iter_init(call, &iter);
    dbus_message_iter_get_basic(&iter, &path);
    if (!owner) owner = strdup(dbus_message_get_sender(call));
    if (is_application) {
        application_path = strdup(path);
        application_call = dbus_message_ref(call);
        application_query = query(path, OBJECT_MANAGER, "GetManagedObjects", NULL);
    } else {
        advert_path = strdup(path);
        advert_call = dbus_message_ref(call);
        advert_query = query(path, PROPERTIES, "GetAll", "org.bluez.LEAdvertisement1");
    }
}

/* Counts the characteristics of a GetManagedObjects answer and finds the wanted one. */
static void read_objects(DBusMessage *reply) {
    DBusMessageIter iter, object, entry, interface, member, property, pair, value;
    dbus_message_iter_init(reply, &iter);
    if (!dbus_message_has_signature(reply, "a{oa{sa{sv}}}")) fail("GetManagedObjects has a wrong answer");
    for (dbus_message_iter_recurse(&iter, &object); dbus_message_iter_get_arg_type(&object);
         dbus_message_iter_next(&object)) {
        const char *path, *name, *key, *uuid;
        dbus_message_iter_recurse(&object, &entry);
        dbus_message_iter_get_basic(&entry, &path);
        dbus_message_iter_next(&entry);
        for (dbus_message_iter_recurse(&entry, &interface); dbus_message_iter_get_arg_type(&interface);
             dbus_message_iter_next(&interface)) {
            dbus_message_iter_recurse(&interface, &member);
            dbus_message_iter_get_basic(&member, &name);
            if (strcmp(name, CHARACTERISTIC)) continue;
            characteristics++;
            dbus_message_iter_next(&member);
            for (dbus_message_iter_recurse(&member, &property); dbus_message_iter_get_arg_type(&property);
                 dbus_message_iter_next(&property)) {
                dbus_message_iter_recurse(&property, &pair);
                dbus_message_iter_get_basic(&pair, &key);
                if (strcmp(key, "UUID")) continue;
                dbus_message_iter_next(&pair);
                dbus_message_iter_recurse(&pair, &value);
                dbus_message_iter_get_basic(&value, &uuid);
                if (!characteristic && strcasestr(uuid, wanted)) characteristic = strdup(path);
            }
        }
    }
}

static void finish(DBusMessage **call, int *done) {
    post(dbus_message_new_method_return(*call));
    dbus_message_unref(*call);
    *call = NULL;
    *done = 1;
}

/* --- The loop --- */

static void handle_call(DBusMessage *call) {
    const char *member = dbus_message_get_member(call);
    if (!strcmp(member, "RegisterApplication")) return begin_registration(call, 1);
    if (!strcmp(member, "RegisterAdvertisement")) return begin_registration(call, 0);
    DBusMessage *reply = dbus_message_new_method_return(call);
    DBusMessageIter body, arguments;
    dbus_message_iter_init_append(reply, &body);
    const char *first = "", *second = "";
    if (dbus_message_iter_init(call, &arguments) && dbus_message_iter_get_arg_type(&arguments) == DBUS_TYPE_STRING) {
        dbus_message_iter_get_basic(&arguments, &first);
        if (dbus_message_iter_next(&arguments) && dbus_message_iter_get_arg_type(&arguments) == DBUS_TYPE_STRING)
            dbus_message_iter_get_basic(&arguments, &second);
    }
    if (!strcmp(member, "GetManagedObjects")) {
        managed_objects(&body);
    } else if (!strcmp(member, "GetAll")) {
        DBusMessageIter dict = open_in(&body, DBUS_TYPE_ARRAY, "{sv}");
        for (int i = 0; i < OBJECTS; i++)
            if (!strcmp(objects[i].interface, first)) objects[i].properties(&dict);
        close_in(&body, &dict);
    } else if (!strcmp(member, "Get") && !get_property(&body, first, second)) {
        dbus_message_unref(reply);
        reply = dbus_message_new_error(call, "org.freedesktop.DBus.Error.UnknownProperty", second);
    }
    if (dbus_message_get_no_reply(call)) dbus_message_unref(reply);
    else post(reply);
}

static void count_notification(DBusMessage *signal) {
    DBusMessageIter iter, dict, entry, variant, bytes;
    const unsigned char *value;
    int count = 0;
    if (!characteristic || !dbus_message_has_path(signal, characteristic)) return;
    notifications++;
    dbus_message_iter_init(signal, &iter);
    dbus_message_iter_next(&iter);
    dbus_message_iter_recurse(&iter, &dict);
    if (dbus_message_iter_get_arg_type(&dict) != DBUS_TYPE_DICT_ENTRY) return;
    dbus_message_iter_recurse(&dict, &entry);
    dbus_message_iter_next(&entry);
    dbus_message_iter_recurse(&entry, &variant);
    if (dbus_message_iter_get_arg_type(&variant) != DBUS_TYPE_ARRAY) return;
    dbus_message_iter_recurse(&variant, &bytes);
    dbus_message_iter_get_fixed_array(&bytes, &value, &count);
    if (count < 4) return;
    long counter = value[0] | value[1] << 8 | value[2] << 16 | (long)value[3] << 24;
    if (last_counter && counter != last_counter + 1) lost += labs(counter - last_counter - 1);
    last_counter = counter;
}

/* Handles one message; returns the serial that it answers, if any and not of a registration. A wait of 0 only looks. */
static dbus_uint32_t step(int milliseconds, int *is_error) {
    DBusMessage *message = dbus_connection_pop_message(bus);
    if (!message) {
        if (!dbus_connection_read_write(bus, milliseconds)) fail("the bus is gone");
        message = dbus_connection_pop_message(bus);
        if (!message) return 0;
    }
    dbus_uint32_t answered = 0;
    switch (dbus_message_get_type(message)) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
        handle_call(message);
        break;
    case DBUS_MESSAGE_TYPE_SIGNAL:
        if (dbus_message_is_signal(message, PROPERTIES, "PropertiesChanged")) count_notification(message);
        break;
    case DBUS_MESSAGE_TYPE_METHOD_RETURN:
    case DBUS_MESSAGE_TYPE_ERROR:
        answered = dbus_message_get_reply_serial(message);
        if (is_error) *is_error = dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR;
        if (answered == application_query && application_call) {
            read_objects(message);
            finish(&application_call, &application_done);
            answered = 0;
        } else if (answered == advert_query && advert_call) {
            finish(&advert_call, &advert_done);
            answered = 0;
        }
        break;
    }
    dbus_message_unref(message);
    return answered;
}

/* --- The phone --- */

static void connect_phone(void) {
    DBusMessage *signal = dbus_message_new_signal("/", OBJECT_MANAGER, "InterfacesAdded");
    DBusMessageIter body;
    dbus_message_iter_init_append(signal, &body);
    put_text(&body, DBUS_TYPE_OBJECT_PATH, DEVICE);
    DBusMessageIter interfaces = open_in(&body, DBUS_TYPE_ARRAY, "{sa{sv}}");
    put_interface(&interfaces, "org.bluez.Device1", device_properties);
    close_in(&body, &interfaces);
    post(signal);
}

enum request { READ, WRITE, COMMAND };

/* As bluetoothd sends them: nobody answers a write command. */
static dbus_uint32_t send_request(enum request kind) {
    static const unsigned char value[] = {1, 2, 3, 4};
    DBusMessage *call =
        dbus_message_new_method_call(owner, characteristic, CHARACTERISTIC, kind == READ ? "ReadValue" : "WriteValue");
    DBusMessageIter body;
    dbus_uint16_t mtu = 247;
    dbus_message_set_no_reply(call, kind == COMMAND);
    dbus_message_iter_init_append(call, &body);
    if (kind != READ) put_bytes(&body, value, sizeof value);
    DBusMessageIter options = open_in(&body, DBUS_TYPE_ARRAY, "{sv}");
    option_text(&options, "device", DBUS_TYPE_OBJECT_PATH, DEVICE);
    option_text(&options, "link", DBUS_TYPE_STRING, "LE");
    option(&options, "mtu", DBUS_TYPE_UINT16, &mtu);
    close_in(&body, &options);
    return post(call);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void await(dbus_uint32_t serial) {
    int is_error = 0;
    double limit = now() + 60;
    while (step(1000, &is_error) != serial)
        if (now() > limit) fail("a request was not answered");
    if (is_error) fail("a request was refused");
}

static void read_one_by_one(int reads) {
    double *times = calloc(reads, sizeof *times), start = now();
    int errors = 0, is_error = 0;
    for (int i = 0; i < reads; i++) {
        double begin = now();
        dbus_uint32_t serial = send_request(READ);
        while (step(1000, &is_error) != serial)
            if (now() - begin > 10) fail("a read was not answered");
        errors += is_error;
        times[i] = now() - begin;
    }
    double all = now() - start;
    qsort(times, reads, sizeof *times, ascending);
    printf("reads_per_s %.0f\nread_p50_us %.0f\nread_p99_us %.0f\nread_errors %d\n", reads / all, times[reads / 2] * 1e6,
           times[reads * 99 / 100] * 1e6, errors);
    free(times);
}

static void read_in_flight(int reads, int depth) {
    int sent = 0, done = 0, errors = 0, is_error = 0;
    double start = now();
    while (done < reads) {
        while (sent < reads && sent - done < depth) {
            send_request(READ);
            sent++;
        }
        if (step(1000, &is_error)) {
            done++;
            errors += is_error;
        }
        if (now() - start > 60) fail("reads were not answered");
    }
    printf("reads_%d_deep_per_s %.0f\n", depth, reads / (now() - start));
    if (errors) printf("read_errors %d\n", errors);
}

static void tell(const char *member) {
    DBusMessage *call = dbus_message_new_method_call(owner, characteristic, CHARACTERISTIC, member);
    dbus_message_set_no_reply(call, TRUE);
    post(call);
}

static void count_for(double seconds) {
    tell("StartNotify");
    double limit = now() + 10;
    while (!notifications)
        if (step(100, NULL), now() > limit) fail("no notification came");
    long before = notifications;
    double start = now();
    while (now() - start < seconds) step(10, NULL);
    double all = now() - start;
    printf("notifications_per_s %.0f\n", (notifications - before) / all);
    tell("StopNotify");
    dbus_uint32_t serial = query("/", "org.freedesktop.DBus.Peer", "Ping", NULL);
    while (step(1000, NULL) != serial) continue;
    if (last_counter) printf("notifications_lost %ld\n", lost);
}

/* Requests of one kind, one by one, and nothing else: what the application does for one of them is counted from outside. */
static void send_only(const char *kind, int count) {
    if (!strcmp(kind, "notification")) {
        tell("StartNotify");
        double limit = now() + 60;
        while (notifications < count)
            if (step(100, NULL), now() > limit) fail("the notifications did not come");
        return;
    }
    int is_command = !strcmp(kind, "command");
    for (int i = 0; i < count; i++) {
        dbus_uint32_t serial = send_request(is_command ? COMMAND : !strcmp(kind, "write") ? WRITE : READ);
        if (!is_command) await(serial);
        /* No answer says that it has taken them. */
        else if (i % 64 == 63 || i == count - 1) await(query("/", "org.freedesktop.DBus.Peer", "Ping", NULL));
    }
}

/* --- Clients of the control API --- */

static void print_times(const char *name, double *times, int count) {
    qsort(times, count, sizeof *times, ascending);
    printf("%s_p50_us %.0f\n%s_p99_us %.0f\n", name, times[count / 2] * 1e6, name, times[count * 99 / 100] * 1e6);
}

/* From the call that a bluetoothd makes when a phone's write has come, to the whole answer of POST /v1/wait in the client: two hops
 * over the bus and its daemon, the device, its journal, the match, JSON and HTTP. Beside it, to the write's own answer. */
static void wait_for_writes(int count, const char *socket_path) {
    double *events = calloc(count, sizeof *events), *writes = calloc(count, sizeof *writes);
    int control = connect_control(socket_path), bus_socket = -1;
    long since = 1;
    if (!dbus_connection_get_unix_fd(bus, &bus_socket)) fail("the bus has no socket");
    for (int i = 0; i < count; i++) {
        char text[512], body[256];
        int size = snprintf(body, sizeof body, "{\"match\": {\"event\": \"write\"}, \"within\": \"30 s\", \"since\": %ld}", since);
        snprintf(text, sizeof text,
                 "POST /v1/wait HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                 size, body);
        send_text(control, text);
        /* By then it waits. If it does not, what follows takes longer: no time is too short. */
        usleep(2000);
        struct pollfd sockets[] = {{control, POLLIN, 0}, {bus_socket, POLLIN, 0}};
        struct answer answer = {0};
        double start = now();
        dbus_uint32_t serial = send_request(WRITE);
        dbus_connection_flush(bus);
        while (!events[i] || !writes[i]) {
            if (poll(sockets, 2, 10000) == 0) fail("a wait was not answered");
            if (sockets[0].revents && !events[i] && take_answer(control, &answer)) events[i] = now() - start;
            while (dbus_connection_get_dispatch_status(bus) == DBUS_DISPATCH_DATA_REMAINS || sockets[1].revents) {
                sockets[1].revents = 0;
                if (step(0, NULL) == serial) writes[i] = now() - start;
            }
        }
        const char *next = strstr(answer.text, "\"next\":");
        if (strncmp(answer.text, "HTTP/1.1 200", 12) || !next) fail(answer.text);
        since = atol(next + 7);
    }
    print_times("event", events, count);
    print_times("write", writes, count);
}

static double processor_time(void) {
    char path[64];
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    FILE *stat = fopen(path, "r");
    if (!stat || fscanf(stat, "%*d (%*[^)]) %*c" "%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s" "%lu %lu", &user, &kernel) != 2)
        fail("/proc has no processor time");
    fclose(stat);
    return (double)(user + kernel) / sysconf(_SC_CLK_TCK);
}

/* Writes, each of which is an event, while other clients read the events as they happen. */
static void stream(int count, int rate, int readers, const char *socket_path) {
    start_readers(readers, socket_path);
    double used = processor_time(), start = now();
    for (int sent = 0, done = 0; done < count;) {
        double due = rate ? (now() - start) * rate : count;
        while (sent < count && sent < due && sent - done < 64) {
            send_request(WRITE);
            sent++;
        }
        int is_error = 0;
        if (step(1, &is_error)) {
            done++;
            if (is_error) fail("a write was refused");
        }
        if (now() - start > 120) fail("writes were not answered");
    }
    double written = now() - start;
    /* What has not come ten seconds later never comes. */
    while (readers && fewest_events(readers) < count && now() - start < written + 10) usleep(1000);
    double all = now() - start;
    printf("events_per_s %.0f\nreaders_behind_ms %.0f\nevents_lost %ld\nprocessor_percent %.1f\n", count / written,
           (all - written) * 1e3, lost_events(readers, count), 100 * (processor_time() - used) / all);
}

static void print_memory(void) {
    char path[64], line[256];
    long kilobytes;
    snprintf(path, sizeof path, "/proc/%d/status", child);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %ld", &kilobytes) == 1) printf("rss_anon_kB %ld\n", kilobytes);
    if (status) fclose(status);
}

/* The work after registration, which the arguments before UUID and COMMAND say. */
static void play_phone(char **arguments) {
    const char *form = arguments[1];
    if (!strcmp(form, "wait")) return wait_for_writes(atoi(arguments[2]), arguments[3]);
    if (!strcmp(form, "stream"))
        return stream(atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]), arguments[5]);
    if (!isdigit((unsigned char)*form)) return send_only(form, atoi(arguments[2]));
    int reads = atoi(form), milliseconds = atoi(arguments[2]);
    if (reads) {
        read_one_by_one(reads);
        read_in_flight(reads, 16);
    }
    if (milliseconds) count_for(milliseconds / 1e3);
    print_memory();
}

int main(int count, char **arguments) {
    int before = count < 2 ? 0 : !strcmp(arguments[1], "wait") ? 4 : !strcmp(arguments[1], "stream") ? 6 : 3;
    if (!before || count < before + 2) {
        fprintf(stderr, "usage: see the top of driver.c\n");
        return 64;
    }
    wanted = arguments[before];
    char **command = arguments + before + 1;
    DBusError error = DBUS_ERROR_INIT;
    bus = dbus_bus_get(DBUS_BUS_SYSTEM, &error);
    if (!bus || dbus_bus_request_name(bus, "org.bluez", DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) != 1) {
        fprintf(stderr, "driver: %s\n", error.message ? error.message : "org.bluez is taken");
        return 1;
    }
    dbus_bus_add_match(bus, "type='signal',interface='" PROPERTIES "'", NULL);
    dbus_connection_flush(bus);
    double start = now();
    child = fork();
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    while (!application_done || !advert_done) {
        step(100, NULL);
        if (waitpid(child, NULL, WNOHANG) == child) child = -1, fail("the application ended");
        if (now() - start > 60) fail("the application did not register");
    }
    dbus_connection_flush(bus);
    printf("registered_ms %.1f\ncharacteristics %d\n", (now() - start) * 1e3, characteristics);
    if (!characteristic) fail("the characteristic was not found");
    connect_phone();
    play_phone(arguments);
    fflush(stdout);
    kill(child, SIGTERM);
    /* It withdraws what it registered, and is answered meanwhile. */
    for (double limit = now() + 20; now() < limit;) {
        if (waitpid(child, NULL, WNOHANG) == child) return 0;
        step(10, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
