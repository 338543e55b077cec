/*
 * A closed-loop DICOM storage SCU: A associations of one thread each, one C-STORE under way on each (PS3.7 §9.1.1).
 * store-load PORT CALLED-AE ASSOCIATIONS PAUSE FILE
 * FILE: for each instance a native uint32 length and its SOP Instance UID, a native uint32 length and its data set in
 * Explicit VR Little Endian. Instance i goes over association i % A. Every status must be 0x0000. With PAUSE > 0 one more
 * association sends a C-ECHO every PAUSE milliseconds meanwhile. TCP_NODELAY is set. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef struct { char *uid, *data; uint32_t uid_length, length; } Instance;
typedef struct { int fd; uint32_t peer_max; unsigned char in[65536]; } Association;

static Instance *instances; static size_t count;
static int port, associations, pause_ms; static const char *called;
static double *latencies, *echoes; static size_t echo_count, echo_room;
static size_t refused; static volatile int done;
static pthread_barrier_t together;

static const char *ct = "1.2.840.10008.5.1.4.1.1.2", *verification = "1.2.840.10008.1.1";
static const char *explicit_little = "1.2.840.10008.1.2.1", *implicit_little = "1.2.840.10008.1.2";

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6; }
static void die(const char *what) { perror(what); exit(1); }

static void load(const char *path) {
	FILE *file = fopen(path, "rb"); if (!file) die(path);
	size_t room = 1024; instances = malloc(room * sizeof *instances);
	uint32_t length;
	while (fread(&length, 4, 1, file) == 1) {
		if (count == room) instances = realloc(instances, (room *= 2) * sizeof *instances);
		Instance *i = &instances[count++];
		i->uid_length = length; i->uid = malloc(length);
		if (fread(i->uid, 1, length, file) != length || fread(&i->length, 4, 1, file) != 1) die("short file");
		i->data = malloc(i->length);
		if (fread(i->data, 1, i->length, file) != i->length) die("short file");
	}
	fclose(file);
}

static void send_all(int fd, struct iovec *parts, int n) {
	while (n > 0) {
		struct msghdr message = { .msg_iov = parts, .msg_iovlen = n };
		ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL); if (sent < 0) die("send");
		while (n > 0 && (size_t)sent >= parts->iov_len) { sent -= parts->iov_len; parts++; n--; }
		if (n > 0) { parts->iov_base = (char *)parts->iov_base + sent; parts->iov_len -= sent; }
	}
}

static void receive(int fd, unsigned char *into, size_t length) {
	while (length > 0) {
		ssize_t n = recv(fd, into, length, 0);
		if (n == 0) { fprintf(stderr, "the peer closed an association\n"); exit(1); }
		if (n < 0) die("recv");
		into += n; length -= n;
	}
}

static uint32_t big(const unsigned char *at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
static void put_big(unsigned char *at, uint32_t value) { at[0] = value >> 24; at[1] = value >> 16; at[2] = value >> 8; at[3] = value; }

/* One PDU; its type, its body in c->in. */
static int next_pdu(Association *c, uint32_t *length) {
	unsigned char head[6];
	receive(c->fd, head, 6);
	*length = big(head + 2);
	if (*length > sizeof c->in) { fprintf(stderr, "a PDU of %u bytes\n", *length); exit(1); }
	receive(c->fd, c->in, *length);
	return head[0];
}

static size_t item(unsigned char *at, int type, const void *bytes, size_t length) {
	at[0] = type; at[1] = 0; at[2] = length >> 8; at[3] = length; memcpy(at + 4, bytes, length);
	return 4 + length;
}

static size_t context(unsigned char *at, int id, const char *abstract, const char *transfer) {
	unsigned char body[256] = { id }; size_t n = 4;
	n += item(body + n, 0x30, abstract, strlen(abstract));
	n += item(body + n, 0x40, transfer, strlen(transfer));
	return item(at, 0x20, body, n);
}

