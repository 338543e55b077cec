/*
 * A closed-loop MLLP sender: C connections, each keeps up to W messages unanswered.
 * mllp-load PORT CONNECTIONS WINDOW SECONDS FILE ADDRESS...
 * FILE: for each message a native uint32 length and the message, without framing; message i goes to connection i % C.
 * Connection c is bound to ADDRESS[c % addresses]. Every answer must be MSA|AA and carry the control id of the oldest
 * unanswered message of its connection. Prints one line of JSON: `answered` has for each connection how many of its messages were answered AA.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct { char *bytes; uint32_t length; char id[64]; } Message;
typedef struct {
	int fd; size_t next, oldest; uint32_t written; char in[65536]; size_t have;
	double *sent; size_t unanswered, accepted;
} Connection;

static Message *messages; static size_t count;
static int connections, window_max; static Connection *all;
static double *latencies; static size_t answers, wrong, disordered;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6; }
static void die(const char *what) { perror(what); exit(1); }

static void load(const char *path) {
	FILE *file = fopen(path, "rb"); if (!file) die(path);
	size_t room = 1024; messages = malloc(room * sizeof *messages);
	uint32_t length;
	while (fread(&length, 4, 1, file) == 1) {
		if (count == room) messages = realloc(messages, (room *= 2) * sizeof *messages);
		Message *m = &messages[count++];
		m->length = length + 3; m->bytes = malloc(m->length + 1);
		m->bytes[0] = 0x0b;
		if (fread(m->bytes + 1, 1, length, file) != length) die("short file");
		m->bytes[length + 1] = 0x1c; m->bytes[length + 2] = 0x0d; m->bytes[length + 3] = 0;
		char *field = m->bytes;
		for (int i = 0; i < 9; i++) field = strchr(field, '|') + 1;
		size_t n = strchr(field, '|') - field; memcpy(m->id, field, n); m->id[n] = 0;
	}
	fclose(file);
}

static int send_more(Connection *c, double until) {
	while (c->unanswered < (size_t)window_max && c->next < count && now() < until) {
		Message *m = &messages[c->next];
		if (c->written == 0) c->sent[c->next / connections] = now();
		ssize_t n = send(c->fd, m->bytes + c->written, m->length - c->written, MSG_NOSIGNAL);
		if (n < 0) { if (errno == EAGAIN) return 0; die("send"); }
		c->written += n;
		if (c->written < m->length) return 0;
		c->written = 0; c->next += connections; c->unanswered++;
	}
	return c->next >= count;
}

static void take_answers(Connection *c) {
	for (;;) {
		ssize_t n = recv(c->fd, c->in + c->have, sizeof c->in - c->have, 0);
		if (n == 0) { fprintf(stderr, "the service closed a connection\n"); exit(1); }
		if (n < 0) { if (errno == EAGAIN) return; die("recv"); }
		c->have += n;
		char *end;
		while ((end = memchr(c->in, 0x1c, c->have)) && end + 1 < c->in + c->have) {
			*end = 0;
			char *msa = strstr(c->in, "\rMSA|");
			if (!msa || strncmp(msa + 5, "AA|", 3)) { if (wrong++ == 0) fprintf(stderr, "not AA: %s\n", msa ? msa + 1 : c->in + 1); }
			else {
				const char *id = messages[c->oldest].id; size_t length = strlen(id);
				if (strncmp(msa + 8, id, length) || (msa[8 + length] && msa[8 + length] != '\r' && msa[8 + length] != '|')) disordered++;
				else c->accepted++;
			}
			latencies[answers++] = now() - c->sent[c->oldest / connections];
			c->oldest += connections; c->unanswered--;
			size_t used = end + 2 - c->in;
			memmove(c->in, c->in + used, c->have - used); c->have -= used;
		}
	}
}

static int compare(const void *a, const void *b) { double d = *(const double *)a - *(const double *)b; return d < 0 ? -1 : d > 0; }

int main(int argc, char **argv) {
	if (argc < 7) { fprintf(stderr, "usage: mllp-load port connections window seconds file address...\n"); return 2; }
	connections = atoi(argv[2]); window_max = atoi(argv[3]); double seconds = atof(argv[4]);
	load(argv[5]);
	latencies = malloc((count + 1) * sizeof *latencies);
	all = calloc(connections, sizeof *all);
	int poll = epoll_create1(0);
	for (int i = 0; i < connections; i++) {
		Connection *c = &all[i];
		c->next = c->oldest = i; c->sent = calloc(count / connections + 2, sizeof *c->sent);
		c->fd = socket(AF_INET, SOCK_STREAM, 0); if (c->fd < 0) die("socket");
		struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
		inet_pton(AF_INET, argv[6 + i % (argc - 6)], &from.sin_addr); inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
		if (bind(c->fd, (void *)&from, sizeof from)) die("bind");
		if (connect(c->fd, (void *)&to, sizeof to)) die("connect");
		int one = 1; setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
		struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c };
		epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event);
	}
	double used = cpu(), start = now(), until = start + seconds;
	for (int i = 0; i < connections; i++) send_more(&all[i], until);
	struct epoll_event events[256];
	double last = start;
	for (;;) {
		size_t unanswered = 0; int left = 0;
		for (int i = 0; i < connections; i++) { unanswered += all[i].unanswered; left += all[i].next < count; }
		if (unanswered == 0 && (now() >= until || !left)) break;
		int n = epoll_wait(poll, events, 256, 100);
		for (int i = 0; i < n; i++) { Connection *c = events[i].data.ptr; take_answers(c); send_more(c, until); }
		last = now();
		if (last > until + 60) { fprintf(stderr, "no answers for a minute\n"); return 1; }
	}
	double took = last - start; used = cpu() - used;
	qsort(latencies, answers, sizeof *latencies, compare);
	printf("{\"answers\":%zu,\"seconds\":%.3f,\"perSecond\":%.1f,\"notAccepted\":%zu,\"disordered\":%zu,\"p50Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f,\"driverShare\":%.3f,\"answered\":[",
		answers, took, answers / took, wrong, disordered,
		answers ? latencies[answers / 2] * 1e3 : 0, answers ? latencies[(size_t)(answers * 0.99)] * 1e3 : 0, answers ? latencies[answers - 1] * 1e3 : 0, used / took);
	for (int i = 0; i < connections; i++) printf("%s%zu", i ? "," : "", all[i].accepted);
	printf("]}\n");
	return 0;
}
