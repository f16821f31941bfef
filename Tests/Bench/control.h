/* Clients of the control API on a Unix socket: one that waits for an answer, and readers of the events. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The program's: ends it with an error. */
void fail(const char *text);

static inline int connect_control(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address))
        fail("the control API does not listen");
    return descriptor;
}

static inline void send_text(int descriptor, const char *text) {
    if (write(descriptor, text, strlen(text)) != (ssize_t)strlen(text)) fail("the control API takes no request");
}

/* The text of a response; zero before its first byte. */
struct answer {
    char text[4096];
    size_t size;
};

/* Reads what has come of a response; returns whether it is whole. */
static inline int take_answer(int descriptor, struct answer *answer) {
    ssize_t count = read(descriptor, answer->text + answer->size, sizeof answer->text - 1 - answer->size);
    if (count <= 0) fail("the control API closed the connection");
    answer->size += count;
    const char *body = strstr(answer->text, "\r\n\r\n"), *length = strcasestr(answer->text, "\r\ncontent-length: ");
    return body && length && answer->size >= (size_t)(body + 4 - answer->text) + atol(length + 18);
}

enum { READERS = 64 };
static struct reader {
    pthread_t thread;
    FILE *events;
    atomic_long writes, gaps;
} all_readers[READERS];

/* Counts the writes among the events, and the numbers that are missing between events. */
static inline void *read_events(void *argument) {
    struct reader *reader = argument;
    char *line = NULL;
    size_t room = 0;
    long last = 0;
    while (getline(&line, &room, reader->events) > 0) {
        if (!strncmp(line, "id: ", 4)) {
            long seq = atol(strrchr(line, '-') + 1);
            if (last && seq != last + 1) reader->gaps++;
            last = seq;
        } else if (!strcmp(line, "event: write\n")) {
            reader->writes++;
        }
    }
    return NULL;
}

/* Returns when each has the first line of its response. */
static inline void start_readers(int count, const char *path) {
    if (count > READERS) fail("there are too many readers");
    for (struct reader *reader = all_readers; reader < all_readers + count; reader++) {
        char line[256];
        int descriptor = connect_control(path);
        /* HTTP/1.0 has no chunks, which may divide a line. */
        send_text(descriptor, "GET /v1/events HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n");
        reader->events = fdopen(descriptor, "r");
        if (!fgets(line, sizeof line, reader->events) || !strstr(line, " 200 ")) fail("the events are not to be had");
        pthread_create(&reader->thread, NULL, read_events, reader);
    }
}

static inline long fewest_events(int readers) {
    long fewest = all_readers[0].writes;
    for (int i = 1; i < readers; i++)
        if (all_readers[i].writes < fewest) fewest = all_readers[i].writes;
    return fewest;
}

/* Events that are missing at any reader, and gaps between numbers. */
static inline long lost_events(int readers, int count) {
    long lost = 0;
    for (int i = 0; i < readers; i++) lost += labs(count - all_readers[i].writes) + all_readers[i].gaps;
    return lost;
}
