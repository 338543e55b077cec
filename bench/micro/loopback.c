/*
 * loopback BYTES SECONDS: a client and a server thread exchange one message and a short answer over a TCP connection on 127.0.0.1, one at a
 * time (TCP_NODELAY). Prints round trips a second.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static size_t bytes; static char buffer[1 << 20], other[1 << 20];

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void die(const char *what) { perror(what); exit(1); }

static int receive(int fd, char *into, size_t length) {
	for (size_t have = 0; have < length;) {
		ssize_t n = recv(fd, into + have, length - have, 0);
		if (n <= 0) return 0;
		have += n;
	}
	return 1;
}

static void *answer(void *listener) {
	int one = 1, fd = accept(*(int *)listener, NULL, NULL); if (fd < 0) die("accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	while (receive(fd, other, bytes)) if (send(fd, other, 100, 0) != 100) die("send");
	close(fd);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc < 3) { fprintf(stderr, "usage: loopback bytes seconds\n"); return 2; }
	bytes = atoi(argv[1]); double seconds = atof(argv[2]);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = { .sin_family = AF_INET }; socklen_t length = sizeof at;
	inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
	if (bind(listener, (void *)&at, sizeof at) || listen(listener, 1) || getsockname(listener, (void *)&at, &length)) die("listen");
	pthread_t thread; pthread_create(&thread, NULL, answer, &listener);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (void *)&at, sizeof at)) die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	double start = now(); size_t done = 0;
	for (; now() - start < seconds; done++) {
		if (send(fd, buffer, bytes, 0) != (ssize_t)bytes) die("send");
		if (!receive(fd, buffer, 100)) die("recv");
	}
	printf("%.1f\n", done / (now() - start));
	close(fd); pthread_join(thread, NULL);
	return 0;
}