static void associate(Association *c) {
	c->fd = socket(AF_INET, SOCK_STREAM, 0); if (c->fd < 0) die("socket");
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	if (connect(c->fd, (void *)&to, sizeof to)) die("connect");
	int one = 1; setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	unsigned char pdu[1024] = { 1 }, user[64], length[4]; size_t n = 6;
	pdu[n + 1] = 1; n += 4;
	memset(pdu + n, ' ', 32); memcpy(pdu + n, called, strlen(called)); memcpy(pdu + n + 16, "BENCH", 5); n += 32;
	memset(pdu + n, 0, 32); n += 32;
	n += item(pdu + n, 0x10, "1.2.840.10008.3.1.1.1", 21);
	n += context(pdu + n, 1, ct, explicit_little);
	n += context(pdu + n, 3, verification, implicit_little);
	put_big(length, 16384);
	size_t u = item(user, 0x51, length, 4);
	u += item(user + u, 0x52, "1.2.3.4", 7);
	n += item(pdu + n, 0x50, user, u);
	put_big(pdu + 2, n - 6);
	struct iovec whole = { pdu, n }; send_all(c->fd, &whole, 1);
	uint32_t have;
	int type = next_pdu(c, &have);
	if (type != 2) { fprintf(stderr, "PDU %d instead of A-ASSOCIATE-AC\n", type); exit(1); }
	c->peer_max = 16384;
	for (size_t at = 68; at + 4 <= have;) {
		size_t size = c->in[at + 2] << 8 | c->in[at + 3];
		if (c->in[at] == 0x50) { at += 4; continue; }
		if (c->in[at] == 0x51) c->peer_max = big(c->in + at + 4);
		if (c->in[at] == 0x21 && c->in[at + 6] != 0) { fprintf(stderr, "presentation context %d was not accepted\n", c->in[at + 4]); exit(1); }
		at += 4 + size;
	}
	if (c->peer_max == 0 || c->peer_max > 1 << 20) c->peer_max = 1 << 20;
}

static size_t element(unsigned char *at, int number, const void *bytes, uint32_t length) {
	uint32_t padded = length + (length & 1);
	at[0] = at[1] = 0; at[2] = number; at[3] = number >> 8; memcpy(at + 4, &padded, 4);
	memcpy(at + 8, bytes, length); if (padded > length) at[8 + length] = 0;
	return 8 + padded;
}

static size_t command(unsigned char *at, const char *class, uint16_t field, uint16_t id, const Instance *instance) {
	size_t n = 12; uint16_t priority = 0, type = instance ? 0 : 0x0101;
	n += element(at + n, 0x0002, class, strlen(class));
	n += element(at + n, 0x0100, &field, 2);
	n += element(at + n, 0x0110, &id, 2);
	if (instance) n += element(at + n, 0x0700, &priority, 2);
	n += element(at + n, 0x0800, &type, 2);
	if (instance) n += element(at + n, 0x1000, instance->uid, instance->uid_length);
	uint32_t group = n - 12;
	element(at, 0x0000, &group, 4);
	return n;
}

/* A message as P-DATA-TF PDUs as long as the peer takes. */
static void send_message(Association *c, int id, unsigned char *set, size_t length, char *data, size_t data_length) {
	unsigned char heads[512][12]; struct iovec parts[1024]; int n = 0, heads_used = 0;
	size_t room = c->peer_max - 6;
	for (int part = 0; part < (data ? 2 : 1); part++) {
		char *bytes = part ? data : (char *)set; size_t size = part ? data_length : length;
		for (size_t at = 0; at < size; at += room) {
			size_t fragment = size - at < room ? size - at : room;
			unsigned char *head = heads[heads_used++];
			head[0] = 4; head[1] = 0; put_big(head + 2, fragment + 6); put_big(head + 6, fragment + 2);
			head[10] = id; head[11] = (part ? 0 : 1) | (at + fragment == size ? 2 : 0);
			parts[n++] = (struct iovec){ head, 12 }; parts[n++] = (struct iovec){ bytes + at, fragment };
			if (n == 1024 || heads_used == 512) { send_all(c->fd, parts, n); n = heads_used = 0; }
		}
	}
	if (n > 0) send_all(c->fd, parts, n);
}

static int status_of(Association *c) {
	uint32_t length;
	int type = next_pdu(c, &length);
	if (type != 4) { fprintf(stderr, "PDU %d instead of a response\n", type); exit(1); }
	for (size_t at = 6; at + 8 <= length;) {
		uint32_t size; memcpy(&size, c->in + at + 4, 4);
		if (c->in[at + 2] == 0 && c->in[at + 3] == 9) return c->in[at + 8] | c->in[at + 9] << 8;
		at += 8 + size;
	}
	fprintf(stderr, "a response without status\n"); exit(1);
}

static void release(Association *c) {
	unsigned char pdu[10] = { 5, 0, 0, 0, 0, 4 }; struct iovec whole = { pdu, 10 }; uint32_t length;
	send_all(c->fd, &whole, 1); next_pdu(c, &length); close(c->fd);
}

static void *store(void *number) {
	Association *c = malloc(sizeof *c); associate(c);
	unsigned char set[512];
	pthread_barrier_wait(&together);
	for (size_t i = (size_t)number; i < count; i += associations) {
		double from = now();
		send_message(c, 1, set, command(set, ct, 0x0001, 1 + i % 60000, &instances[i]), instances[i].data, instances[i].length);
		int status = status_of(c);
		latencies[i] = now() - from;
		if (status != 0 && __sync_fetch_and_add(&refused, 1) == 0) fprintf(stderr, "status 0x%04x\n", status);
	}
	release(c);
	return NULL;
}

static void *echo(void *nothing) {
	(void)nothing;
	Association *c = malloc(sizeof *c); associate(c);
	unsigned char set[512];
	pthread_barrier_wait(&together);
	while (!done && echo_count < echo_room) {
		double from = now();
		send_message(c, 3, set, command(set, verification, 0x0030, 1 + echo_count % 60000, NULL), NULL, 0);
		status_of(c);
		echoes[echo_count++] = now() - from;
		usleep(pause_ms * 1000);
	}
	release(c);
	return NULL;
}

static int compare(const void *a, const void *b) { double d = *(const double *)a - *(const double *)b; return d < 0 ? -1 : d > 0; }
static double at(const double *sorted, size_t n, double share) { return n ? sorted[(size_t)((n - 1) * share)] * 1e3 : 0; }

int main(int argc, char **argv) {
	if (argc < 6) { fprintf(stderr, "usage: store-load port called-ae associations pause file\n"); return 2; }
	port = atoi(argv[1]); called = argv[2]; associations = atoi(argv[3]); pause_ms = atoi(argv[4]);
	load(argv[5]);
	latencies = calloc(count + 1, sizeof *latencies);
	echo_room = 1 << 20; echoes = calloc(echo_room, sizeof *echoes);
	pthread_barrier_init(&together, NULL, associations + 1 + (pause_ms > 0));
	pthread_t threads[1024], echoing;
	for (size_t i = 0; i < (size_t)associations; i++) pthread_create(&threads[i], NULL, store, (void *)i);
	if (pause_ms > 0) pthread_create(&echoing, NULL, echo, NULL);
	pthread_barrier_wait(&together);
	double used = cpu(), start = now();
	for (int i = 0; i < associations; i++) pthread_join(threads[i], NULL);
	double took = now() - start; used = cpu() - used;
	done = 1;
	if (pause_ms > 0) pthread_join(echoing, NULL);
	qsort(latencies, count, sizeof *latencies, compare); qsort(echoes, echo_count, sizeof *echoes, compare);
	printf("{\"instances\":%zu,\"perSecond\":%.1f,\"refused\":%zu,\"p50Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f,\"echoes\":%zu,\"echoP99Ms\":%.3f,\"driverShare\":%.3f}\n",
		count, count / took, refused, at(latencies, count, 0.5), at(latencies, count, 0.99), at(latencies, count, 1), echo_count, at(echoes, echo_count, 0.99), used / took);
	return 0;
}
